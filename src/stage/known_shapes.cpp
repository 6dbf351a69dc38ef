// SPDX-License-Identifier: Apache-2.0
#include "stage/known_shapes.h"

namespace penstock {

uint64_t hash_of(std::span<const Batch> inputs, int sample, const WindowSizes& windows) {
  uint64_t h = 0xcbf29ce484222325u;
  for (const Batch& b : inputs)
    for (int64_t e : b.shape(sample)) h = (h ^ static_cast<uint64_t>(e)) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
  for (int size : windows) h = (h ^ static_cast<uint64_t>(size)) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
  return h;
}

bool ShapeKey::is_of(std::span<const Batch> inputs, int sample, const WindowSizes& sizes) const {
  if (!std::equal(windows.begin(), windows.end(), sizes.begin(), sizes.end())) return false;
  for (size_t k = 0; k < inputs.size(); ++k)
    if (!(in[static_cast<int>(k)] == inputs[k].shape(sample))) return false;
  return true;
}

}  // namespace penstock
