// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/opencv_area.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/crew.h"
#include "ops/shared/opencv_resize.h"

namespace penstock {
namespace {

using AreaEntry = OpencvAreaRule::Entry;
struct AreaTable {
  std::vector<int32_t> begin{0};
  std::vector<AreaEntry> entries;
  // True: each output is a mean of whole samples.
  bool add(const AxisWindow& axis, int64_t in) {
    const double length = axis.hi - axis.lo, scale = 1.0 / (static_cast<double>(axis.out) / std::fabs(length));
    const auto end = static_cast<double>(in);
    const auto put = [&](int64_t sample, double weight) {
      entries.push_back({static_cast<int32_t>(std::clamp<int64_t>(sample, 0, in - 1)), static_cast<float>(weight)});
    };
    for (int64_t i = 0; i < axis.out; ++i) {
      const int64_t o = length < 0 ? axis.out - 1 - i : i;
      const double first = std::min(axis.lo, axis.hi) + static_cast<double>(o) * scale, last = first + scale;
      const double cell = std::min(scale, end - first);
      const int64_t whole_end = std::min(static_cast<int64_t>(std::floor(last)), in - 1);
      const int64_t whole = std::min(static_cast<int64_t>(std::ceil(first)), whole_end);
      if (static_cast<double>(whole) - first > 1e-3) put(whole - 1, (static_cast<double>(whole) - first) / cell);
      for (int64_t k = whole; k < whole_end; ++k) put(k, 1.0 / cell);
      const double rest = last - static_cast<double>(whole_end);
      if (rest > 1e-3) put(whole_end, std::min(std::min(rest, 1.0), cell) / cell);
      begin.push_back(static_cast<int32_t>(entries.size()));
    }
    const auto factor = static_cast<double>(std::llround(scale));
    return std::fabs(scale - factor) < 2.220446049250313e-16 && std::floor(axis.lo) == axis.lo;
  }
};

// The sums of a row of pixels; most have `channels` elements, 0: `step`.
template <int channels, class T, class Sum>
void sum_areas(const T* line, int64_t step, const AreaTable& x, int64_t n, Sum* sums) {
  if (channels) step = channels;
  for (int64_t i = 0; i < n; ++i, sums += step) {
    std::fill_n(sums, step, Sum(0));
    for (int32_t k = x.begin[static_cast<size_t>(i)]; k < x.begin[static_cast<size_t>(i) + 1]; ++k) {
      const AreaEntry e = x.entries[static_cast<size_t>(k)];
      const T* const from = line + e.from * step;
      for (int64_t c = 0; c < step; ++c) {
        if constexpr (std::is_integral_v<Sum>) sums[c] += static_cast<Sum>(from[c]);
        else sums[c] += static_cast<Sum>(from[c]) * static_cast<Sum>(e.weight);
      }
    }
  }
}
template <class T, class Sum>
void sum_area_row(const T* line, int64_t channels, const AreaTable& x, int64_t n, Sum* sums) {
  if (channels == 1) sum_areas<1>(line, channels, x, n, sums);
  else if (channels == 3) sum_areas<3>(line, channels, x, n, sums);
  else if (channels == 4) sum_areas<4>(line, channels, x, n, sums);
  else sum_areas<0>(line, channels, x, n, sums);
}

// Rows [from, to) of one image. Sum is int32_t for means of whole pixels of bytes.
template <class Sum, class T>
void mean_rows(const T* in, T* out, const OpencvAreaRule::Coef& c, const AreaTable& x, const AreaTable& y, int64_t from,
               int64_t to) {
  const int64_t n = c.out.width * c.in.inner;
  std::vector<Sum> part(static_cast<size_t>(n)), sum(static_cast<size_t>(n));
  int64_t held = -1;  // the row of `part`, which two outputs may share
  for (int64_t row = from; row < to; ++row) {
    std::fill(sum.begin(), sum.end(), Sum(0));
    for (int32_t j = y.begin[static_cast<size_t>(row)]; j < y.begin[static_cast<size_t>(row) + 1]; ++j) {
      const AreaEntry down = y.entries[static_cast<size_t>(j)];
      if (down.from != held)
        sum_area_row(in + down.from * c.in.width * c.in.inner, c.in.inner, x, c.out.width, part.data());
      held = down.from;
      for (size_t i = 0; i < sum.size(); ++i) {
        if constexpr (std::is_integral_v<Sum>) sum[i] += part[i];
        else sum[i] += part[i] * static_cast<Sum>(down.weight);
      }
    }
    T* const made = out + row * n;
    for (size_t i = 0; i < sum.size(); ++i) {
      if constexpr (std::is_integral_v<Sum>)
        made[i] = c.halves_up ? static_cast<T>((sum[i] + 2) >> 2) : stored<T>(static_cast<float>(sum[i]) * c.unit);
      else made[i] = stored<T>(sum[i]);
    }
  }
}

}  // namespace

void area_as_opencv(const View& in, const View& out, const AxisWindow& x, const AxisWindow& y, SampleWork& to) {
  if (out.volume() == 0) return;
  OpencvAreaRule::Coef c{image_extents(out.shape, out.layout), image_extents(in.shape, in.layout), 0, 0, 0, 0, 0};
  auto columns = std::make_shared<AreaTable>(), rows = std::make_shared<AreaTable>();
  const bool across = columns->add(x, c.in.width), down = rows->add(y, c.in.height);
  c.columns = static_cast<int64_t>(columns->entries.size());
  if (across && down && in.dtype == DType::uint8) {
    c.whole = (columns->begin[1] - columns->begin[0]) * int64_t{rows->begin[1] - rows->begin[0]};
    c.unit = 1.0f / static_cast<float>(c.whole);
    const bool two = columns->begin[1] == 2 && rows->begin[1] == 2;
    c.halves_up = two && (c.in.inner == 1 || c.in.inner == 3 || c.in.inner == 4);
  }
  const auto host = [=] {
    make_in_own_type(in, out, [&](const View& own) {
      dispatch(in.dtype, [&]<class T>(TypeTag<T>) {
        const int64_t from = c.in.height * c.in.width * c.in.inner, made = c.out.height * c.out.width * c.out.inner;
        for (int64_t i = 0; i < c.out.outer; ++i)
          Crew::share(c.out.height, made * static_cast<int64_t>(sizeof(T)), [&](int64_t begin, int64_t end) {
            const T* const image = in.as<const T>() + i * from;
            T* const result = own.as<T>() + i * made;
            if constexpr (std::is_same_v<T, uint8_t>)
              if (c.whole) return mean_rows<int32_t>(image, result, c, *columns, *rows, begin, end);
            mean_rows<NumberOf<T>>(image, result, c, *columns, *rows, begin, end);
          });
      });
    });
  };
  ElementStep step{&image_rule_text<OpencvAreaRule>, coef_bytes_of(c), columns, nullptr, host};
  step.table = [columns, rows] {
    std::vector<std::byte> bytes;
    const auto add = [&](const auto& numbers) {
      const auto more = std::as_bytes(std::span(numbers));
      bytes.insert(bytes.end(), more.begin(), more.end());
    };
    add(columns->begin), add(rows->begin), add(columns->entries), add(rows->entries);
    return bytes;
  };
  to.map(in, out, std::move(step));
}

}  // namespace penstock
