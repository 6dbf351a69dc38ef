// SPDX-License-Identifier: Apache-2.0
#include "cuda/stage_geometry.h"

#include <algorithm>

namespace penstock {
namespace {

// Which output dimension each iteration dimension goes to.
std::vector<int> out_dims(const Layout& from, const Layout& to, int n) {
  std::vector<int> at(n);
  for (int d = 0; d < n; ++d) {
    const int k = from == to || from.empty() || d >= from.size() ? -1 : to.find(from[d]);
    at[d] = k >= 0 ? k : d;
  }
  return at;
}

View one_frame(View v, int dim, int64_t frame) {
  v.data = v.as<char>() + frame * v.strides[dim] * static_cast<int64_t>(size_of(v.dtype));
  v.shape[dim] = 1;
  return v;
}

}  // namespace

int64_t SampleGeometry::positions() const {
  int64_t n = 1;
  for (const auto& d : dims) n *= d.extent;
  return n;
}

void merge_dims(SampleGeometry& g, int inputs) {
  std::vector<LoopDim> merged;
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
  g.dims = std::move(merged);
  // A few channels that stay the innermost dimension go through together, as planes.
  if (g.has_plane || g.dims.size() < 2) return;
  const LoopDim& last = g.dims.back();
  if (last.extent > 4 || last.lo != 0 || last.hi != last.extent) return;
  g.plane = last, g.has_plane = true;
  g.in_planes = g.out_planes = static_cast<int>(last.extent);
  g.dims.pop_back();
}

bool StageGeometry::needs_single_nodes(const SampleContext& context, std::span<const Shape> shapes) const {
  if (!code_.has_frames) return false;
  const auto& p = code_.program;
  bool any = false;
  for (const auto& node : p.nodes)
    for (const auto& [argument, batch] : node.op->frame_arguments) any |= frames_of(*batch, context.index) != 1;
  return any && p.nodes.size() > 1 && !shapes.empty();
}

void StageGeometry::add(const SampleContext& context, std::span<const View> in, const View& out,
                        std::vector<SampleGeometry>& to) const {
  int64_t frames = 1;
  const auto& p = code_.program;
  if (code_.has_frames) {
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
  }
  const int dim = type_of(p, p.outputs[0]).layout.find('F');
  if (frames == 1 || dim < 0) return add_one(context, in, out, to);
  std::vector<View> part(in.begin(), in.end());
  for (int64_t frame = 0; frame < frames; ++frame) {
    for (size_t k = 0; k < in.size(); ++k) {
      const int at = dim - (out.shape.size() - in[k].shape.size());
      if (at >= 0 && in[k].shape[at] != 1) part[k] = one_frame(in[k], at, frame);
    }
    SampleContext c = context;
    c.frame = frame;
    add_one(c, part, one_frame(out, dim, frame), to);
  }
}

void StageGeometry::add_one(const SampleContext& context, std::span<const View> in, const View& out,
                            std::vector<SampleGeometry>& to) const {
  const auto& p = code_.program;
  const ValueType& out_type = type_of(p, p.outputs[0]);
  const int inputs = static_cast<int>(in.size());
  SampleGeometry g;
  g.entry = context.index;
  g.context = context;
  g.out = out.as<char>();
  for (int k = 0; k < inputs; ++k) g.in[k] = static_cast<const char*>(in[k].data);
  if (out.volume() == 0) return;

  const bool maps = code_.maps;
  const Layout layout = code_.decodes ? Layout("HWC") : maps ? p.inputs[0].layout : out_type.layout;
  std::optional<Placement> placement;
  if (maps) {
    placement.emplace(in[0].shape, layout);
    for (size_t i = 0; i < p.nodes.size(); ++i)
      if (code_.traits[i].maps) {
        SampleContext c = context;
        c.node = p.nodes[i].id;
        p.nodes[i].op->map(c, *placement);
      }
    g.fill_values = placement->fill_values();
  }
  const int n = maps ? placement->ndim() : out.shape.size();
  const std::vector<int> at = out_dims(layout, out_type.layout, n);

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
    dim.out_stride = out.strides[at[d]];
    if (maps) {
      const DimMap& m = (*placement)[d];
      dim.extent = m.out;
      const int64_t stride = in[0].strides[d];
      const int axis = !warped ? -1 : layout[d] == 'W' ? 0 : layout[d] == 'H' ? 1 : layout[d] == 'D' && g.affine->dims == 3 ? 2 : -1;
      if (axis >= 0) {
        if (m.start != 0 || m.step != 1 || m.extent != m.in || m.after_start != 0 || m.after_step != 1)
          fail(ErrorKind::internal, "windows beside a warp in one stage");
        dim.axis = axis, dim.in_stride[0] = stride, dim.lo = 0, dim.hi = m.out;
        g.source_extent[axis] = m.in;
      } else {
        m.valid(dim.lo, dim.hi);
        if (m.filter) {
          dim.filter = static_cast<int>(g.filters.size());
          dim.in_stride[0] = stride;
          g.filters.push_back({*m.filter, m.extent, m.after_start + m.after_step * dim.lo, m.after_step, m.step});
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
      dim.extent = out.shape[at[d]];
      if (d == plane) {  // of the inputs: an operator may change their number
        dim.extent = 1;
        for (int k = 0; k < inputs; ++k)
          if (const int own = d - (n - in[k].shape.size()); own >= 0) dim.extent = std::max(dim.extent, in[k].shape[own]);
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
    if (g.dims.empty()) g.dims.emplace_back();
    g.dims[0].lo = g.dims[0].hi = 0;
  }
  to.push_back(std::move(g));
}

}  // namespace penstock
