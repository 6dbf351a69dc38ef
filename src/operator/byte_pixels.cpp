// SPDX-License-Identifier: Apache-2.0
#include "operator/byte_pixels.h"

#include <map>

namespace penstock {

static std::map<std::string, BytePixels, std::less<>>& loops() {
  static auto* all = new std::map<std::string, BytePixels, std::less<>>;
  return *all;
}

bool add_byte_pixels(const char* op, BytePixels loop) { return loops().emplace(op, loop).second; }

BytePixels byte_pixels(const BoundOp& op) {
  const auto found = loops().find(op.info->name);
  return found == loops().end() ? nullptr : found->second;
}

}  // namespace penstock
