// SPDX-License-Identifier: Apache-2.0
// The steps that equalize bytes by their counts.
#pragma once
#include "families/table/kernels/counts.h"
#include "families/table/lookup.h"
#include "operator/image_work.h"

namespace penstock::table {

constexpr int64_t kMostChannels = kBlockBytes / 1024;  // whose counts a block has the memory for

struct Counting {
  const uint8_t* in;
  uint8_t* out;
  int32_t* counts;  // of each plane and slice
  uint8_t* tables;  // of each plane
  int64_t positions, slices;
  bool pillow;  // the tables are Pillow's, else OpenCV's
};

// On the host: counts into the first slice of each plane, of `slices`; elements by the tables of the planes.
void count_on_host(const uint8_t* in, const ImageRule::Extents& e, int64_t positions, int64_t slices, int32_t* to);
void equalize_on_host(const uint8_t* in, uint8_t* out, const ImageRule::Extents& e, int64_t positions,
                      const uint8_t* tables);

// `count`, `make` and `apply` do the same on the host, for all images at once.
void equalize(const Counting& c, const ImageRule::Extents& e, SampleWork& to, std::function<void()> count,
              std::function<void()> make, std::function<void()> apply);

}  // namespace penstock::table
