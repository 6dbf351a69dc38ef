// SPDX-License-Identifier: Apache-2.0
// How messages are written in a plug-in. Penstock's own sources use the library fmt for that; in the installed headers
// these names stand in its place, so that a plug-in needs no other library. The forms in braces are the same.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace penstock::message_text {

using Value = std::variant<bool, char, int64_t, uint64_t, double, std::string_view>;
// A text whose braces do not fit to the values is returned as it is.
std::string format_values(std::string_view text, std::initializer_list<Value> values);

template <class... A> using format_string = std::string_view;

template <class T> Value value_of(const T& v) {
  if constexpr (std::same_as<T, bool> || std::same_as<T, char>) return v;
  else if constexpr (std::is_floating_point_v<T>) return static_cast<double>(v);
  else if constexpr (std::signed_integral<T>) return static_cast<int64_t>(v);
  else if constexpr (std::unsigned_integral<T>) return static_cast<uint64_t>(v);
  else return std::string_view(v);
}

template <class... A> std::string format(std::string_view text, const A&... values) {
  return format_values(text, {value_of(values)...});
}

}  // namespace penstock::message_text
