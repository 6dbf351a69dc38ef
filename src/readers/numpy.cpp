// SPDX-License-Identifier: Apache-2.0
// readers.numpy: arrays of .npy files, or regions of them.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "data/named_files.h"
#include "data/npy.h"
#include "data/root_path.h"
#include "operator/any_number.h"
#include "ops/shared/slice_window.h"
#include "readers/direct_memory.h"
#include "readers/reader_source.h"

namespace penstock {
namespace {

struct ReadersNumpy : ReaderOptions {
  std::string file_root, file_list, file_filter = "*.npy", out_of_bounds_policy = "error";
  bool allow_outside_root = false;
  std::vector<std::string> files;
  Optional<std::vector<int64_t>> roi_start, roi_end, roi_shape, roi_axes;
  Optional<std::vector<double>> rel_roi_start, rel_roi_end, rel_roi_shape;
  float fill_value = 0;
  bool cache_header_information = false, register_buffers = true, use_o_direct = false;
  void infer(std::span<const ValueType>, std::span<ValueType>) const override {}

  static Schema<ReadersNumpy> schema() {
    using Op = ReadersNumpy;
    return Schema<Op>(
               "readers.numpy",
               "Reads arrays from .npy files, whole or a region of each.\n\nOutput: the array in its type, without a "
               "layout; Fortran order is converted to C order. For a region, only the rows that contain it are read. "
               "All arrays of a batch have one type and number of dimensions.\n\nWith device=\"gpu\" and cuFile (`pip "
               "install penstock[cufile]`) arrays in C order are read straight into device memory, whole or in pieces "
               "of at least 64 KiB; other arrays, and all arrays without cuFile, are read and uploaded.\n\nExample:\n"
               "@pipeline_def(batch_size=32)\ndef arrays():\n    return fn.readers.numpy(file_root=\"arrays\", "
               "file_filter=\"*.npy\")")
        .inputs(0)
        .outputs(1)
        .loads_samples()
        .arg("file_root", &Op::file_root,
             "Folder whose files, and those of its subfolders, are read; or the start of relative paths.")
        .arg("file_filter", &Op::file_filter, "Glob pattern; names that match are read.")
        .arg("file_list", &Op::file_list, "Text file with a path on each line.")
        .arg("allow_outside_root", &Op::allow_outside_root, kAllowOutsideText)
        .arg("files", &Op::files, "Paths of the files.")
        .arg("roi_start", &Op::roi_start, "First element of the region, one value per axis.")
        .arg("roi_end", &Op::roi_end, "Element after the last one.")
        .arg("roi_shape", &Op::roi_shape, "Extent of the region.")
        .arg("rel_roi_start", &Op::rel_roi_start, "roi_start in units of the array's extent.")
        .arg("rel_roi_end", &Op::rel_roi_end, "roi_end in units of the array's extent.")
        .arg("rel_roi_shape", &Op::rel_roi_shape, "roi_shape in units of the array's extent.")
        .arg("roi_axes", &Op::roi_axes, "The axes that the values belong to; default: all.")
        .arg("out_of_bounds_policy", &Op::out_of_bounds_policy,
             "error; pad: fill_value; trim_to_shape: the region is clipped to the array.")
        .arg("fill_value", &Op::fill_value, "Value outside the array.", any_number)
        .arg("cache_header_information", &Op::cache_header_information,
             "Read the header of a file once, as long as the file stays the same.")
        .arg("register_buffers", &Op::register_buffers,
             "Register the device memory that files are read into with cuFile.")
        .arg("use_o_direct", &Op::use_o_direct, "Accepted without effect.")
        .with(reader_arguments<Op>);
  }
};

class NumpySource final : public ReaderSource, public ReadsDirectly {
 public:
  NumpySource(uint64_t seed, const ReadersNumpy& a)
      : ReaderSource(a),
        a_(a),
        files_(list_named_files({a.file_root, a.file_list, a.file_filter, a.files, a.allow_outside_root})),
        types_(files_.size()) {
    if (a.out_of_bounds_policy != "error" && a.out_of_bounds_policy != "pad" &&
        a.out_of_bounds_policy != "trim_to_shape")
      bad_argument("out_of_bounds_policy must be 'error', 'pad' or 'trim_to_shape', got '{}'", a.out_of_bounds_policy);
    const auto take = [&](const auto& from, auto& to) {
      if (!from.given()) return;
      to.set({Value{*from}, nullptr});
      region_ = true;
    };
    take(a.roi_start, window_.start), take(a.roi_end, window_.end), take(a.roi_shape, window_.shape);
    take(a.rel_roi_start, window_.rel_start), take(a.rel_roi_end, window_.rel_end),
        take(a.rel_roi_shape, window_.rel_shape);
    if (region_) window_.check_slice_window();
    open(seed, static_cast<int64_t>(files_.size()), hash_of_names(files_));
  }

