// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/correlation.h"

#include <algorithm>
#include <cmath>

#include "base/target.h"
#include "families/window/taps_rows.h"

namespace penstock {
namespace {

#define PENSTOCK_LOOPS correlation
#define PENSTOCK_LOOPS_TEXT "ops/shared/correlation.inc.h"
#define PENSTOCK_LOOPS_UP_TO_AVX2
#include "base/foreach_target.h"

constexpr int64_t kMostKept = 256;  // extent of a window whose rows are kept

// The weights, if they are whole and no sum of bytes leaves int16: such sums are exact in float32, too. Else nothing.
std::vector<int16_t> small_weights(const CorrelationRule::Coef& c, const float* weights) {
  constexpr int64_t kMost = 1024;
  const int64_t n = c.window[0] * c.window[1] * c.window[2];
  if (n > kMost) return {};
  std::vector<int16_t> small;
  float most = 0;
  for (int64_t i = 0; i < n; ++i) {
    most += std::fabs(weights[i]) * 255;
    if (!(most <= 32767) || weights[i] != std::nearbyint(weights[i])) return {};
    small.push_back(static_cast<int16_t>(weights[i]));
  }
  return small;
}

template <class Out, class In>
void correlate_on_host(const In* in, Out* out, const CorrelationRule::Coef& c, const char* table) {
  const Target target = best_target();
  const float* weights = c.weights ? c.weights : reinterpret_cast<const float*>(table);
  const int64_t inner = c.out.inner, row = c.out.width * inner;
  const int64_t begin = std::clamp<int64_t>(c.anchor[2], 0, c.out.width);
  const int64_t end = std::clamp<int64_t>(c.in.width - c.window[2] + c.anchor[2] + 1, begin, c.out.width);
  std::vector<int16_t> small;
  if constexpr (std::is_same_v<In, uint8_t>) small = small_weights(c, weights);
  ImageRule::Place p{};
  const auto sums = [&](int64_t first, int64_t last) {
    if constexpr (std::is_same_v<In, uint8_t>) {
      if (!small.empty()) {
        PENSTOCK_FOR_TARGET(target, correlation, sum_bytes_of_row(in, c, small.data(), p, first, last, out));
        return;
      }
    }
    PENSTOCK_FOR_TARGET(target, correlation, sum_row(in, c, weights, p, first, last, out));
  };
  const auto border = [&](int64_t from, int64_t to) {
    for (p.x = from; p.x < to; ++p.x)
      for (p.inner = 0; p.inner < inner; ++p.inner)
        out[p.x * inner + p.inner] = CorrelationRule::at<Out>(in, p, c, table);
  };
  for (p.outer = 0; p.outer < c.out.outer; ++p.outer)
    for (p.z = 0; p.z < c.out.depth; ++p.z)
      for (p.y = 0; p.y < c.out.height; ++p.y, out += row) {
        border(0, begin);
        sums(begin * inner, end * inner);
        border(end, c.out.width);
      }
}

// Depths are images, if the window has none.
window::Taps taps_of_planes(const CorrelationRule::Coef& coef) {
  window::Taps w{coef.in,        coef.out,    coef.window[2], coef.window[1], coef.anchor[2],
                 coef.anchor[1], coef.border, coef.weights,   coef.fill};
  w.in.outer *= w.in.depth, w.out.outer *= w.out.depth;
  w.in.depth = w.out.depth = 1;
  return w;
}

}  // namespace

bool has_tiles(const CorrelationRule::Coef& coef, DType out) {
  return coef.window[0] == 1 && window::taps_tiles(taps_of_planes(coef), size_of(out)).count > 0;
}

void correlate(const View& in, const View& out, const CorrelationRule::Coef& coef, SampleWork& to,
               const ImageTable& table, const std::function<void()>& own) {
  if (out.volume() == 0) return;
  const window::Taps w = taps_of_planes(coef);
  std::function<void()> host = own;
  if (!host)
    host = [=] {
      const char* bytes = table ? reinterpret_cast<const char*>(table->data()) : nullptr;
      const float* weights = coef.weights ? coef.weights : reinterpret_cast<const float*>(bytes);
      if (out.dtype == DType::int16 && in.dtype == DType::uint8)
        return correlate_on_host(in.as<const uint8_t>(), out.as<int16_t>(), coef, bytes);
      const bool small = in.dtype == DType::uint8 && !small_weights(coef, weights).empty();
      const bool kept = coef.window[0] == 1 && std::max(coef.window[1], coef.window[2]) <= kMostKept;
      if (kept && !small && window::has_stencils(in.dtype)) {
        window::taps_rows(in, out, w, weights, best_target());
        return;
      }
      dispatch(in.dtype, [&]<class T>(TypeTag<T>) {
        if (in.dtype == out.dtype) correlate_on_host(in.as<const T>(), out.as<T>(), coef, bytes);
        else correlate_on_host(in.as<const T>(), out.as<float>(), coef, bytes);
      });
    };
  if (coef.window[0] == 1) {
    if (auto step = window::taps_step(in, out, w, table)) {
      step->host = host;
      to.kernel(std::move(*step));
      return;
    }
  }
  ElementStep step{&image_rule_text<CorrelationRule>, coef_bytes_of(coef), table, nullptr, host};
  if (table) step.table = [table] { return *table; };
  to.map(in, out, std::move(step));
}

std::pair<int, int> convolved_axes(const Layout& layout, int ndim) {
  int first = 0, last = ndim;
  if (!layout.empty()) {
    while (first < last && (layout[first] == 'F' || layout[first] == 'C')) ++first;
    if (first < last && layout[last - 1] == 'C') --last;
    for (int i = first; i < last; ++i)
      if (layout[i] == 'F' || layout[i] == 'C')
        bad_type("F must come before the axes to convolve, C before or after them, got the layout '{}'", layout.str());
  }
  if (last - first < 1 || last - first > 3)
    bad_type("expected one to three axes to convolve, got {} in the layout '{}'", last - first, layout.str());
  return {first, last - first};
}

ImageRule::Extents convolved_extents(const Shape& shape, int first, int axes) {
  ImageRule::Extents e{1, 1, 1, 1, 1};
  for (int d = 0; d < shape.size(); ++d) {
    if (d < first) e.outer *= shape[d];
    else if (d >= first + axes) e.inner *= shape[d];
    else (d == first + axes - 1 ? e.width : d == first + axes - 2 ? e.height : e.depth) = shape[d];
  }
  return e;
}

}  // namespace penstock
