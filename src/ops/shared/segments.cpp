// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/segments.h"

#include <algorithm>
#include <cmath>

#include "base/crew.h"

namespace penstock {
namespace {

struct PixelRange {
  int64_t begin, end;
};
// PixelRange of n pixels whose positions are from low to high.
PixelRange pixels_between(double low, double high, double shift, int64_t n) {
  const auto most = static_cast<double>(n);
  const double begin = std::clamp(std::ceil(low - shift), 0.0, most);
  return {static_cast<int64_t>(begin), static_cast<int64_t>(std::clamp(std::floor(high - shift) + 1, begin, most))};
}
constexpr double kSlack = 1e-6;  // covers() decides

PixelRange rows_met(const double* s, const SegmentRule::Coef& c) {
  const double reach = std::sqrt(s[5]) + kSlack;
  return pixels_between(std::min(s[1], s[1] + s[3]) - reach, std::max(s[1], s[1] + s[3]) + reach, c.shift,
                        c.out.height);
}
// What a segment may cover of a row.
PixelRange columns_met(const double* s, double y, const SegmentRule::Coef& c) {
  const double reach = std::sqrt(s[5]) + kSlack;
  double first = 0, second = 1;
  if (s[3] != 0) {
    first = std::clamp((y - reach - s[1]) / s[3], 0.0, 1.0), second = std::clamp((y + reach - s[1]) / s[3], 0.0, 1.0);
  }
  const double a = s[0] + first * s[2], b = s[0] + second * s[2];
  return pixels_between(std::min(a, b) - reach, std::max(a, b) + reach, c.shift, c.out.width);
}

struct SegmentRows {
  const std::vector<double>& table;
  const SegmentRule::Coef& c;

  // A row of floats of image number `image`.
  void row(float* values, int64_t image, int64_t row) const {
    const double* const starts = table.data() + c.count * (7 + c.channels);
    const double* const listed = starts + (c.out.height - 1) / c.band + 2;
    const int64_t band = row / c.band;
    const double y = static_cast<double>(row) + c.shift;
    const auto begin = static_cast<int64_t>(starts[band]), end = static_cast<int64_t>(starts[band + 1]);
    for (int64_t k = begin; k < end; ++k) {
      const double* s = table.data() + static_cast<int64_t>(listed[k]) * (7 + c.channels);
      const PixelRange at = columns_met(s, y, c);
      for (int64_t i = at.begin; i < at.end; ++i) {
        if (!SegmentRule::covers(s, static_cast<double>(i) + c.shift, y)) continue;
        for (int64_t k2 = 0; k2 < c.out.inner; ++k2) {
          float& v = values[i * c.out.inner + k2];
          v = SegmentRule::blended(v, s, c.last ? k2 : image % c.channels);
        }
      }
    }
  }
};

}  // namespace

std::vector<double> segment_table(std::vector<double> segments, const SegmentRule::Coef& c) {
  const int64_t bands = (c.out.height - 1) / c.band + 1;
  std::vector<std::vector<double>> met(static_cast<size_t>(bands));
  for (int64_t k = 0; k < c.count; ++k) {
    const PixelRange rows = rows_met(segments.data() + k * (7 + c.channels), c);
    for (int64_t b = rows.begin / c.band; rows.begin < rows.end && b <= (rows.end - 1) / c.band; ++b)
      met[static_cast<size_t>(b)].push_back(static_cast<double>(k));
  }
  double start = 0;
  segments.push_back(start);
  for (const auto& list : met) segments.push_back(start += static_cast<double>(list.size()));
  for (const auto& list : met) segments.insert(segments.end(), list.begin(), list.end());
  return segments;
}

void draw_segments(const View& in, const View& out, const std::vector<double>& table, const SegmentRule::Coef& c) {
  const int64_t images = c.out.outer * c.out.depth, line = c.out.width * c.out.inner;
  const SegmentRows drawn{table, c};
  dispatch(in.dtype, [&]<class T>(TypeTag<T>) {
    Crew::share(images * c.out.height, images * c.out.height * line * static_cast<int64_t>(sizeof(T)),
                [&](int64_t first, int64_t end) {
                  std::vector<float> row(static_cast<size_t>(line));
                  for (int64_t k = first; k < end; ++k) {
                    const T* const from = in.as<const T>() + k * line;
                    T* const to = out.as<T>() + k * line;
                    for (int64_t i = 0; i < line; ++i) row[static_cast<size_t>(i)] = static_cast<float>(from[i]);
                    drawn.row(row.data(), k / c.out.height / c.out.depth, k % c.out.height);
                    for (int64_t i = 0; i < line; ++i) to[i] = stored<T>(row[static_cast<size_t>(i)]);
                  }
                });
  });
}

}  // namespace penstock
