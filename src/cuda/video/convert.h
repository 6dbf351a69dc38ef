// SPDX-License-Identifier: Apache-2.0
// The kernel that converts a decoded frame to RGB. Compiled as text.
#pragma once
#include "cuda/video/frame_table.h"

namespace penstock::video_gpu {

__device__ inline void put(const FrameTable& t, int32_t x, int32_t y, const int32_t* rgb) {
  const int64_t at = (static_cast<int64_t>(y) * t.width + x) * 3;
  for (int c = 0; c < 3; ++c) {
    if (t.floats) static_cast<float*>(t.out)[at + c] = static_cast<float>(rgb[c]) * t.scale;
    else static_cast<uint8_t*>(t.out)[at + c] = static_cast<uint8_t>(rgb[c]);
  }
}

__device__ inline void convert_bytes(const FrameTable& t, int32_t first, int32_t y) {
  const uint8_t* chroma = t.chroma + y / 2 * t.pitch;
  for (int32_t row = y; row < y + 2; ++row) {
    const uint8_t* luma = t.luma + row * t.pitch;
    int32_t rgb[kPixelsAcross * 3];
    for (int k = 0; k < kPixelsAcross; ++k) {
      const int32_t x = first + k < t.width ? first + k : t.width - 1;
      yuv8_to_rgb(t.matrix, luma[x], chroma[x / 2 * 2], chroma[x / 2 * 2 + 1], rgb + 3 * k);
    }
    uint8_t* to = static_cast<uint8_t*>(t.out) + (static_cast<int64_t>(row) * t.width + first) * 3;
    if (!t.floats && first + kPixelsAcross <= t.width && reinterpret_cast<uintptr_t>(to) % 4 == 0) {
      for (int k = 0; k < 12; k += 4)
        reinterpret_cast<uint32_t*>(to)[k / 4] = static_cast<uint32_t>(rgb[k] | rgb[k + 1] << 8 | rgb[k + 2] << 16) |
                                                 static_cast<uint32_t>(rgb[k + 3]) << 24;
      continue;
    }
    for (int k = 0; k < kPixelsAcross && first + k < t.width; ++k) put(t, first + k, row, rgb + 3 * k);
  }
}

__device__ inline void convert_deep(const FrameTable& t, int32_t first, int32_t y) {
  const int32_t rows = t.height / 2, down = 16 - t.bits, up = 15 - t.bits;
  for (int32_t row = y; row < y + 2; ++row) {
    const ChromaTaps taps = chroma_taps(row);
    const uint16_t* luma = reinterpret_cast<const uint16_t*>(t.luma + row * t.pitch);
    for (int32_t x = first; x < first + kPixelsAcross && x < t.width; ++x) {
      int32_t u = 0, v = 0;
      for (int k = 0; k < 4; ++k) {
        const int32_t wanted = taps.first + k, from = wanted < 0 ? 0 : wanted < rows ? wanted : rows - 1;
        const uint16_t* chroma = reinterpret_cast<const uint16_t*>(t.chroma + from * t.pitch) + x / 2 * 2;
        u += taps.weight[k] * ((chroma[0] >> down) << up), v += taps.weight[k] * ((chroma[1] >> down) << up);
      }
      int32_t rgb[3];
      deep_to_rgb(t.matrix, luma_of_deep(luma[x] >> down, t.bits), chroma_of_deep(u), chroma_of_deep(v), rgb);
      put(t, x, row, rgb);
    }
  }
}

// A thread makes kPixelsAcross x 2 pixels.
__device__ inline void convert_frame(const FrameTable& t) {
  const int32_t across = (t.width + kPixelsAcross - 1) / kPixelsAcross;
  const int64_t all = static_cast<int64_t>(across) * (t.height / 2);
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < all;
       i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    const int32_t y = static_cast<int32_t>(i / across) * 2, x = static_cast<int32_t>(i % across) * kPixelsAcross;
    if (t.bits == 8) convert_bytes(t, x, y);
    else convert_deep(t, x, y);
  }
}

}  // namespace penstock::video_gpu

#ifdef PENSTOCK_EMULATED
extern "C" __global__ void penstock_video_frame(const char* table) {
  penstock::video_gpu::convert_frame(*reinterpret_cast<const penstock::video_gpu::FrameTable*>(table));
}
#else
struct alignas(16) PenstockFrameTable {
  char bytes[4080];
};
extern "C" __global__ void __launch_bounds__(256)
    penstock_video_frame(const __grid_constant__ PenstockFrameTable table) {
  penstock::video_gpu::convert_frame(*reinterpret_cast<const penstock::video_gpu::FrameTable*>(table.bytes));
}
#endif
