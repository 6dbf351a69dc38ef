// SPDX-License-Identifier: Apache-2.0
// JSON from outside: saved pipelines, checkpoints, features.
#pragma once
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json.h"

namespace penstock {

// `discarded` if the text is not JSON, or nests so deeply that copying or printing it would exhaust the stack.
nlohmann::json parse_json(const std::string& text);

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
void check_form(const char* what, const nlohmann::json& form, int own);

}  // namespace penstock
