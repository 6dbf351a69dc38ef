// SPDX-License-Identifier: Apache-2.0
// Medians of bytes in any window. The counts of each column of a strip are kept; a window's counts are their sum, and
// go on by one column in, one out. Source: S. Perreault and P. Hebert, "Median filtering in constant time", 2007.
#include <algorithm>
#include <cstring>

#include "base/intrinsics.h"
#include "base/memory.h"
#include "families/window/median_rows.h"

namespace penstock::window {
namespace {

struct Column {
  alignas(64) uint16_t fine[256];
  uint16_t coarse[16];
};
// Columns [begin, end) of one channel of an image.
struct Strip {
  const uint8_t* in;
  uint8_t* out;
  ImageRule::Extents image;
  int64_t width, height;  // of the window
  int64_t begin, end;
  uint8_t flip;
};
struct CountLoops {
  void (*few)(const Strip&, Column*);   // windows of less than 65,536 elements
  void (*many)(const Strip&, Column*);  // of less than 2^32
};

#define PENSTOCK_LOOPS counts
#define PENSTOCK_LOOPS_TEXT "families/window/median_counts.inc.h"
#include "base/foreach_target.h"

}  // namespace

void median_of_bytes(Target target, DType dtype, const void* in, void* out, const ImageRule::Extents& image,
                     int64_t width, int64_t height) {
  const CountLoops& loops = PENSTOCK_FOR_TARGET(target, counts, kLoops);
  const int64_t strip = std::min(image.width, std::max<int64_t>(128, width));
  const int64_t columns = std::min(image.width, strip + width);
  const auto memory = allocate_shared(default_memory(), checked_bytes(columns, sizeof(Column)));
  auto* const counts = static_cast<Column*>(memory.get());
  const auto flip = static_cast<uint8_t>(key_bits(dtype).flip);
  for (int64_t plane = 0; plane < image.outer; ++plane)
    for (int64_t c = 0; c < image.inner; ++c) {
      const int64_t at = plane * image.height * image.width * image.inner + c;
      for (int64_t x = 0; x < image.width; x += strip) {
        const int64_t end = std::min(x + strip, image.width);
        const Strip s{
            static_cast<const uint8_t*>(in) + at, static_cast<uint8_t*>(out) + at, image, width, height, x, end, flip};
        (width * height < 65536 ? loops.few : loops.many)(s, counts);
      }
    }
}

}  // namespace penstock::window
