// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/roi_bins.h"

#include "base/crew.h"

namespace penstock {
namespace {

// The samples of all cells along an axis, those of a cell together.
struct Positions {
  RoiRule::Axis axis;
  std::vector<RoiRule::Between> at;
  void find(const RoiRule::Axis& a, int64_t cells, int64_t n) {
    axis = a;
    at.resize(static_cast<size_t>(cells * a.count));
    for (int64_t cell = 0; cell < cells; ++cell)
      for (int32_t k = 0; k < a.count; ++k)
        at[static_cast<size_t>(cell * a.count + k)] = RoiRule::between(a, cell, k, n);
  }
  std::span<const RoiRule::Between> of(int64_t cell) const {
    return {&at[static_cast<size_t>(cell * axis.count)], static_cast<size_t>(axis.count)};
  }
};

// A cell of one channel; `step` elements from pixel to pixel.
template <class T>
float sum_of_cell(const T* map, int64_t width, std::span<const RoiRule::Between> ys,
                  std::span<const RoiRule::Between> xs) {
  float sum = 0;
  for (const RoiRule::Between& y : ys) {
    if (!y.inside) continue;
    const T* const above = map + y.low * width;
    const T* const below = map + y.high * width;
    for (const RoiRule::Between& x : xs)
      if (x.inside)
        sum += RoiRule::sample_of(static_cast<float>(above[x.low]), static_cast<float>(above[x.high]),
                                  static_cast<float>(below[x.low]), static_cast<float>(below[x.high]), y.part, x.part);
  }
  return sum;
}

// A cell of all channels, which lie side by side.
template <class T>
void sums_of_cell(const T* map, const RoiRule::Coef& c, std::span<const RoiRule::Between> ys,
                  std::span<const RoiRule::Between> xs, float* sums) {
  const int64_t n = c.channels;
  std::fill_n(sums, n, 0.0f);
  for (const RoiRule::Between& y : ys) {
    if (!y.inside) continue;
    for (const RoiRule::Between& x : xs) {
      if (!x.inside) continue;
      const T* const p[4] = {map + (y.low * c.width + x.low) * n, map + (y.low * c.width + x.high) * n,
                             map + (y.high * c.width + x.low) * n, map + (y.high * c.width + x.high) * n};
      for (int64_t k = 0; k < n; ++k)
        sums[k] += RoiRule::sample_of(static_cast<float>(p[0][k]), static_cast<float>(p[1][k]),
                                      static_cast<float>(p[2][k]), static_cast<float>(p[3][k]), y.part, x.part);
    }
  }
}

template <class T> void align(const T* in, T* out, const RoiRule::Coef& c, int64_t first, int64_t end) {
  const int64_t high = c.out.height, wide = c.out.width, cells = high * wide;
  const bool last = c.out.inner > 1;
  Positions down, across;
  std::vector<float> sums(static_cast<size_t>(last ? c.channels : 0));
  out += first * cells * c.channels;
  for (int64_t roi = first; roi < end; ++roi) {
    const float* const box = c.boxes + roi * 4;
    down.find(RoiRule::axis_of(box[1], box[3], high, c), high, c.height);
    across.find(RoiRule::axis_of(box[0], box[2], wide, c), wide, c.width);
    for (int64_t channel = 0; channel < (last ? 1 : c.channels); ++channel)
      for (int64_t y = 0; y < high; ++y)
        for (int64_t x = 0; x < wide; ++x) {
          if (!last) {
            const float sum = sum_of_cell(in + channel * c.height * c.width, c.width, down.of(y), across.of(x));
            *out++ = stored<T>(RoiRule::mean_of(sum, down.axis, across.axis));
            continue;
          }
          sums_of_cell(in, c, down.of(y), across.of(x), sums.data());
          for (const float sum : sums) *out++ = stored<T>(RoiRule::mean_of(sum, down.axis, across.axis));
        }
  }
}

}  // namespace

void align_regions(const View& in, const View& out, const RoiRule::Coef& c, int64_t boxes) {
  const int64_t bytes = out.volume() * static_cast<int64_t>(size_of(out.dtype));
  Crew::share(boxes, bytes, [&](int64_t first, int64_t end) {
    if (in.dtype == DType::float32) align(in.as<const float>(), out.as<float>(), c, first, end);
    else align(in.as<const Half>(), out.as<Half>(), c, first, end);
  });
}

}  // namespace penstock
