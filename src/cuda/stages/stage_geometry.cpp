// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/stage_geometry.h"

#include <algorithm>

#include "batch/view_part.h"

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
  for (int64_t& extent : source_extent) extent = 1;
  tiling.x.window = tiling.y.window = nullptr;
}

void refer_to_own_windows(SampleGeometry& g) {
  const int n = g.dims.size();
  const auto own = [&](int d) { return g.filters[g.dims[d].filter].filter.window.data(); };
  if (g.tiling.x.window) g.tiling.x.window = own(n - 1);
  if (g.tiling.y.window) g.tiling.y.window = own(n - 2);
}

SampleGeometry& GeometryList::add() {
  if (n_ == kept_.size()) kept_.push_back(std::make_unique<SampleGeometry>());
  kept_[n_]->clear();
  return *kept_[n_++];
}

void merge_dims(SampleGeometry& g, int inputs) {
  FixedVector<LoopDim, Shape::kMaxDims> merged;
  for (const auto& d : g.dims) {
    if (d.extent == 1 && d.lo == 0 && d.hi == 1) continue;
    const bool whole = d.lo == 0 && d.hi == d.extent;
    bool fits = whole && !merged.empty() && merged.back().lo == 0 && merged.back().hi == merged.back().extent &&
                merged.back().out_stride == d.out_stride * d.extent;
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
  if (last.extent > 4 || last.lo != 0 || last.hi != last.extent) return;
  g.plane = last, g.has_plane = true;
  g.in_planes = g.out_planes = static_cast<int>(last.extent);
  g.dims.pop_back();
}

StageGeometry::StageGeometry(const StageCode& code)
    : code_(code), out_type_(type_of(code.program, code.program.outputs[0])) {
  const auto& p = code.program;
  layout_ = code.decodes ? Layout("HWC") : code.maps ? p.inputs[0].layout : out_type_.layout;
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
      nodes[i].op->map(c, *placement);
    }
}

Shape StageGeometry::output_shape(const SampleContext& context, std::span<const View> in,
                                  std::optional<Placement>& placement) const {
  if (same_shape_ && in[0].volume() > 0) return in[0].shape;
  if (maps_give_shape_) {
    place(context, in[0].shape, placement);
    Shape s = in[0].shape;
    for (int d = 0; d < placement->ndim(); ++d) s[out_dim_[d]] = placement->extent(d);
    return s;
  }
  FixedVector<Shape, kMaxStageInputs> shapes;
  for (const View& v : in) shapes.push_back(v.shape);
  return value_shapes(code_.program, context, shapes)[code_.program.outputs[0]];
}

void StageGeometry::add(const SampleContext& context, std::span<const View> in, Shape& shape, GeometryList& to) const {
  std::optional<Placement> placement;
  shape = output_shape(context, in, placement);
  if (code_.has_frames) return add_frames(context, in, shape, to);
  if (shape.volume() == 0) return;
  if (code_.maps && !placement) place(context, in[0].shape, placement);
  add_one(context, in, shape, dense_strides(shape), placement ? &*placement : nullptr, to.add());
}

void StageGeometry::add_frames(const SampleContext& context, std::span<const View> in, const Shape& shape,
                               GeometryList& to) const {
  std::optional<Placement> placement;
  const View out{nullptr, out_type_.dtype, out_type_.layout, shape, dense_strides(shape)};
  int64_t frames = 1;
  const auto& p = code_.program;
  for (const auto& node : p.nodes) {
    const ValueType& type = type_of(p, node.operands[0]);
    const int dim = type.layout.find('F');
    for (const auto& [argument, batch] : node.op->frame_arguments) {
      const int64_t n = frames_of(*batch, context.index);
      if (n == 1) continue;
      if (dim < 0)
        bad_argument("{} has {} values per frame for sample {}, which has no frames (layout '{}')", argument->name, n,
                     context.index, type.layout.str());
      if (n != in[0].shape[dim])
        bad_argument("{} has {} values per frame for sample {}, which has {} frames", argument->name, n, context.index,
                     in[0].shape[dim]);
      frames = n;
    }
  }
  const int dim = out_type_.layout.find('F');
  if (out.volume() == 0) return;
  if (frames == 1 || dim < 0) {
    if (code_.maps) place(context, in[0].shape, placement);
    return add_one(context, in, shape, out.strides, placement ? &*placement : nullptr, to.add());
  }
  std::vector<View> of_frame(in.begin(), in.end());
  for (int64_t frame = 0; frame < frames; ++frame) {
    for (size_t k = 0; k < in.size(); ++k) {
      const int at = dim - (shape.size() - in[k].shape.size());
      if (at >= 0 && in[k].shape[at] != 1) of_frame[k] = part(in[k], at, frame, 1);
    }
    SampleContext c = context;
    c.frame = frame;
    if (code_.maps) place(c, of_frame[0].shape, placement);
    SampleGeometry& g = to.add();
    const View to_frame = part(out, dim, frame, 1);
    add_one(c, of_frame, to_frame.shape, to_frame.strides, placement ? &*placement : nullptr, g);
    // the views have moved on
    g.out += reinterpret_cast<intptr_t>(to_frame.data);
    for (size_t k = 0; k < in.size(); ++k) g.in[k] += of_frame[k].as<char>() - in[k].as<char>();
  }
}

