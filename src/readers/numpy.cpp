// SPDX-License-Identifier: Apache-2.0
// readers.numpy: arrays of .npy files, or regions of them.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "data/named_files.h"
#include "operator/value_forms.h"
#include "readers/direct_memory.h"
#include "readers/npy_region.h"
#include "readers/reader_source.h"

namespace penstock {
namespace {

struct ReadersNumpy : ReaderOptions, NumpyFiles, NumpyWindow {
  bool cache_header_information = false, register_buffers = true, use_o_direct = false;
  void infer(std::span<const ValueType>, std::span<ValueType>) const override {}

  static Schema<ReadersNumpy> schema() {
    using Op = ReadersNumpy;
    return Schema<Op>(
               "readers.numpy",
               "Reads arrays from .npy files, whole or a region of each.\n\nOutput: the array in its type, without a "
               "layout; Fortran order is converted to C order. For a region, only the rows that contain it are read; "
               "it may be another one for each sample, then the arrays are read on the CPU. "
               "All arrays of a batch have one type and number of dimensions.\n\nWith device=\"gpu\" and cuFile (`pip "
               "install penstock[cufile]`) arrays in C order are read straight into device memory, whole or in pieces "
               "of at least 64 KiB; other arrays, and all arrays without cuFile, are read and uploaded.\n\nExample:\n"
               "@pipeline_def(batch_size=32)\ndef arrays():\n    return fn.readers.numpy(file_root=\"arrays\", "
               "file_filter=\"*.npy\")")
        .inputs(0)
        .outputs(1)
        .loads_samples()
        .with(numpy_file_arguments<Op>)
        .with(numpy_window_arguments<Op>)
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
      : ReaderSource(a), a_(a), files_(a.list_arrays()), types_(files_.size()) {
    a_.check_region();
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
    out.push_back({files_[index], 0, a_.has_region() ? 256 : -1});
  }

 private:
  void read(SourceBatch& batch, int i, int64_t index) const {
    const OpenFile file(files_[index]);
    const NpyHeader h = header_of(file, index);
    const DType known = batch.outputs[0].dtype();
    if (known != DType::none && known != h.dtype)
      bad_data("an array has the type {}, but the batch has {}", name_of(h.dtype), name_of(known));
    types_[index] = h.dtype;

    const NpyRegion region = a_.region_of(0, h.shape);
    if (direct_ && !file.remote() && read_directly(batch, i, index, h, region.first, region.extent)) return;
    const auto allocate = [&](size_t bytes) {
      return allocate_shared(direct_ ? direct_->pinned() : memory_, std::max<size_t>(1, bytes),
                             direct_ ? batch.stream : nullptr);
    };
    const auto result = allocate(checked_bytes(region.extent.volume(), size_of(h.dtype)));
    read_npy_region(file, h, region, a_.fill_value, allocate, result.get());
    hand_over(batch, i, region.extent, h.dtype, result);
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
    NpyHeader h = read_npy_header(file);
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

  ReadersNumpy a_;
  std::vector<std::string> files_;
  mutable std::vector<std::atomic<DType>> types_;  // of the arrays that were read
  std::shared_ptr<DirectMemory> direct_;           // if arrays are needed on a GPU
  mutable std::mutex mutex_;                       // guards headers_
  mutable std::unordered_map<int64_t, std::pair<FileStamp, NpyHeader>> headers_;
};

PENSTOCK_READER(ReadersNumpy, NumpySource);
[[maybe_unused]] const bool has_forms =
    add_value_forms("readers.numpy", {"readers.numpy@names", "readers.numpy@values"});

}  // namespace
}  // namespace penstock
