// SPDX-License-Identifier: Apache-2.0
#include "stage/sample_form.h"

#include <algorithm>
#include <cmath>

namespace penstock {
namespace {

constexpr int64_t kNarrow = int64_t{1} << 31;

bool reads_all(const DimMap& m) {
  int64_t lo, hi;
  m.valid(lo, hi);
  return lo == 0 && hi == m.out;
}

bool same_window(const DimMap& a, const DimMap& b) {
  return !a.filter && !b.filter && !a.warped && a.in == b.in && a.start == b.start && a.step == b.step &&
         a.extent == b.extent && a.out == b.out && a.begin == b.begin && a.end == b.end;
}

int64_t reach(const DimMap& m) { return std::max({m.in, m.extent, m.out}); }

}  // namespace

bool SampleForm::make(const Placement& placement, const Shape& out, const SampleGeometry& g, const FormTaps& taps,
                      size_t element) {
  known_ = false;
  const int n = placement.ndim();
  if (n < 2 || n > 3 || placement.warps() || g.fills || g.dims.size() != 2 || g.plane_pick >= 0 ||
      (n == 3) != g.has_plane)
    return false;
  dims_.clear();
  for (int d = 0; d < n; ++d) dims_.push_back(placement[d]);
  for (int d = 0; d < 2; ++d) {
    const DimMap& m = dims_[d];
    if (!m.filter || !m.filter->window.empty() || g.dims[d].filter < 0 || !reads_all(m)) return false;
  }
  inner_ = 1, offset_ = 0;
  if (n == 3) {
    if (dims_[2].filter || !reads_all(dims_[2])) return false;
    inner_ = dims_[2].in, offset_ = dims_[2].start;
  }
  out_ = out, taps_ = taps;
  element_ = static_cast<int64_t>(element);
  return known_ = std::fabs(taps.x.scale) <= taps.most_scale;
}

bool SampleForm::fits_window(const AxisWindow& w, int64_t in, const DimMap& like, const AxisTaps& taps,
                             AlikeAxis& axis) const {
  const AxisFilter& own = *like.filter;
  if (own.nearest != NearestRule::center || own.bits || is_area(own.kind)) return false;  // other scales
  if (own.int16_weights || w.kind != own.kind || w.antialias != own.antialias || w.out != own.out) return false;
  // Taps that the axis is too short for are left to the long way: few images are that small.
  if (in < taps.full || taps.in < taps.full) return false;
  axis.lo = w.lo;
  axis.scale = (w.hi - w.lo) / static_cast<double>(w.out);
  axis.in = in;
  axis.taps = taps.taps;
  return true;
}

bool SampleForm::fits_axis(const DimMap& m, const DimMap& like, const AxisTaps& taps, int64_t stride,
                           AlikeAxis& axis) const {
  if (!m.filter || m.out != like.out || !reads_all(m) || m.step != like.step) return false;
  const AxisFilter& f = *m.filter;
  if (f.border != like.filter->border ||
      !fits_window({f.lo, f.hi, f.out, f.kind, f.antialias}, m.extent, like, taps, axis))
    return false;
  axis.begin = m.after_start, axis.step = m.after_step;
  axis.hop = m.step * stride;
  axis.stride = stride;
  return true;
}

// No other text, and no offset of 2^31.
bool SampleForm::fits_text(const AlikeSample& s, int64_t row, int64_t reach_y, int64_t reach_x) const {
  return std::fabs(s.x.scale) <= taps_.most_scale && row < kNarrow && reach_y * row + (reach_x + 1) * inner_ < kNarrow;
}

bool SampleForm::fits(const Placement& p, AlikeSample& s) const {
  if (!known_ || p.ndim() != dims_.size() || p.warps() || p.fill_values().size() > 1) return false;
  const DimMap &y = p[0], &x = p[1];
  if (p.ndim() == 3 && !same_window(p[2], dims_[2])) return false;
  const int64_t row = x.in * inner_;
  if (!fits_axis(y, dims_[0], taps_.y, row, s.y) || !fits_axis(x, dims_[1], taps_.x, inner_, s.x) ||
      !fits_text(s, row, reach(y), reach(x)))
    return false;
  s.offset = (y.start * row + x.start * inner_ + offset_) * element_;
  return true;
}

bool SampleForm::fits(const Batch& in, std::span<const ImageWindow> windows, std::span<const uint8_t> kind_of,
                      std::span<const AlikeSample> kinds, std::span<AlikeSample> samples) const {
  const DimMap &y = dims_[0], &x = dims_[1];
  const AxisTaps taps_y = taps_.y, taps_x = taps_.x;
  const int ndim = dims_.size();
  const int64_t channels = ndim == 3 ? dims_[2].in : 0, inner = inner_, offset = offset_ * element_;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Shape& shape = in.shape(static_cast<int>(i));
    if (shape.size() != ndim || (ndim == 3 && shape[2] != channels)) return false;
    const int64_t height = shape[0], width = shape[1], row = width * inner;
    AlikeSample& s = samples[i];
    s = kinds[kind_of[i]];
    if (!fits_window(windows[i].y, height, y, taps_y, s.y) || !fits_window(windows[i].x, width, x, taps_x, s.x))
      return false;
    s.y.hop = s.y.stride = row;  // the window is the first map: nothing has turned the source
    s.x.hop = s.x.stride = inner;
    s.offset = offset;
    if (!fits_text(s, row, std::max(height, y.out), std::max(width, x.out))) return false;
  }
  return true;
}

}  // namespace penstock
