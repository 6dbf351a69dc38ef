// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.h"

namespace penstock {

nlohmann::json parse_json(const std::string& text) {
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

void check_form(const char* what, const nlohmann::json& form, int own) {
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
