// SPDX-License-Identifier: Apache-2.0
#include "operator/placement.h"

#include <algorithm>

namespace penstock {

void Placement::window(int dim, int64_t start, int64_t extent, int step) {
  DimMap& d = dims_[dim];
  if (extent < 0) bad_argument("a window of negative size {}", extent);
  const bool after = d.resampled();
  const int64_t s = after ? d.after_start : d.start, t = after ? d.after_step : d.step;
  d.begin = std::max(d.begin, t > 0 ? s : s - d.out + 1);
  d.end = std::max(d.begin, std::min(d.end, t > 0 ? s + d.out : s + 1));
  if (after) {
    d.after_start += d.after_step * start;
    d.after_step *= step;
  } else {
    d.start += d.step * start;
    d.step *= step;
    d.extent = extent;
  }
  d.out = extent;
}

void Placement::filter(int dim, AxisFilter f) {
  DimMap& d = dims_[dim];
  if (d.filter || warps()) fail(ErrorKind::internal, "dimension {} of one stage is filtered twice", dim);
  if (f.out < 0) bad_argument("a size must not be negative, got {}", f.out);
  if (f.out > 0 && d.out == 0) bad_argument("an empty dimension cannot be resampled to {} samples", f.out);
  d.extent = d.out;
  d.out = d.end = f.out;
  d.begin = 0;
  d.filter = std::move(f);
}

void Placement::shrink_source(int dim, int eighths) {
  DimMap& d = dims_[dim];
  AxisFilter& f = *d.filter;
  const int64_t in = (d.in * eighths + 7) / 8;
  // The window [low, high) of the source, in samples of the smaller picture, rounded to whole ones.
  const int64_t low = d.step > 0 ? d.start : d.start - d.extent + 1, high = low + d.extent;
  const int64_t first = low * eighths / 8, last = std::min((high * eighths + 7) / 8, in);
  const double scale = eighths / 8.0;
  const double shift = d.step > 0 ? static_cast<double>(low) * scale - static_cast<double>(first)
                                  : static_cast<double>(last) - static_cast<double>(high) * scale;
  f.lo = f.lo * scale + shift;
  f.hi = f.hi * scale + shift;
  d.in = in;
  d.extent = last - first;
  d.start = d.step > 0 ? first : last - 1;
}

void Placement::fill(std::span<const float> values) {
  if (values.size() == 1) fill(values[0]);
  else fills_.assign(values.begin(), values.end());
}

void Placement::affine(const AffineMap& a) {
  affine_ = a;
  const char* letters = a.dims == 3 ? "DHW" : "HW";
  for (int i = 0; i < a.dims; ++i) {
    DimMap& d = dims_[dim(letters[i])];
    d.extent = d.out;
    d.out = d.end = a.out[3 - a.dims + i];
    d.begin = 0;
    d.warped = true;
  }
}

Shape Placement::shape() const {
  Shape s;
  for (const auto& d : dims_) s.push_back(d.out);
  return s;
}

}  // namespace penstock
