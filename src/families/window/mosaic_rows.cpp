// SPDX-License-Identifier: Apache-2.0
#include "families/window/mosaic.h"

#include <algorithm>
#include <cstring>

#include "base/crew.h"
#include "base/intrinsics.h"

namespace penstock::window {
namespace {

// A row without its ends, from pixel 1 of the image on. `in` and `out` are at this pixel; `above` and `below` are the
// rows beside it. `own`: whether the first pixel is not green.
struct MosaicPart {
  const void *in, *above, *below;
  void* out;
  int64_t n;
  bool own, blue_row;
};
// For one type of elements and one target, by Mosaic::Algorithm.
struct MosaicLoops {
  void (*row[3])(const MosaicPart&);
};

#define PENSTOCK_LOOPS mosaic
#define PENSTOCK_LOOPS_TEXT "families/window/mosaic_rows.inc.h"
#include "base/foreach_target.h"

template <class T> void make_rows(const MosaicLoops& loops, const Mosaic& m, const T* in, T* out, int64_t first,
                                  int64_t end) {
  const int64_t w = m.width, channels = m.algorithm == Mosaic::gray ? 1 : 3;
  const size_t pixel = static_cast<size_t>(channels) * sizeof(T);
  for (int64_t i = first; i < end; ++i) {
    T* const to = out + i * w * channels;
    if (w < 3 || m.height < 3) {
      std::memset(to, 0, static_cast<size_t>(w) * pixel);
      continue;
    }
    const int64_t image = i / m.height, y = std::clamp<int64_t>(i % m.height, 1, m.height - 2);
    const T* const from = in + (image * m.height + y) * w + 1;
    const bool blue_row = (y & 1) == m.blue_y;
    loops.row[m.algorithm]({from, from - w, from + w, to + channels, w - 2, blue_row == (m.blue_x == 1), blue_row});
    std::memcpy(to, to + channels, pixel);
    std::memcpy(to + (w - 1) * channels, to + (w - 2) * channels, pixel);
  }
}

}  // namespace

void mosaic_rows(Target target, DType dtype, const Mosaic& m, const void* in, void* out) {
  const auto run = [&]<class T>(TypeTag<T>) {
    const MosaicLoops& loops = PENSTOCK_FOR_TARGET(target, mosaic, kLoops<T>);
    const int64_t rows = m.images * m.height;
    const int64_t bytes = rows * m.width * (m.algorithm == Mosaic::gray ? 1 : 3) * static_cast<int64_t>(sizeof(T));
    Crew::share(rows, bytes, [&](int64_t first, int64_t end) {
      make_rows(loops, m, static_cast<const T*>(in), static_cast<T*>(out), first, end);
    });
  };
  if (dtype == DType::uint8) run(TypeTag<uint8_t>{});
  else run(TypeTag<uint16_t>{});
}

}  // namespace penstock::window