void StageGeometry::add_one(const SampleContext& context, std::span<const View> in, const Shape& shape,
                            const Shape& strides, const Placement* placement, SampleGeometry& g) const {
  const auto& p = code_.program;
  const int inputs = static_cast<int>(in.size());
  g.context = context;
  const bool maps = code_.maps;
  const Layout& layout = layout_;
  if (maps) g.fill_values.assign(placement->fill_values().begin(), placement->fill_values().end());
  const int n = maps ? placement->ndim() : shape.size();
  const int* at = out_dim_;

  // The channels are planes where a pixel function looks at them, or where each has a fill of its own.
  int plane = -1;
  if (code_.needs_channels || (maps && g.fill_values.size() > 1)) {
    plane = layout.find('C');
    if (plane < 0 && code_.needs_channels && layout.empty() && n > 0) plane = n - 1;
  }
  // So that one thread finds a pixel's taps for all its channels.
  constexpr int64_t kFewPlanes = 4;
  if (plane < 0 && (code_.filters || code_.warps))
    if (const int c = layout.find('C'); c >= 0 && in[0].shape[c] <= kFewPlanes) plane = c;
  const auto in_bytes = static_cast<int64_t>(size_of(in[0].dtype));
  bool warped = false;
  if (maps && placement->warps()) {
    warped = true;
    g.affine = placement->affine_map();
  }
  int filtered = 0;
  for (int d = 0; d < n; ++d) {
    LoopDim dim;
    dim.out_stride = strides[at[d]];
    if (maps) {
      const DimMap& m = (*placement)[d];
      dim.extent = m.out;
      const int64_t stride = in[0].strides[d];
      const int axis = !warped                                   ? -1
                       : layout[d] == 'W'                        ? 0
                       : layout[d] == 'H'                        ? 1
                       : layout[d] == 'D' && g.affine->dims == 3 ? 2
                                                                 : -1;
      if (axis >= 0) {
        if (m.start != 0 || m.step != 1 || m.extent != m.in || m.after_start != 0 || m.after_step != 1)
          fail(ErrorKind::internal, "windows and a warp cannot be combined in one stage");
        dim.axis = axis, dim.in_stride[0] = stride, dim.lo = 0, dim.hi = m.out;
        g.source_extent[axis] = m.in;
      } else {
        m.valid(dim.lo, dim.hi);
        if (m.filter) {
          dim.filter = g.filters.size();
          dim.in_stride[0] = stride;
          g.filters.emplace_back(*m.filter, m.extent, m.after_start + m.after_step * dim.lo, m.after_step, m.step);
          g.in[0] += m.start * stride * in_bytes;
          if (!g.filters.back().picks() && d == plane)
            bad_argument("at most three dimensions can be resampled, and not the channels");
          filtered += !g.filters.back().picks();
        } else {
          dim.in_stride[0] = stride * m.step;
          g.in[0] += m.start * stride * in_bytes;
        }
        g.fills |= dim.hi - dim.lo != dim.extent;
      }
    } else {
      dim.extent = shape[at[d]];
      if (d == plane) {  // of the inputs: an operator may change their number
        dim.extent = 1;
        for (int k = 0; k < inputs; ++k)
          if (const int own = d - (n - in[k].shape.size()); own >= 0)
            dim.extent = std::max(dim.extent, in[k].shape[own]);
      }
      dim.hi = dim.extent;
      for (int k = 0; k < inputs; ++k) {  // trailing dimensions are aligned, extents of 1 are repeated
        const int own = d - (n - in[k].shape.size());
        dim.in_stride[k] = own < 0 || in[k].shape[own] == 1 ? 0 : in[k].strides[own];
      }
    }
    if (d == plane) {
      g.plane = dim, g.has_plane = true;
      g.plane_pick = dim.filter;
    } else {
      g.dims.push_back(dim);
    }
  }
  if (filtered > 3) bad_argument("at most three dimensions can be resampled, and not the channels");
  g.indexed = filtered == 0;
  if (warped && (g.source_extent[0] == 0 || g.source_extent[1] == 0 || g.source_extent[2] == 0)) {
    if (!g.affine->border_fill) bad_argument("an empty image cannot be warped without a fill_value");
    for (auto& d : g.dims)
      if (d.axis >= 0) d.hi = 0;  // all is fill
    g.fills = true;
  }
  static constexpr int64_t kMostPlanes = 256;
  const auto check = [](int64_t planes) {
    if (planes > kMostPlanes) bad_argument("at most {} channels are supported here, got {}", kMostPlanes, planes);
  };
  if (g.has_plane && code_.needs_channels) {
    check(g.plane.hi - g.plane.lo);
    g.in_planes = static_cast<int>(g.plane.hi - g.plane.lo);
    g.out_planes = g.in_planes;
    for (const auto& node : p.nodes) g.out_planes = node.op->channels(g.out_planes);
    check(g.out_planes);
  } else if (g.has_plane) {
    g.in_planes = g.out_planes = static_cast<int>(g.plane.hi - g.plane.lo);
  } else if (code_.needs_channels) {
    for (const auto& node : p.nodes) g.out_planes = node.op->channels(g.out_planes);
  }
  if (g.in_planes == 0) {  // a window outside of the channels
    g.in_planes = 1, g.out_planes = std::max(g.out_planes, 1), g.fills = true;
    if (g.dims.empty()) g.dims.push_back({});
    g.dims[0].lo = g.dims[0].hi = 0;
  }
}

}  // namespace penstock
