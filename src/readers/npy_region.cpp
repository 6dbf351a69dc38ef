// SPDX-License-Identifier: Apache-2.0
#include "readers/npy_region.h"

#include <algorithm>

#include "data/named_files.h"
#include "ops/shared/slice_window.h"

namespace penstock {

bool NumpyWindow::has_region() const {
  return roi_start.given() || roi_end.given() || roi_shape.given() || rel_roi_start.given() || rel_roi_end.given() ||
         rel_roi_shape.given();
}

void NumpyWindow::check_region() const {
  if (out_of_bounds_policy != "error" && out_of_bounds_policy != "pad" && out_of_bounds_policy != "trim_to_shape")
    bad_argument("out_of_bounds_policy must be 'error', 'pad' or 'trim_to_shape', got '{}'", out_of_bounds_policy);
  const auto at_most_one = [](const char* names, int count) {
    if (count > 1) bad_argument("at most one of {} can be given", names);
  };
  at_most_one("roi_start, rel_roi_start", roi_start.given() + rel_roi_start.given());
  at_most_one("roi_end, rel_roi_end, roi_shape, rel_roi_shape",
              roi_end.given() + rel_roi_end.given() + roi_shape.given() + rel_roi_shape.given());
}

NpyRegion NumpyWindow::region_of(int sample, const Shape& shape) const {
  NpyRegion r{Shape::filled(shape.size(), 0), shape};
  if (!has_region()) return r;
  SliceWindow window;
  const auto take = [&]<class T>(const PerSample<std::vector<T>>& from, auto& to) {
    if (!from.given()) return;
    const auto given = from.values(sample);
    using Held = std::conditional_t<std::is_same_v<T, float>, double, T>;
    to.set({Value{std::vector<Held>(given.begin(), given.end())}, nullptr});
  };
  take(roi_start, window.start), take(roi_end, window.end), take(roi_shape, window.shape);
  take(rel_roi_start, window.rel_start), take(rel_roi_end, window.rel_end), take(rel_roi_shape, window.rel_shape);
  std::vector<int64_t> axes;
  if (roi_axes.given() && !roi_axes->empty()) axes = *roi_axes;
  else
    for (int d = 0; d < shape.size(); ++d) axes.push_back(d);
  window.axes.set({Value{axes}, nullptr});
  for (const auto& w : window.windows(0, {}, shape)) {
    r.first[w.dim] = w.start, r.extent[w.dim] = w.extent;
    const bool inside = w.start >= 0 && w.start <= shape[w.dim] && w.extent <= shape[w.dim] - w.start;
    if (inside || out_of_bounds_policy == "pad") continue;
    if (out_of_bounds_policy == "error")
      bad_data("the region {} to {} is not inside the {} elements of axis {}", w.start, w.start + w.extent,
               shape[w.dim], w.dim);
    const int64_t lo = std::clamp<int64_t>(w.start, 0, shape[w.dim]);
    r.first[w.dim] = lo, r.extent[w.dim] = std::clamp<int64_t>(w.start + w.extent, lo, shape[w.dim]) - lo;
  }
  return r;
}

std::vector<std::string> NumpyFiles::list_arrays() const {
  return list_named_files({file_root, file_list, file_filter, files, allow_outside_root});
}

NpyHeader read_npy_header(const OpenFile& file) {
  const int64_t bytes = file.stamp().bytes;
  std::vector<uint8_t> start(static_cast<size_t>(std::min<int64_t>(bytes, 256)));
  file.read(0, static_cast<int64_t>(start.size()), start.data());
  if (start.size() > 10 && (start[6] > 1 || start[8] + 256 * start[9] > 240) && bytes > 256) {  // a long header
    start.resize(static_cast<size_t>(std::min(bytes, kLongestNpyHeader)));
    file.read(0, static_cast<int64_t>(start.size()), start.data());
  }
  return read_npy_header(start, bytes);
}

void read_npy_region(const OpenFile& file, const NpyHeader& h, const NpyRegion& region, float fill,
                     const AllocateBytes& allocate, void* to) {
  const Shape &first = region.first, &extent = region.extent;
  const int ndim = h.shape.size();
  // The outermost dimension in memory order decides which part of the file is read.
  const int outer = h.fortran_order ? ndim - 1 : 0;
  const int64_t lo = ndim ? std::clamp<int64_t>(first[outer], 0, h.shape[outer]) : 0;
  const int64_t hi = ndim ? std::clamp<int64_t>(first[outer] + extent[outer], lo, h.shape[outer]) : 1;
  Shape slab = h.shape;
  if (ndim) slab[outer] = hi - lo;
  const auto size = static_cast<int64_t>(size_of(h.dtype));
  const size_t slab_bytes = checked_bytes(slab.volume(), size_of(h.dtype));
  const bool whole = extent == slab && !h.fortran_order;
  const auto memory = whole ? nullptr : allocate(slab_bytes);
  auto* rows = static_cast<uint8_t*>(whole ? to : memory.get());
  const int64_t row = slab[outer] && slab.volume() ? slab.volume() / std::max<int64_t>(1, slab[outer]) * size : 0;
  if (slab_bytes) file.read(h.data + lo * row, static_cast<int64_t>(slab_bytes), rows);
  if (whole || extent.volume() == 0) return;

  View from{rows, h.dtype, {}, slab, dense_strides(slab)};
  if (h.fortran_order) {
    int64_t stride = 1;
    for (int d = 0; d < ndim; ++d) from.strides[d] = stride, stride *= slab[d];
  }
  View part{to, h.dtype, {}, extent, dense_strides(extent)};
  const View all = part;
  bool outside = false;
  auto* read_from = static_cast<uint8_t*>(from.data);
  auto* write_to = static_cast<uint8_t*>(part.data);
  for (int d = 0; d < ndim; ++d) {
    const int64_t begin = std::clamp<int64_t>(first[d], 0, h.shape[d]);
    const int64_t end = std::clamp<int64_t>(first[d] + extent[d], begin, h.shape[d]);
    outside |= end - begin < extent[d];
    read_from += (begin - (d == outer ? lo : 0)) * from.strides[d] * size;
    write_to += (begin - first[d]) * part.strides[d] * size;
    from.shape[d] = part.shape[d] = end - begin;
  }
  if (outside) fill_strided(all, std::span(&fill, 1));
  from.data = read_from, part.data = write_to;
  if (part.shape.volume()) copy_strided(from, part);
}

}  // namespace penstock
