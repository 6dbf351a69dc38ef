// SPDX-License-Identifier: Apache-2.0
// JSON from outside: saved pipelines, checkpoints, features.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/error.h"

namespace penstock {

// `discarded` if the text is not JSON, or nests so deeply that copying or printing it would exhaust the stack.
inline nlohmann::json parse_json(const std::string& text) {
  constexpr int kDeepest = 64;
  struct TooDeep {};
  try {
    return nlohmann::json::parse(
        text,
        [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
          if (depth > kDeepest) throw TooDeep{};
          return true;
        },
        false);
  } catch (const TooDeep&) {
    return nlohmann::json(nlohmann::json::value_t::discarded);
  }
}

// A whole number in [least, most]. nlohmann::json alone would silently convert 1.5, true and 2^40 to an int.
template <class T> T whole_number(const nlohmann::json& j, T least, T most, const char* what) {
  const bool fits = j.is_number_unsigned() ? std::cmp_less_equal(j.get<uint64_t>(), most) &&
                                                 std::cmp_greater_equal(j.get<uint64_t>(), least)
                                           : j.is_number_integer() && std::cmp_less_equal(j.get<int64_t>(), most) &&
                                                 std::cmp_greater_equal(j.get<int64_t>(), least);
  if (!fits) bad_argument("{} must be a whole number from {} to {}", what, least, most);
  return j.get<T>();
}

// Checks whether this version of Penstock can read a saved pipeline or checkpoint.
inline void check_form(const char* what, const nlohmann::json& form, int own) {
  if (!form.is_number_integer()) bad_argument("this is not a {} saved by this version of Penstock", what);
  if (form < own)
    bad_argument(
        "this {} was saved by an older version of Penstock, which drew other random numbers (format {}, but this "
        "version reads {}): save it again with this version",
        what, form.dump(), own);
  if (form > own)
    bad_argument("this {} was saved by a newer version of Penstock (format {}, but this version reads {})", what,
                 form.dump(), own);
}

}  // namespace penstock
