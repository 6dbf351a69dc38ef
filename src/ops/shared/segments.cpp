// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/segments.h"

#include <algorithm>
#include <cmath>

#include "base/crew.h"
#include "base/target.h"

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

constexpr int64_t kCovered = 8;  // pixels that are decided at once
#define PENSTOCK_LOOPS segments
#define PENSTOCK_LOOPS_TEXT "ops/shared/segments.inc.h"
#include "base/foreach_target.h"

// Draws into rows. The part that segments cover is converted once, and written once.
class SegmentRows {
 public:
  SegmentRows(const std::vector<double>& table, const SegmentRule::Coef& c)
      : table_(table),
        c_(c),
        covered_(static_cast<size_t>(c.out.width + kCovered)),
        values_(static_cast<size_t>(c.out.width * c.out.inner)),
        color_(static_cast<size_t>(c.channels)) {}

  // `to` has the pixels of a row of image number `image`.
  template <class T> void draw(T* to, int64_t image, int64_t row) {
    const double* const starts = table_.data() + c_.count * (7 + c_.channels);
    const double* const listed = starts + (c_.out.height - 1) / c_.band + 2;
    const int64_t band = row / c_.band;
    const double y = static_cast<double>(row) + c_.shift;
    const auto begin = static_cast<int64_t>(starts[band]), end = static_cast<int64_t>(starts[band + 1]);
    read_ = {0, 0};
    for (int64_t k = begin; k < end; ++k)
      draw_one(table_.data() + static_cast<int64_t>(listed[k]) * (7 + c_.channels), y, image, to);
    const int64_t inner = c_.out.inner;
    for (int64_t j = read_.begin * inner; j < read_.end * inner; ++j)
      to[j] = stored<T>(values_[static_cast<size_t>(j)]);
  }

 private:
  template <class T> void draw_one(const double* s, double y, int64_t image, const T* row) {
    const PixelRange at = columns_met(s, y, c_);
    if (at.begin >= at.end) return;
    int64_t* const covered = covered_.data();
    PENSTOCK_FOR_TARGET(target_, segments, cover_row(s, c_.shift, y, at.begin, at.end - at.begin, covered));
    for (size_t k = 0; k < color_.size(); ++k) color_[k] = static_cast<float>(s[7 + k]);
    const float* const color = color_.data() + (c_.last ? 0 : image % c_.channels);
    const int64_t n = at.end - at.begin;
    for (int64_t i = 0, end; i < n; i = end) {
      for (end = i + 1; end < n && covered[end] == covered[i];) ++end;
      if (!covered[i]) continue;
      read(row, {at.begin + i, at.begin + end});
      float* const v = values_.data() + (at.begin + i) * c_.out.inner;
      PENSTOCK_FOR_TARGET(target_, segments, blend_run(v, end - i, c_.out.inner, color, static_cast<float>(s[6])));
    }
  }
  template <class T> void read(const T* row, PixelRange wanted) {
    const auto convert = [&](int64_t begin, int64_t end) {
      for (int64_t j = begin * c_.out.inner; j < end * c_.out.inner; ++j)
        values_[static_cast<size_t>(j)] = static_cast<float>(row[j]);
    };
    if (read_.begin == read_.end) read_ = {wanted.begin, wanted.begin};
    if (wanted.begin < read_.begin) convert(wanted.begin, read_.begin), read_.begin = wanted.begin;
    if (wanted.end > read_.end) convert(read_.end, wanted.end), read_.end = wanted.end;
  }

  const std::vector<double>& table_;
  const SegmentRule::Coef& c_;
  const Target target_ = best_target();
  std::vector<int64_t> covered_;
  std::vector<float> values_, color_;
  PixelRange read_{0, 0};  // of the row: what values_ has
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
  dispatch(in.dtype, [&]<class T>(TypeTag<T>) {
    Crew::share(images * c.out.height, images * c.out.height * line * static_cast<int64_t>(sizeof(T)),
                [&](int64_t first, int64_t end) {
                  SegmentRows rows(table, c);
                  for (int64_t k = first; k < end; ++k) {
                    T* const to = out.as<T>() + k * line;
                    std::copy_n(in.as<const T>() + k * line, line, to);
                    rows.draw(to, k / c.out.height / c.out.depth, k % c.out.height);
                  }
                });
  });
}

}  // namespace penstock
