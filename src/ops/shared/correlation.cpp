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

// The columns of a row whose neighbors in it are all inside.
struct Inside {
  explicit Inside(const CorrelationRule::Coef& c)
      : begin(std::clamp<int64_t>(c.anchor[2], 0, c.out.width)),
        end(std::clamp<int64_t>(c.in.width - c.window[2] + c.anchor[2] + 1, begin, c.out.width)) {}
  int64_t begin, end;
};

// f(place of the row, its first element in the result) for each row of the result.
template <class F> void for_rows(const CorrelationRule::Coef& c, F&& f) {
  ImageRule::Place p{};
  int64_t first = 0;
  for (p.outer = 0; p.outer < c.out.outer; ++p.outer)
    for (p.z = 0; p.z < c.out.depth; ++p.z)
      for (p.y = 0; p.y < c.out.height; ++p.y, first += c.out.width * c.out.inner) f(p, first);
}

// The sums of the columns [from, to) of the row at p, of any neighbors. It is called twice for a row: inlined it is the
// largest part of its caller.
template <class In>
[[gnu::noinline]] void sum_columns(const In* in, const CorrelationRule::Coef& c, const char* table, ImageRule::Place p,
                                   int64_t from, int64_t to, NumberOf<In>* sums) {
  for (p.x = from; p.x < to; ++p.x)
    for (p.inner = 0; p.inner < c.out.inner; ++p.inner)
      sums[p.x * c.out.inner + p.inner] = CorrelationRule::at<NumberOf<In>>(in, p, c, table);
}

// One loop for each type of the input, and then one for each of the result, instead of one for each pair.
template <class In>
void correlate_on_host(const In* in, const View& out, const CorrelationRule::Coef& c, const float* weights,
                       const char* table) {
  const Target target = best_target();
  const Inside inside(c);
  const int64_t inner = c.out.inner, row = c.out.width * inner;
  std::vector<NumberOf<In>> sums(static_cast<size_t>(row));
  for_rows(c, [&](const ImageRule::Place& p, int64_t first) {
    sum_columns(in, c, table, p, 0, inside.begin, sums.data());
    PENSTOCK_FOR_TARGET(target, correlation,
                        sum_row(in, c, weights, p, inside.begin * inner, inside.end * inner, sums.data()));
    sum_columns(in, c, table, p, inside.end, c.out.width, sums.data());
    const auto store = [&](auto* to) {
      PENSTOCK_FOR_TARGET(target, correlation, store_row(sums.data(), row, to + first));
    };
    if (out.dtype == DType::float32) return store(out.as<float>());
    if constexpr (std::is_same_v<In, uint8_t>)
      if (out.dtype == DType::int16) return store(out.as<int16_t>());
    store(out.as<In>());
  });
}

// Bytes with weights that small_weights() gave.
template <class Out>
void correlate_bytes(const uint8_t* in, Out* out, const CorrelationRule::Coef& c, const int16_t* weights,
                     const char* table) {
  const Target target = best_target();
  const Inside inside(c);
  const int64_t inner = c.out.inner;
  std::vector<float> sums(static_cast<size_t>(c.out.width * inner));
  for_rows(c, [&](const ImageRule::Place& p, int64_t first) {
    Out* const to = out + first;
    const auto border = [&](int64_t from, int64_t end) {
      sum_columns(in, c, table, p, from, end, sums.data());
      for (int64_t e = from * inner; e < end * inner; ++e) to[e] = stored<Out>(sums[static_cast<size_t>(e)]);
    };
    border(0, inside.begin);
    PENSTOCK_FOR_TARGET(target, correlation,
                        sum_bytes_of_row(in, c, weights, p, inside.begin * inner, inside.end * inner, to));
    border(inside.end, c.out.width);
  });
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
      const auto small = in.dtype == DType::uint8 ? small_weights(coef, weights) : std::vector<int16_t>();
      if (!small.empty()) {
        const auto* const from = in.as<const uint8_t>();
        if (out.dtype == DType::int16) correlate_bytes(from, out.as<int16_t>(), coef, small.data(), bytes);
        else if (out.dtype == DType::float32) correlate_bytes(from, out.as<float>(), coef, small.data(), bytes);
        else correlate_bytes(from, out.as<uint8_t>(), coef, small.data(), bytes);
        return;
      }
      const bool kept = coef.window[0] == 1 && std::max(coef.window[1], coef.window[2]) <= kMostKept;
      const bool wider = in.dtype == DType::uint8 && out.dtype == DType::int16;
      if (kept && !wider && window::has_stencils(in.dtype)) {
        window::taps_rows(in, out, w, weights, best_target());
        return;
      }
      dispatch(in.dtype, [&]<class T>(TypeTag<T>) { correlate_on_host(in.as<const T>(), out, coef, weights, bytes); });
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
