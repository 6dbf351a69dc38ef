// SPDX-License-Identifier: Apache-2.0
// Regions of .npy files: which one, and how it is read. For readers.numpy and its form that loads.
#pragma once
#include <functional>

#include "base/memory.h"
#include "data/npy.h"
#include "data/root_path.h"
#include "data/storage.h"
#include "operator/any_number.h"
#include "operator/operator.h"

namespace penstock {

// The elements that are read, along each axis: they may lie outside the array.
struct NpyRegion {
  Shape first, extent;
};

// The arguments that say which region.
struct NumpyWindow {
  PerSample<std::vector<int64_t>> roi_start, roi_end, roi_shape;
  PerSample<std::vector<float>> rel_roi_start, rel_roi_end, rel_roi_shape;
  Optional<std::vector<int64_t>> roi_axes;
  std::string out_of_bounds_policy = "error";
  float fill_value = 0;

  bool has_region() const;
  void check_region() const;  // without looking at values of single samples
  // The region of a sample whose array has this shape; the whole array if none is given.
  NpyRegion region_of(int sample, const Shape& shape) const;
};

template <class Op> Schema<Op>&& numpy_window_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("roi_start", &Op::roi_start, "First element of the region, one value per axis.")
      .arg("roi_end", &Op::roi_end, "Element after the last one.")
      .arg("roi_shape", &Op::roi_shape, "Extent of the region.")
      .arg("rel_roi_start", &Op::rel_roi_start, "roi_start in units of the array's extent.")
      .arg("rel_roi_end", &Op::rel_roi_end, "roi_end in units of the array's extent.")
      .arg("rel_roi_shape", &Op::rel_roi_shape, "roi_shape in units of the array's extent.")
      .arg("roi_axes", &Op::roi_axes, "The axes that the values belong to; default: all.")
      .arg("out_of_bounds_policy", &Op::out_of_bounds_policy,
           "error; pad: fill_value; trim_to_shape: the region is clipped to the array.")
      .arg("fill_value", &Op::fill_value, "Value outside the array.", any_number);
}

// The arguments that say which files.
struct NumpyFiles {
  std::string file_root, file_list, file_filter = "*.npy";
  bool allow_outside_root = false;
  std::vector<std::string> files;
  std::vector<std::string> list_arrays() const;
};
template <class Op> Schema<Op>&& numpy_file_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("file_root", &Op::file_root,
           "Folder whose files, and those of its subfolders, are read; or the start of relative paths.")
      .arg("file_filter", &Op::file_filter, "Glob pattern; names that match are read.")
      .arg("file_list", &Op::file_list, "Text file with a path on each line.")
      .arg("allow_outside_root", &Op::allow_outside_root, kAllowOutsideText)
      .arg("files", &Op::files, "Paths of the files.");
}

NpyHeader read_npy_header(const OpenFile& file);

using AllocateBytes = std::function<std::shared_ptr<void>(size_t)>;
// Reads the rows that contain the region, and writes it to `to`, in C order. Memory that is needed meanwhile comes from
// `allocate`.
void read_npy_region(const OpenFile& file, const NpyHeader& h, const NpyRegion& region, float fill,
                     const AllocateBytes& allocate, void* to);

}  // namespace penstock
