// SPDX-License-Identifier: Apache-2.0
#include "stage/geometry.h"

#include <algorithm>

#include "batch/view_part.h"
#include "stage/frame_pixels.h"
#include "stage/frames.h"

namespace penstock {

int64_t SampleGeometry::positions() const {
  int64_t n = 1;
  for (const auto& d : dims) n *= d.extent;
  return n;
}

void SampleGeometry::clear() {
  for (int64_t& offset : in) offset = 0;
  out = 0;
  dims.clear(), filters.clear(), fill_values.clear();
  plane = {};
  has_plane = fills = indexed = false;
  plane_pick = -1;
  in_planes = out_planes = 1;
  affine.reset();
  frame = {};
  for (int64_t& extent : source_extent) extent = 1;
}

void leave_out_fills(SampleGeometry& g, std::span<const int64_t> in_bytes, int64_t out_bytes) {
  const auto leave_out = [&](LoopDim& d) {
    for (size_t k = 0; k < in_bytes.size(); ++k) g.in[k] += d.lo * d.in_stride[k] * in_bytes[k];
    g.out += d.lo * d.out_stride * out_bytes;
    d.extent = d.hi - d.lo;
    d.lo = 0, d.hi = d.extent;
  };
  for (LoopDim& d : g.dims) leave_out(d);
  leave_out(g.plane);
}

void merge_dims(SampleGeometry& g, int inputs, int64_t planes, bool joins) {
  FixedVector<LoopDim, Shape::kMaxDims> merged;
  for (const auto& d : g.dims) {
    if (d.extent == 1 && d.lo == 0 && d.hi == 1) continue;
    const bool whole = d.lo == 0 && d.hi == d.extent;
    bool fits = joins && whole && !merged.empty() && merged.back().lo == 0 &&
                merged.back().hi == merged.back().extent && merged.back().out_stride == d.out_stride * d.extent;
    for (int k = 0; fits && k < inputs; ++k) fits = merged.back().in_stride[k] == d.in_stride[k] * d.extent;
    if (fits) {
      const int64_t extent = merged.back().extent * d.extent;
      merged.back() = d;
      merged.back().extent = merged.back().hi = extent;
    } else {
      merged.push_back(d);
    }
  }
  if (merged.empty() && !g.dims.empty()) merged.push_back(g.dims.back());  // a single position still is one of a row
  g.dims = std::move(merged);
  // A few channels that stay the innermost dimension go through together, as planes.
  if (g.has_plane || g.dims.size() < 2) return;
  const LoopDim& last = g.dims.back();
  if (last.extent > planes || last.lo != 0 || last.hi != last.extent) return;
  g.plane = last, g.has_plane = true;
  g.in_planes = g.out_planes = static_cast<int>(last.extent);
  g.dims.pop_back();
}

StageGeometry::StageGeometry(const StageCode& code, PlaneRule rule)
    : code_(code), out_type_(type_of(code.program, code.program.outputs[0])), rule_(rule) {
  const auto& p = code.program;
  const Layout& source = code.reads_frames ? pixel_type(code).layout : p.inputs[0].layout;
  layout_ = code.decodes ? Layout("HWC") : code.maps ? source : out_type_.layout;
  for (int d = 0; d < Shape::kMaxDims; ++d) {
    const int k = layout_ == out_type_.layout || d >= layout_.size() ? -1 : out_type_.layout.find(layout_[d]);
    out_dim_[d] = k >= 0 ? k : d;
  }
  bool follows = p.sizes.empty() && !code.has_frames && !code.decodes;
  for (const auto& t : code.traits) follows &= !t.own_shapes;
  same_shape_ = follows && !code.maps && p.inputs.size() == 1;
  for (const auto& node : p.nodes) same_shape_ &= node.type.layout == p.inputs[0].layout;
  maps_give_shape_ = follows && code.maps && p.inputs.size() == 1;
}

void StageGeometry::place(const SampleContext& context, const Shape& in, std::optional<Placement>& placement) const {
  if (placement) placement->begin(in);
  else placement.emplace(in, layout_);
  const auto& nodes = code_.program.nodes;
  SampleContext c = context;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (code_.traits[i].maps) {
      c.draws = nodes[i].draws;
      as_operator(*nodes[i].op, [&] { nodes[i].op->map(c, *placement); });
    }
}

Shape StageGeometry::output_shape(const SampleContext& context, std::span<const Shape> in,
                                  std::optional<Placement>& placement) const {
  if (same_shape_ && in[0].volume() > 0) return in[0];
  if (maps_give_shape_) {
    place(context, in[0], placement);
    Shape s = in[0];
    for (int d = 0; d < placement->ndim(); ++d) s[out_dim_[d]] = placement->extent(d);
    return s;
  }
  return value_shapes(code_.program, context, in)[static_cast<size_t>(code_.program.outputs[0])];
}

void StageGeometry::add(const SampleContext& context, std::span<const View> in, Shape& shape, GeometrySink& to) const {
  if (code_.has_frames) return add_frames(context, in, shape, to);
  FixedVector<Shape, kMaxStageInputs> shapes;
  for (const View& v : in) shapes.push_back(v.shape);
  std::optional<Placement> placement;
  shape = output_shape(context, shapes, placement);
  if (shape.volume() == 0) return;
  if (code_.reads_frames) return add_pixels(context, in[0], shape, to);
  if (code_.maps && !placement) place(context, in[0].shape, placement);
  add_loops(context, in, shape, dense_strides(shape), placement ? &*placement : nullptr, to.add());
}

// A frame begins at an address; its pixels are at places.
void StageGeometry::add_pixels(const SampleContext& context, const View& in, const Shape& shape,
                               GeometrySink& to) const {
  FrameAddress address;
  const View pixels = pixel_view(code_, context, in, address);
  std::optional<Placement> placement;
  place(context, pixels.shape, placement);
  SampleGeometry& g = to.add();
  add_loops(context, std::span(&pixels, 1), shape, dense_strides(shape), &*placement, g);
  g.frame = address;
  std::swap(g.frame.at, g.in[0]);
}

void StageGeometry::add_frames(const SampleContext& context, std::span<const View> in, Shape& shape,
                               GeometrySink& to) const {
  FixedVector<Shape, kMaxStageInputs> in_shapes;
  for (const View& v : in) in_shapes.push_back(v.shape);
  const std::vector<Shape> shapes = value_shapes(code_.program, context, in_shapes);
  shape = shapes[static_cast<size_t>(code_.program.outputs[0])];
  const int64_t frames = differing_frames(code_, context.index, shapes);
  if (shape.volume() == 0) return;
  std::optional<Placement> placement;
  if (code_.reads_frames && frames == 1) return add_pixels(context, in[0], shape, to);
  const View out{nullptr, out_type_.dtype, out_type_.layout, shape, dense_strides(shape)};
  const int dim = out_type_.layout.find('F');
  if (frames == 1 || dim < 0) {
    if (code_.maps) place(context, in[0].shape, placement);
    return add_loops(context, in, shape, out.strides, placement ? &*placement : nullptr, to.add());
  }
  std::vector<View> of_frame(in.size());
  for (int64_t frame = 0; frame < frames; ++frame) {
    for (size_t k = 0; k < in.size(); ++k) of_frame[k] = frame_of(in[k], dim, shape.size(), frame);
    SampleContext c = context;
    c.frame = frame;
    if (code_.maps) place(c, of_frame[0].shape, placement);
    SampleGeometry& g = to.add();
    const View to_frame = part(out, dim, frame, 1);
    add_loops(c, of_frame, to_frame.shape, to_frame.strides, placement ? &*placement : nullptr, g);
    // the views have moved on
    g.out += reinterpret_cast<intptr_t>(to_frame.data);
    for (size_t k = 0; k < in.size(); ++k) g.in[k] += of_frame[k].as<char>() - in[k].as<char>();
  }
}

Coverage coverage_of(const Placement& placement) {
  Coverage c = Coverage::all;
  for (int d = 0; d < placement.ndim(); ++d) {
    int64_t lo, hi;
    placement[d].valid(lo, hi);
    if (hi == lo) return Coverage::none;
    if (hi - lo != placement[d].out) c = Coverage::some;
  }
  return c;
}

// A stage resamples at most three dimensions, none of them the planes.
static void check_filters(const Placement& placement, int plane) {
  int filtered = 0;
  bool planes = false;
  for (int d = 0; d < placement.ndim(); ++d) {
    const auto& filter = placement[d].filter;
    if (!filter || filter->kind == FilterKind::nearest) continue;
    ++filtered, planes |= d == plane;
  }
  if (filtered > 3 || planes) bad_argument("at most three dimensions can be resampled, and not the channels");
}

// The axis of a warp that a dimension is: 0 x, 1 y, 2 z; -1: none.
static int warp_axis(const Placement& placement, int d) {
  if (!placement[d].warped) return -1;
  const char letter = placement.layout()[d];
  return letter == 'W' ? 0 : letter == 'H' ? 1 : 2;
}

// Before a warp nothing may move the dimensions that it gives; windows after it lie inside its result, because what it
// reads outside and what they would are other values. False: the source is empty, all outputs are fill.
static bool check_warp(const Placement& placement) {
  bool empty = false;
  for (int d = 0; d < placement.ndim(); ++d) {
    const DimMap& m = placement[d];
    if (!m.warped) continue;
    int64_t lo, hi;
    m.valid(lo, hi);
    if (m.start != 0 || m.step != 1 || hi - lo != m.out)
      fail(ErrorKind::internal, "this window and a warp cannot be combined in one stage");
    empty |= m.in == 0;
  }
  if (empty && !placement.affine_map().border_fill)
    bad_argument("an empty image cannot be warped without a fill_value");
  return !empty;
}

static int check_planes(int64_t planes) {
  if (planes > kMostPlanes) bad_argument("at most {} channels are supported here, got {}", kMostPlanes, planes);
  return static_cast<int>(planes);
}

Planes StageGeometry::planes_of(std::span<const View> in, const Placement* placement, int ndim) const {
  const bool reads_all = code_.needs_channels;
  Planes planes;
  if (reads_all || (placement && rule_.filled_apart && placement->fill_values().size() > 1)) {
    planes.dim = layout_.find('C');
    if (planes.dim < 0 && reads_all && layout_.empty() && ndim > 0) planes.dim = ndim - 1;
  }
  int64_t n = 1;
  const auto count = [&](int d) {
    if (placement) {
      int64_t lo, hi;
      (*placement)[d].valid(lo, hi);
      return hi - lo;
    }
    int64_t most = 1;  // of the inputs: an operator may change their number
    for (const View& v : in)
      if (const int own = d - (ndim - v.shape.size()); own >= 0) most = std::max(most, v.shape[own]);
    return most;
  };
  if (planes.dim >= 0) {
    n = count(planes.dim);
  } else if (code_.filters || code_.warps) {
    // So that a pixel's taps are found once for all its channels.
    const int c = layout_.find('C');
    const bool resampled = c >= 0 && placement && (*placement)[c].filter;
    if (c >= 0 && !resampled && in[0].shape[c] <= rule_.filtered && count(c) <= kMostPlanes)
      planes.dim = c, n = count(c);
  }
  planes.in = reads_all ? check_planes(n) : static_cast<int>(n);
  planes.out = planes.in;
  if (!reads_all) return planes;
  for (const auto& node : code_.program.nodes) planes.out = node.op->channels(planes.out);
  check_planes(planes.out);
  return planes;
}

// A dimension of the only input that the maps move.
void StageGeometry::add_mapped(const View& in, const DimMap& m, int d, bool is_plane, LoopDim& dim,
                               SampleGeometry& g) const {
  const int64_t stride = in.strides[d], bytes = static_cast<int64_t>(size_of(in.dtype));
  dim.extent = m.out;
  m.valid(dim.lo, dim.hi);
  dim.start = m.start, dim.step = m.step;
  if (m.filter) {
    dim.filter = g.filters.size();
    dim.in_stride[0] = stride;
    const int64_t begin = m.after_start + m.after_step * dim.lo;
    const DimFilter& f = g.filters.emplace_back(*m.filter, m.extent, begin, m.after_step);
    g.indexed &= f.picks();
    if (is_plane) g.plane_pick = dim.filter;
  } else {
    dim.in_stride[0] = stride * m.step;
  }
  g.in[0] += m.start * stride * bytes;
  g.fills |= dim.hi - dim.lo != dim.extent;
}

void StageGeometry::add_loops(const SampleContext& context, std::span<const View> in, const Shape& shape,
                              const Shape& strides, const Placement* placement, SampleGeometry& g) const {
  g.context = context;
  const int n = placement ? placement->ndim() : shape.size();
  const Planes planes = planes_of(in, placement, n);
  const bool warped = placement && placement->warps();
  bool empty = false;
  g.indexed = true;
  if (placement) {
    g.fill_values.assign(placement->fill_values().begin(), placement->fill_values().end());
    check_filters(*placement, planes.dim);
  }
  if (warped) {
    g.affine = placement->affine_map();
    g.fills = empty = !check_warp(*placement);
  }
  for (int d = 0; d < n; ++d) {
    LoopDim dim;
    dim.out_stride = strides[out_dim_[d]];
    if (placement) {
      const DimMap& m = (*placement)[d];
      dim.axis = warp_axis(*placement, d);
      if (dim.axis >= 0) {
        dim.extent = m.out, dim.hi = empty ? 0 : m.out;
        dim.start = m.after_start, dim.step = m.after_step;
        dim.in_stride[0] = in[0].strides[d];
        g.source_extent[dim.axis] = m.in;
      } else {
        add_mapped(in[0], m, d, d == planes.dim, dim, g);
      }
    } else {
      dim.extent = dim.hi = d == planes.dim ? planes.in : shape[out_dim_[d]];
      for (size_t k = 0; k < in.size(); ++k) {  // trailing dimensions are aligned, extents of 1 are repeated
        const int own = d - (n - in[k].shape.size());
        dim.in_stride[k] = own < 0 || in[k].shape[own] == 1 ? 0 : in[k].strides[own];
      }
    }
    if (d == planes.dim) g.plane = dim, g.has_plane = true;
    else g.dims.push_back(dim);
  }
  g.in_planes = planes.in, g.out_planes = planes.out;
  if (g.in_planes > 0) return;
  // A window that has no channel.
  g.in_planes = 1, g.out_planes = std::max(g.out_planes, 1), g.fills = true;
  if (g.dims.empty()) g.dims.push_back({});
  g.dims[0].lo = g.dims[0].hi = 0;
}

}  // namespace penstock
