// SPDX-License-Identifier: Apache-2.0
// The kernels as ordinary C++, with fibers for threads, give the twin's bytes, aligned or not.
#include "emulated_gpu/launch_rows.h"
//
#include <gtest/gtest.h>

#include <random>

#include "families/blocks/twin.h"

namespace penstock::blocks {
namespace {

TEST(BlocksKernels, EqualTheTwin) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 40; ++trial) {
    const int32_t height = 1 + static_cast<int32_t>(random() % 40);
    const int32_t width =
        trial % 4 ? 1 + static_cast<int32_t>(random() % 90) : 8 * (1 + static_cast<int32_t>(random() % 12));
    const int64_t frames = 1 + trial % 2, bytes = int64_t{3} * height * width;
    JpegRow row{nullptr, nullptr, nullptr, height, width, (width + 15) / 16, (height + 15) / 16, {}};
    for (uint8_t& s : row.steps) s = static_cast<uint8_t>(1 + random() % (trial % 3 ? 255 : 3));
    const size_t shift = trial % 4 ? random() % 4 : 0;
    const auto all = static_cast<size_t>(frames * bytes);
    std::vector<uint8_t> in(shift + all + 3), out(shift + all + 1), wanted(all);  // words are read whole
    for (uint8_t& v : in) v = trial % 5 ? static_cast<uint8_t>(random()) : random() % 2 ? 255 : 0;
    out.back() = 7;
    const int64_t groups = int64_t{row.columns} * row.rows, line = (width + 7) / 8;
    std::vector<uint64_t> planes(static_cast<size_t>(frames * groups * 48)), plain(static_cast<size_t>(groups * 48));
    row.in = in.data() + shift, row.out = out.data() + shift, row.planes = reinterpret_cast<uint8_t*>(planes.data());
    whole::launch<JpegRow>({row}, {frames * groups}, 2 * kJpegGroups, jpeg_blocks);
    whole::launch<JpegRow>({row}, {frames * height * line}, kThreads, jpeg_colors);
    for (int64_t f = 0; f < frames; ++f) {
      auto* const own = reinterpret_cast<uint8_t*>(plain.data());
      twin_blocks(row.in + f * bytes, row, own);
      ASSERT_TRUE(std::equal(plain.begin(), plain.end(), planes.begin() + f * groups * 48)) << height << " x " << width;
      twin_colors(own, row, wanted.data() + f * bytes);
    }
    ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), out.begin() + static_cast<int64_t>(shift)))
        << height << " x " << width;
    ASSERT_EQ(out.back(), 7);
  }
}

}  // namespace
}  // namespace penstock::blocks
