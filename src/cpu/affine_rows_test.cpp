// SPDX-License-Identifier: Apache-2.0
#include "cpu/affine_rows.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "operator/placement.h"

namespace penstock {
namespace {

// An image whose end is the end of mapped memory: a read past it is a fault.
TEST(AffineRows, ReadsNothingBehindTheImage) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* mapped = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* memory = static_cast<char*>(mapped);
  ASSERT_EQ(mprotect(memory, page, PROT_NONE), 0);
  ASSERT_EQ(mprotect(memory + 2 * page, page, PROT_NONE), 0);
  std::vector<float> room(5 * 96);
  for (const Target target : {Target::scalar, Target::avx2, Target::avx512}) {
    if (target > best_target()) continue;
    for (const DType dtype : {DType::uint8, DType::float32, DType::uint16})
      for (const FilterKind kind : {FilterKind::linear, FilterKind::nearest})
        for (const bool fills : {false, true})
          for (int channels = 1; channels <= 5; ++channels)
            for (const int64_t width : {1, 2, 5, 11}) {
              const int64_t height = 3, bytes = width * height * channels * static_cast<int64_t>(size_of(dtype));
              AffineSource s;
              s.data = memory + 2 * page - bytes;
              std::memset(memory + 2 * page - bytes, 1, static_cast<size_t>(bytes));
              s.dtype = dtype, s.height = height, s.width = width, s.channels = channels;
              s.stride_c = 1, s.stride_x = channels, s.stride_y = width * channels;
              AffineMap map;
              map.kind = kind, map.border_fill = fills;
              map.m[0] = 0.3, map.m[1] = 0.2, map.m[2] = -1.5, map.m[4] = 0.7, map.m[5] = -1;
              const std::vector<float> fill{3.0f};
              const AffineRows rows(target, map, fill, Lane::f32);
              void* planes[5];
              for (int c = 0; c < 5; ++c) planes[c] = room.data() + c * 96;
              for (int64_t y = 0; y < 8; ++y) rows.row(s, 0, y, 0, 77, planes);
            }
  }
  munmap(memory, 3 * page);
}

}  // namespace
}  // namespace penstock
