// SPDX-License-Identifier: Apache-2.0
#include "operator/pixel_source.h"

#include <map>

namespace penstock {

static std::map<std::string, PixelSourceOf, std::less<>>& sources() {
  static auto* all = new std::map<std::string, PixelSourceOf, std::less<>>;
  return *all;
}

bool add_pixel_source(const char* op, PixelSourceOf of) { return sources().emplace(op, of).second; }

const PixelSource* pixel_source(const BoundOp& op) {
  if (op.info->family != Family::whole) return nullptr;
  const auto found = sources().find(op.info->name);
  return found == sources().end() ? nullptr : found->second(op);
}

}  // namespace penstock
