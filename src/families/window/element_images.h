// SPDX-License-Identifier: Apache-2.0
// Which images the kernels of small windows over any elements take (kernels/element_columns.h).
#pragma once
#include "families/window/byte_images.h"
#include "families/window/kernels/element_columns.h"

namespace penstock::window {

// The rows of such a kernel; no work where it does not take the image.
struct ElementImages {
  ElementRows rows{};
  int64_t work = 0;
  int aligned = 0;
};

// A window of 3 x 3 around each element. `in` and `out`: addresses on the GPU, of elements of so many bytes.
inline ElementImages element_images(const void* in, size_t in_bytes, const void* out, size_t out_bytes,
                                    const ImageRule::Extents& image, int border) {
  constexpr int64_t kMost = int64_t{1} << 29;
  ElementImages e;
  if (image.inner < 1 || image.inner > 4 || image.width > kMost / image.inner || image.height > kMost) return e;
  const int64_t length = image.width * image.inner;
  if (length < least_elements(static_cast<int>(image.inner), 1)) return e;
  const int64_t fours = (length + kFour - 1) / kFour, strips = (image.height + kElementRows - 1) / kElementRows;
  if (fours * strips > kMost || image.outer > kMost / (fours * strips)) return e;
  e.rows = {in,     const_cast<void*>(out),      image.height,
            length, static_cast<int32_t>(fours), static_cast<int32_t>(strips),
            border};
  e.work = fours * strips * image.outer;
  e.aligned = rows_at_multiples(kFour * in_bytes, in, in, length * static_cast<int64_t>(in_bytes)) &&
              rows_at_multiples(kFour * out_bytes, out, out, length * static_cast<int64_t>(out_bytes));
  return e;
}

}  // namespace penstock::window
