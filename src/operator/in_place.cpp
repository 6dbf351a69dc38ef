// SPDX-License-Identifier: Apache-2.0
#include "operator/in_place.h"

#include <set>

namespace penstock {

static std::set<std::string>& known() {
  static std::set<std::string> operators;
  return operators;
}

bool works_in_place(const std::string& op) { return known().count(op) > 0; }
WorksInPlace::WorksInPlace(const char* op) { known().insert(op); }

}  // namespace penstock
