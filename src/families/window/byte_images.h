// SPDX-License-Identifier: Apache-2.0
// Which images the kernels of small windows over bytes take (kernels/byte_columns.h).
#pragma once
#include "families/window/geometry.h"
#include "families/window/kernels/byte_columns.h"
#include "operator/kernel_step.h"

namespace penstock::window {

// Rows of `length` bytes at both addresses begin at multiples of n bytes.
inline bool rows_at_multiples(uint64_t n, const void* in, const void* out, int64_t length) {
  return length % static_cast<int64_t>(n) == 0 &&
         (reinterpret_cast<uintptr_t>(in) | reinterpret_cast<uintptr_t>(out)) % n == 0;
}

constexpr int64_t kLeastAnywhere = 256;  // bytes of a row: a warp takes 512

// The rows of such a kernel; no work where it does not take the image.
struct ByteImages {
  ByteRows rows{};
  int64_t work = 0;
  int aligned = kAtWords;
  size_t shared_bytes = 0;
};

// Elements of one byte. `in` and `out`: addresses on the GPU.
inline ByteImages byte_images(const void* in, const void* out, const ImageRule::Extents& image, int border) {
  constexpr int64_t kMost = int64_t{1} << 30;
  ByteImages b;
  if (image.inner < 1 || image.inner > 4 || image.width > kMost || image.height > kMost) return b;
  const int64_t length = image.width * image.inner;
  const bool anywhere = !rows_at_multiples(4, in, out, length);
  if (length < (anywhere ? kLeastAnywhere : kLeastBytes) || length > kMost) return b;
  const int64_t unit = anywhere ? 32 : 1, vectors = (length + kVectorBytes * unit - 1) / (kVectorBytes * unit) * unit;
  const int64_t strips = (image.height + kStripRows - 1) / kStripRows;
  if (vectors * strips > kMost || image.outer > kMost / (vectors * strips)) return b;
  b.rows = {in,     const_cast<void*>(out),        image.height,
            length, static_cast<int32_t>(vectors), static_cast<int32_t>(strips),
            border};
  b.work = vectors * strips * image.outer;
  b.aligned = anywhere ? kAnywhere : rows_at_multiples(kVectorBytes, in, out, length) ? kAtVectors : kAtWords;
  if (anywhere) b.shared_bytes = kStagedBlock;
  return b;
}

}  // namespace penstock::window
