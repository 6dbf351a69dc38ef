// SPDX-License-Identifier: Apache-2.0
// What kernel a GPU takes medians with.
#pragma once
#include <optional>

#include "families/window/byte_images.h"
#include "families/window/kernels/median_counts.h"
#include "families/window/kernels/median_elements.h"
#include "families/window/kernels/median_five.h"
#include "families/window/kernels/median_three.h"
#include "families/window/median_keys.h"

namespace penstock::window {

// The row of the kernel that counts; no work where it does not take the image. `bytes`: of a count.
struct MedianCounts {
  CountsRow row{};
  int64_t work = 0;
  int bytes = 1;
};
inline MedianCounts median_counts_of(const void* in, void* out, const ImageRule::Extents& image, int64_t width,
                                     int64_t height) {
  constexpr int64_t kMost = int64_t{1} << 30, kLeastRows = 64;
  MedianCounts m;
  if (image.width > kMost / image.inner || image.height > kMost - height) return m;
  // The first row of a thread takes as long as half a window's height of others.
  const int64_t rows = std::min(std::max(kLeastRows, 8 * height), image.height);
  const int64_t length = image.width * image.inner, strips = (image.height + rows - 1) / rows;
  if (length > kMost / strips || image.outer > kMost / (length * strips)) return m;
  m.row = {in, out, image.height, image.width, image.inner, rows, width / 2, height / 2};
  m.work = length * strips * image.outer;
  m.bytes = width * height < 256 ? 1 : width * height < 65536 ? 2 : 4;
  return m;
}

// The row of the kernel of 5 x 5; no work where it does not take the image.
inline FiveRow median_five_of(const void* in, void* out, const ImageRule::Extents& image, int64_t& work) {
  constexpr int64_t kMost = int64_t{1} << 28;
  work = 0;
  if (image.inner > 4 || image.width > kMost || image.height > kMost) return {};
  const int64_t across = (image.width + kFiveWidth - 1) / kFiveWidth;
  const int64_t down = (image.height + kFiveRows - 1) / kFiveRows;
  if (image.outer > kMost / (across * down)) return {};
  work = across * down * image.outer;
  return {in, out, image.height, image.width, static_cast<int32_t>(across), static_cast<int32_t>(down), image.inner};
}

// 3 x 3 and 5 x 5 of any elements.
inline KernelStep median_elements_step(const View& in, const View& out, const ImageRule::Extents& image, int size) {
  const KeyBits bits = key_bits(in.dtype);
  const MedianRow row{in.data, out.data, image.height, image.width, image.inner, bits.flip, bits.fold};
  return {{"families/window/kernels/median_elements.h",
           "window::median_elements",
           {},
           {static_cast<int>(size_of(in.dtype)), size}},
          row_bytes(row),
          (image.height + kMedianRows - 1) / kMedianRows * image.width * image.inner * image.outer,
          0,
          nullptr,
          0,
          nullptr};
}

// 3 x 3 and 5 x 5 of bytes, two at a time, where a kernel takes the image.
inline std::optional<KernelStep> median_pairs_step(const View& in, const View& out, const ImageRule::Extents& image,
                                                   int size) {
  if (size == 3) {
    const ByteImages images = byte_images(in.data, out.data, image, kBorderClamp);
    if (images.work == 0) return {};
    return KernelStep{{"families/window/kernels/median_three.h",
                       "window::median_three",
                       {in.dtype},
                       {static_cast<int>(image.inner), images.aligned}},
                      row_bytes(images.rows),
                      images.work,
                      images.shared_bytes,
                      nullptr,
                      0,
                      nullptr};
  }
  int64_t work = 0;
  const FiveRow row = median_five_of(in.data, out.data, image, work);
  if (work == 0) return {};
  const int aligned = rows_at_multiples(kVectorBytes, in.data, out.data, image.width * image.inner);
  return KernelStep{{"families/window/kernels/median_five.h", "window::median_five", {in.dtype}, {aligned}, nullptr, 1},
                    row_bytes(row),
                    work,
                    static_cast<size_t>(five_bytes(static_cast<int>(image.inner))),
                    nullptr,
                    0,
                    nullptr};
}

// Nothing for large windows of more than a byte. The image has no depth.
inline std::optional<KernelStep> median_step(const View& in, const View& out, const ImageRule::Extents& image,
                                             int64_t width, int64_t height) {
  if (width == height && (width == 3 || width == 5)) {
    const int size = static_cast<int>(width);
    if (size_of(in.dtype) == 1)
      if (auto step = median_pairs_step(in, out, image, size)) return step;
    return median_elements_step(in, out, image, size);
  }
  if (size_of(in.dtype) > 1) return {};
  const MedianCounts counts = median_counts_of(in.data, out.data, image, width, height);
  if (counts.work == 0) return {};
  const int threads = count_threads(counts.bytes);
  return KernelStep{{"families/window/kernels/median_counts.h",
                     "window::median_counts",
                     {in.dtype},
                     {counts.bytes},
                     nullptr,
                     threads},
                    row_bytes(counts.row),
                    counts.work,
                    static_cast<size_t>(256 * counts.bytes * threads),
                    nullptr,
                    0,
                    nullptr};
}

}  // namespace penstock::window
