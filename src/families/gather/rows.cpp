// SPDX-License-Identifier: Apache-2.0
#include "families/gather/rows.h"

#include <limits>
#include <vector>

#include "base/crew.h"
#include "base/error.h"
#include "base/intrinsics.h"
#include "operator/rows_ahead.h"
#include "pixel/philox_blocks.h"

namespace penstock::gather {
namespace {

constexpr int taps_of(Filter f) { return f == kNearest ? 1 : f == kLinear ? 2 : 4; }

// An image as the samplers read it.
struct Image {
  const void* data;
  const Source& source;
  int64_t pixel;     // bytes
  const char* fill;  // the constant of the border, as a stored pixel
  bool exact_fill;   // which is not rounded
  bool small;        // offsets fit 32 bits
};
using RowFn = void (*)(const Image&, const Positions<float>&, int n, void* out);
using WideRowFn = void (*)(const Image&, const Positions<double>&, int n, void* out);

#define PENSTOCK_LOOPS rows
#define PENSTOCK_LOOPS_TEXT "families/gather/rows.inc.h"
#include "base/foreach_target.h"

// The constant of a border as a pixel; true if it needs no rounding.
bool stored_fill(DType dtype, const Source& s, std::vector<char>& pixel) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) {
    const T fill = from_lane<float, T>(s.fill);
    pixel.resize(static_cast<size_t>(s.channels) * sizeof(T));
    for (size_t c = 0; c < pixel.size(); c += sizeof(T)) std::memcpy(pixel.data() + c, &fill, sizeof(T));
    return to_lane<T, double>(fill) == static_cast<double>(s.fill);
  });
}

// Outputs after the n-th, up to the end of a vector, are like the n-th: they are computed too.
void repeat_last(Positions<float>& p, int n) {
  for (int a = 0; a < 2; ++a) {
    std::fill_n(p.at[a] + n, kSpare, p.at[a][n - 1]);
    std::fill_n(p.weight[a] + n, kSpare, p.weight[a][n - 1]);
  }
}

// row(y, x, n, to, positions): n <= kBlock outputs. Threads without work take some of the rows.
template <class T, class Row> void each_block(const Outputs& o, int64_t pixel, void* out, const Row& row) {
  const int64_t bytes = o.width * pixel;
  Crew::share(o.height, o.height * bytes, [&](int64_t first, int64_t end) {
    Positions<T> p;
    int32_t last = 0;
    char* to = static_cast<char*>(out) + first * bytes;
    for (auto y = static_cast<int32_t>(first); y < end; ++y)
      for (int32_t x = 0; x < o.width;) {
        const int n = std::min(kBlock, o.width - x);
        row(y, x, n, to, p);
        if (x == 0) {
          if (y > first && p.at[1][0] != last) p.downward = p.at[1][0] < last ? -1 : 1;
          last = p.at[1][0];
        }
        x += n, to += n * pixel;
      }
  });
}

}  // namespace

bool finds_in_float64(DType dtype, Filter filter) {
  return filter != kNearest && dispatch(dtype, [&]<class T>(TypeTag<T>) { return std::is_same_v<Number<T>, double>; });
}

void draw_numbers(const RandomStream& stream, uint64_t first, int n, DrawnNumbers& to) {
  to.skipped = static_cast<int>(first & 3);
  const int blocks = (n + to.skipped + 3) / 4;
  for (int done = 0; done < blocks; done += static_cast<int>(kStreamsTogether)) {
    const int count = std::min(blocks - done, static_cast<int>(kStreamsTogether));
    PhiloxColumns words;
    philox_run(stream, first / 4 + static_cast<uint64_t>(done), static_cast<size_t>(count), words);
    uint32_t* all = to.all + 4 * done;
    for (int i = 0; i < count; ++i)
      for (int k = 0; k < 4; ++k) all[4 * i + k] = words.word[k][i];
  }
}

void sample_image(Target target, DType dtype, const void* in, const Source& source, const PositionLoops& loops,
                  const Outputs& o, void* out) {
  std::vector<char> fill;
  const bool exact = stored_fill(dtype, source, fill);
  const auto pixel = static_cast<int64_t>(fill.size());
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const bool small = source.width <= kMost / std::max<int64_t>(pixel, 1) / std::max(source.height, 1);
  const Image image{in, source, pixel, fill.data(), exact, small};
  const WideRowFn wide =
      source.filter == kNearest ? nullptr : PENSTOCK_FOR_TARGET(target, &rows, wide_row_of)(dtype, image);
  if (wide) {
    each_block<double>(o, pixel, out, [&](int32_t y, int32_t x, int n, char* to, Positions<double>& p) {
      loops.wide(loops, o.image, y, x, n, p);
      wide(image, p, n, to);
    });
    return;
  }
  const RowFn row = PENSTOCK_FOR_TARGET(target, &rows, row_of)(dtype, image);
  const bool nearest = source.filter == kNearest;
  if (nearest && loops.pixels) {
    const auto read = PENSTOCK_FOR_TARGET(target, &rows, read_pixels);
    each_block<float>(o, pixel, out, [&](int32_t y, int32_t x, int n, char* to, Positions<float>& p) {
      read(*loops.pixels, static_cast<size_t>(int64_t{y} * o.width + x), n, p);
      row(image, p, n, to);
    });
    return;
  }
  each_block<float>(o, pixel, out, [&](int32_t y, int32_t x, int n, char* to, Positions<float>& p) {
    (nearest ? loops.nearest : loops.narrow)(loops, o.image, y, x, n, p);
    if (!nearest) repeat_last(p, n);
    row(image, p, n, to);
  });
}

}  // namespace penstock::gather
