// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/jpeg_rows.h"

#include <algorithm>
#include <vector>

#include "base/intrinsics.h"
#include "batch/copy_boxes.h"

namespace penstock {
namespace {

// Pixels of three bytes to planes that are `plane` bytes apart, and back.
void split_row(const uint8_t* in, uint8_t* out, int64_t n, int64_t plane, Target target) {
  const CopyDim dims[2] = {{n, 3, 1}, {3, 1, plane}};
  copy_boxes(in, out, dims, 1, target);
}
void join_row(const uint8_t* in, uint8_t* out, int64_t n, int64_t plane, Target target) {
  const CopyDim dims[2] = {{n, 1, 3}, {3, plane, 1}};
  copy_boxes(in, out, dims, 1, target);
}

#define PENSTOCK_LOOPS jpeg
#define PENSTOCK_LOOPS_TEXT "ops/shared/jpeg_rows.inc.h"
#define PENSTOCK_LOOPS_UP_TO_AVX2
#include "base/foreach_target.h"

}  // namespace

void jpeg_blocks(Target target, const blocks::JpegRow& r, int64_t frames) {
  const size_t columns = static_cast<size_t>(r.columns) * 16;
  std::vector<uint8_t> pixels(columns * 3);
  std::vector<int32_t> samples(columns * (16 + 2 * 2 + 8));
  for (int64_t frame = 0; frame < frames; ++frame) {
    const uint8_t* const in = r.in + frame * r.height * r.width * 3;
    uint8_t* const planes = r.planes + frame * r.rows * r.columns * 384;
    for (int64_t row = 0; row < r.rows; ++row)
      PENSTOCK_FOR_TARGET(target, jpeg, row_of_groups(in, row, r, target, pixels.data(), samples.data(), planes));
  }
}

void jpeg_colors(Target target, const blocks::JpegRow& r, int64_t frames) {
  const int64_t width = r.columns * int64_t{16};
  std::vector<uint8_t> colors(static_cast<size_t>(width) * 3);
  std::vector<int32_t> chroma(static_cast<size_t>(width) * 3 + 2);
  for (int64_t frame = 0; frame < frames; ++frame)
    for (int64_t y = 0; y < r.height; ++y) {
      const uint8_t* planes = r.planes + frame * r.rows * r.columns * 384;
      PENSTOCK_FOR_TARGET(target, jpeg, color_row(planes, y, r, chroma.data(), colors.data()));
      join_row(colors.data(), r.out + (frame * r.height + y) * r.width * 3, r.width, width, target);
    }
}

}  // namespace penstock