  void load(SourceBatch& batch, int i) const override {
    const int64_t index = batch.indices[i];
    try {
      read(batch, i, index);
    } catch (Error& e) {
      if (e.source.empty()) e.source = files_[index];
      throw;
    }
  }

  void loaded(SourceBatch& batch) const override {
    settle_type(batch, 0, [&](int64_t index) { return types_[index].load(); });
    if (Batch& b = batch.outputs[0]; direct_) b.set_device(direct_->device()), b.stream = batch.stream;
  }
  bool registers_memory() const override { return a_.register_buffers; }
  void read_into(std::shared_ptr<DirectMemory> memory) override { direct_ = std::move(memory); }
  std::string data_set() const override { return common_folder(files_); }

 protected:
  std::vector<Batch> make_outputs(int n) const override { return {Batch(DType::none, 1, {}, n)}; }
  std::string source_of(int64_t index) const override { return files_[index]; }
  // The position of a region is not known yet: announces the header, and then a part of the array.
  void ranges_of(int64_t index, std::vector<ByteRange>& out) const override {
    out.push_back({files_[index], 0, region_ ? 256 : -1});
  }

 private:
  void read(SourceBatch& batch, int i, int64_t index) const {
    const OpenFile file(files_[index]);
    const NpyHeader h = header_of(file, index);
    const DType known = batch.outputs[0].dtype();
    if (known != DType::none && known != h.dtype)
      bad_data("an array has the type {}, but the batch has {}", name_of(h.dtype), name_of(known));
    types_[index] = h.dtype;

    const int ndim = h.shape.size();
    Shape first = Shape::filled(ndim, 0), extent = h.shape;  // the region's
    if (region_) find_region(h.shape, first, extent);
    if (direct_ && !file.remote() && read_directly(batch, i, index, h, first, extent)) return;
    const auto& host = direct_ ? direct_->pinned() : memory_;
    // The outermost dimension in memory order decides which part of the file is read.
    const int outer = h.fortran_order ? ndim - 1 : 0;
    const int64_t lo = ndim ? std::clamp<int64_t>(first[outer], 0, h.shape[outer]) : 0;
    const int64_t hi = ndim ? std::clamp<int64_t>(first[outer] + extent[outer], lo, h.shape[outer]) : 1;
    Shape slab = h.shape;
    if (ndim) slab[outer] = hi - lo;
    const auto size = static_cast<int64_t>(size_of(h.dtype));
    const size_t slab_bytes = checked_bytes(slab.volume(), size_of(h.dtype));
    const StreamHandle stream = direct_ ? batch.stream : nullptr;
    auto memory = allocate_shared(host, std::max<size_t>(1, slab_bytes), stream);
    const int64_t row = slab[outer] && slab.volume() ? slab.volume() / std::max<int64_t>(1, slab[outer]) * size : 0;
    if (slab_bytes) file.read(h.data + lo * row, static_cast<int64_t>(slab_bytes), static_cast<uint8_t*>(memory.get()));
    if (extent == slab && !h.fortran_order) return hand_over(batch, i, extent, h.dtype, memory);

    View from{memory.get(), h.dtype, {}, slab, dense_strides(slab)};
    if (h.fortran_order) {
      int64_t stride = 1;
      for (int d = 0; d < ndim; ++d) from.strides[d] = stride, stride *= slab[d];
    }
    auto result = allocate_shared(host, std::max<size_t>(1, checked_bytes(extent.volume(), size_of(h.dtype))), stream);
    View to{result.get(), h.dtype, {}, extent, dense_strides(extent)};
    if (extent.volume()) {
      const View whole = to;
      bool outside = false;
      auto* read_from = static_cast<uint8_t*>(from.data);
      auto* write_to = static_cast<uint8_t*>(to.data);
      for (int d = 0; d < ndim; ++d) {
        const int64_t begin = std::clamp<int64_t>(first[d], 0, h.shape[d]);
        const int64_t end = std::clamp<int64_t>(first[d] + extent[d], begin, h.shape[d]);
        outside |= end - begin < extent[d];
        read_from += (begin - (d == outer ? lo : 0)) * from.strides[d] * size;
        write_to += (begin - first[d]) * to.strides[d] * size;
        from.shape[d] = to.shape[d] = end - begin;
      }
      if (outside) fill_strided(whole, std::span(&a_.fill_value, 1));
      from.data = read_from, to.data = write_to;
      if (to.shape.volume()) copy_strided(from, to);
    }
    hand_over(batch, i, extent, h.dtype, result);
  }

