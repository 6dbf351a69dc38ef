// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/correlation.h"

#include <algorithm>

#include "base/target.h"
#include "families/window/taps.h"

namespace penstock {
namespace {

#define PENSTOCK_LOOPS correlation
#define PENSTOCK_LOOPS_TEXT "ops/shared/correlation.inc.h"
#define PENSTOCK_LOOPS_UP_TO_AVX2
#include "base/foreach_target.h"

template <class Out, class In>
void correlate_on_host(const In* in, Out* out, const CorrelationRule::Coef& c, const char* table) {
  const Target target = best_target();
  const float* weights = c.weights ? c.weights : reinterpret_cast<const float*>(table);
  const int64_t inner = c.out.inner, row = c.out.width * inner;
  const int64_t begin = std::clamp<int64_t>(c.anchor[2], 0, c.out.width);
  const int64_t end = std::clamp<int64_t>(c.in.width - c.window[2] + c.anchor[2] + 1, begin, c.out.width);
  ImageRule::Place p{};
  const auto border = [&](int64_t from, int64_t to) {
    for (p.x = from; p.x < to; ++p.x)
      for (p.inner = 0; p.inner < inner; ++p.inner)
        out[p.x * inner + p.inner] = CorrelationRule::at<Out>(in, p, c, table);
  };
  for (p.outer = 0; p.outer < c.out.outer; ++p.outer)
    for (p.z = 0; p.z < c.out.depth; ++p.z)
      for (p.y = 0; p.y < c.out.height; ++p.y, out += row) {
        border(0, begin);
        PENSTOCK_FOR_TARGET(target, correlation, sum_row(in, c, weights, p, begin * inner, end * inner, out));
        border(end, c.out.width);
      }
}

}  // namespace

void correlate(const View& in, const View& out, const CorrelationRule::Coef& coef, SampleWork& to,
               const ImageTable& table) {
  if (out.volume() == 0) return;
  const auto host = [=] {
    const char* bytes = table ? reinterpret_cast<const char*>(table->data()) : nullptr;
    dispatch(in.dtype, [&]<class T>(TypeTag<T>) {
      if (in.dtype == out.dtype) correlate_on_host(in.as<const T>(), out.as<T>(), coef, bytes);
      else correlate_on_host(in.as<const T>(), out.as<float>(), coef, bytes);
    });
  };
  if (coef.window[0] == 1) {  // depths are images
    window::Taps w{coef.in,        coef.out,    coef.window[2], coef.window[1], coef.anchor[2],
                   coef.anchor[1], coef.border, coef.weights,   coef.fill};
    w.in.outer *= w.in.depth, w.out.outer *= w.out.depth;
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
