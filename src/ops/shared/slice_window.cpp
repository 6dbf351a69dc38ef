// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/slice_window.h"

#include <cmath>

#include "ops/shared/axes.h"

namespace penstock {
namespace {

// Half away from zero, as for DALI's coordinates.
int64_t to_index(double v) {
  if (!(std::fabs(v) < 9e15)) bad_argument("the coordinate {} is out of range", v);
  return std::llround(v);
}

// Integer tensors are absolute, whatever the flags say.
bool is_relative(const PerSample<std::vector<double>>& v, bool normalized) {
  return normalized && !(v.batch() && !is_float(v.batch()->dtype()));
}

}  // namespace

void SliceWindow::check_slice_window() const {
  auto at_most_one = [](const char* names, int count) {
    if (count > 1) bad_argument("at most one of {} can be given", names);
  };
  at_most_one("start, rel_start, anchor", start.given() + rel_start.given() + anchor.given());
  at_most_one("end, rel_end, shape, rel_shape", end.given() + rel_end.given() + shape.given() + rel_shape.given());
  if (anchor.given() && !shape.given()) bad_argument("anchor needs shape");
  if (!start.given() && !rel_start.given() && !anchor.given() && !end.given() && !rel_end.given() && !shape.given() &&
      !rel_shape.given())
    bad_argument("one of start, rel_start, end, rel_end, shape, rel_shape or the inputs anchor and shape is required");
}

std::vector<int> SliceWindow::named_axes(int sample, const Layout& layout, int ndim) const {
  if (!axes.given() || axis_names.given()) return axes_by_name(*axis_names, layout);
  const auto named = axes[sample];
  return named.empty() ? all_axes(ndim) : axes_by_number(named, ndim);
}

std::vector<SliceWindow::Window> SliceWindow::windows(int sample, const Layout& layout, const Shape& extents) const {
  const int ndim = extents.size();
  const std::vector<int> dims = named_axes(sample, layout, ndim);
  const auto without_values = [&](const auto& argument) { return !argument.given() || argument[sample].empty(); };
  if (axes.given() && !axis_names.given() && axes[sample].empty() && without_values(start) && without_values(end) &&
      without_values(shape) && without_values(rel_start) && without_values(rel_end) && without_values(rel_shape) &&
      without_values(anchor))
    return {};
  auto values = [&](const auto& argument, const char* name) {
    std::vector<double> v;
    if (!argument.given()) return v;
    const auto list = argument[sample];
    if (list.size() != dims.size())
      bad_argument("{} has {} values, but there are {} axes", name, list.size(), dims.size());
    for (const auto entry : list) v.push_back(static_cast<double>(entry));
    return v;
  };
  const auto v_start = values(start, "start"), v_end = values(end, "end"), v_shape = values(shape, "shape");
  const auto v_rel_start = values(rel_start, "rel_start"), v_rel_end = values(rel_end, "rel_end");
  const auto v_rel_shape = values(rel_shape, "rel_shape"), v_anchor = values(anchor, "anchor");
  const bool anchor_is_relative = anchor.given() && is_relative(anchor, normalized_anchor);
  const bool shape_is_relative = anchor.given() && is_relative(shape, normalized_shape);
  std::vector<Window> out;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool relative_start = rel_start.given() || anchor_is_relative;
    const bool relative_shape = rel_shape.given() || shape_is_relative;
    const bool whole = !end.given() && !rel_end.given() && !shape.given() && !rel_shape.given();
    const double first = start.given()       ? v_start[i]
                         : rel_start.given() ? v_rel_start[i]
                         : anchor.given()    ? v_anchor[i]
                                             : 0.0;
    const double size = shape.given() ? v_shape[i] : rel_shape.given() ? v_rel_shape[i] : 0.0;
    if (shape.given() && !anchor.given() && size != std::floor(size))
      bad_argument("shape must be integers, got {}", size);
    if (size < 0) bad_argument("shape must not be negative, got {}", size);
    const int64_t have = extents[dims[i]];
    if (have < 0) {  // only an absolute size is known, whatever its start
      if (end.given() && !relative_start) out.push_back({dims[i], 0, to_index(v_end[i]) - to_index(first)});
      else if (shape.given() && !relative_shape && size == std::floor(size))
        out.push_back({dims[i], 0, to_index(size)});
      continue;
    }
    const auto extent = static_cast<double>(have);
    // Arguments are multiplied in float32 and inputs in double: this decides how a product at a half rounds.
    auto part = [&](double relative) {
      return static_cast<double>(static_cast<float>(relative) * static_cast<float>(have));
    };
    const double lo = rel_start.given() ? part(first) : anchor_is_relative ? first * extent : first;
    double hi = extent;
    if (end.given()) hi = v_end[i];
    else if (rel_end.given()) hi = part(v_rel_end[i]);
    else if (relative_start && relative_shape) hi = std::max(lo, (first + size) * extent);
    else if (!whole) hi = lo + (rel_shape.given() ? part(size) : relative_shape ? size * extent : size);
    if (hi < lo) bad_argument("the window ends before it starts: {} to {} on axis {}", lo, hi, dims[i]);
    const int64_t a = to_index(lo), b = to_index(hi);
    out.push_back({dims[i], a, b - a});
  }
  return out;
}

int64_t SliceWindow::known_extent(int sample, const Layout& layout, char axis, int64_t in) const {
  if (layout.empty()) return -1;
  const int dim = layout.find(axis);
  const Shape unknown = Shape::filled(layout.size(), -1);
  for (const Window& w : windows(sample, layout, unknown))
    if (w.dim == dim) return w.extent;
  for (int d : named_axes(sample, layout, layout.size()))
    if (d == dim) return -1;
  return in;
}

}  // namespace penstock