  NpyHeader header_of(const OpenFile& file, int64_t index) const {
    const FileStamp stamp = file.stamp();
    if (a_.cache_header_information) {
      std::lock_guard lock(mutex_);
      const auto kept = headers_.find(index);
      if (kept != headers_.end() && kept->second.first.bytes == stamp.bytes &&
          kept->second.first.modified_ns == stamp.modified_ns)
        return kept->second.second;
    }
    const int64_t bytes = stamp.bytes;
    std::vector<uint8_t> start(static_cast<size_t>(std::min<int64_t>(bytes, 256)));
    file.read(0, static_cast<int64_t>(start.size()), start.data());
    if (start.size() > 10 && (start[6] > 1 || start[8] + 256 * start[9] > 240) && bytes > 256) {  // a long header
      start.resize(static_cast<size_t>(std::min(bytes, kLongestNpyHeader)));
      file.read(0, static_cast<int64_t>(start.size()), start.data());
    }
    NpyHeader h = read_npy_header(start, bytes);
    if (a_.cache_header_information) {
      std::lock_guard lock(mutex_);
      headers_.insert_or_assign(index, std::pair{stamp, h});
    }
    return h;
  }

  // Makes an array on the host sample i; uploads it if this reader's outputs are on the device.
  void hand_over(SourceBatch& batch, int i, const Shape& shape, DType dtype, std::shared_ptr<void> owner) const {
    if (direct_) {
      const size_t bytes = checked_bytes(shape.volume(), size_of(dtype));
      auto there = allocate_shared(direct_, std::max<size_t>(1, bytes), batch.stream);
      if (bytes) direct_->upload(there.get(), owner.get(), bytes, batch.stream);
      owner = std::move(there);
    }
    give(batch.outputs[0], i, shape, owner.get(), owner);
  }

  // Reads pieces that are contiguous in the result, each with one call. False if they would be small or in
  // another order, or if cuFile refuses the file: then it is read on the host.
  bool read_directly(SourceBatch& batch, int i, int64_t index, const NpyHeader& h, const Shape& first,
                     const Shape& extent) const {
    constexpr int64_t kLeast = 64 << 10;
    const int ndim = h.shape.size();
    int64_t piece = static_cast<int64_t>(size_of(h.dtype));  // bytes
    int whole = ndim;                                        // dimensions from here on are whole
    for (int d = 0; d < ndim; ++d)
      if (first[d] < 0 || extent[d] > h.shape[d] - first[d]) return false;
    while (whole > 0 && extent[whole - 1] == h.shape[whole - 1]) piece *= h.shape[--whole];
    const int64_t row = piece;  // bytes of one step along dimension whole - 1
    if (whole > 0) piece *= extent[whole - 1];
    const auto bytes = static_cast<int64_t>(checked_bytes(extent.volume(), size_of(h.dtype)));
    if (bytes == 0 || (h.fortran_order && ndim > 1) || (piece < kLeast && piece < bytes)) return false;
    std::string why;
    const auto file = direct_->open(files_[index]);
    if (!file) return false;
    auto memory = allocate_shared(direct_, static_cast<size_t>(bytes), batch.stream);
    Shape at = first;  // in the array
    for (int64_t done = 0; done < bytes; done += piece) {
      int64_t offset = 0;
      for (int d = 0; d < whole; ++d) offset = offset * h.shape[d] + at[d];
      const int64_t got = file->read(memory.get(), done, piece, h.data + offset * row, why);
      if (got < 0) bad_data("{}", why);
      if (got < piece) bad_data("the file ends {} bytes too early", piece - got);
      for (int d = whole - 2; d >= 0; --d) {
        if (++at[d] < first[d] + extent[d]) break;
        at[d] = first[d];
      }
    }
    give(batch.outputs[0], i, extent, memory.get(), memory);
    return true;
  }

  void find_region(const Shape& shape, Shape& first, Shape& extent) const {
    SliceWindow window = window_;
    std::vector<int64_t> axes;
    if (a_.roi_axes.given() && !a_.roi_axes->empty()) axes = *a_.roi_axes;
    else
      for (int d = 0; d < shape.size(); ++d) axes.push_back(d);
    window.axes.set({Value{axes}, nullptr});
    for (const auto& w : window.windows(0, {}, shape)) {
      first[w.dim] = w.start, extent[w.dim] = w.extent;
      const bool inside = w.start >= 0 && w.start <= shape[w.dim] && w.extent <= shape[w.dim] - w.start;
      if (inside || a_.out_of_bounds_policy == "pad") continue;
      if (a_.out_of_bounds_policy == "error")
        bad_data("the region {} to {} is not inside the {} elements of axis {}", w.start, w.start + w.extent,
                 shape[w.dim], w.dim);
      const int64_t lo = std::clamp<int64_t>(w.start, 0, shape[w.dim]);
      first[w.dim] = lo, extent[w.dim] = std::clamp<int64_t>(w.start + w.extent, lo, shape[w.dim]) - lo;
    }
  }

  ReadersNumpy a_;
  std::vector<std::string> files_;
  bool region_ = false;
  SliceWindow window_;
  mutable std::vector<std::atomic<DType>> types_;  // of the arrays that were read
  std::shared_ptr<DirectMemory> direct_;           // if arrays are needed on a GPU
  mutable std::mutex mutex_;                       // guards headers_
  mutable std::unordered_map<int64_t, std::pair<FileStamp, NpyHeader>> headers_;
};

PENSTOCK_READER(ReadersNumpy, NumpySource);

}  // namespace
}  // namespace penstock
