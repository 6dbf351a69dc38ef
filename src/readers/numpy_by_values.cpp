// SPDX-License-Identifier: Apache-2.0
// readers.numpy where regions are values of the pipeline: one form names the files, the other one loads them.
#include <algorithm>
#include <optional>

#include "base/error_of.h"
#include "data/named_files.h"
#include "readers/npy_region.h"
#include "readers/reader_source.h"

namespace penstock {
namespace {

struct NumpyNames : ReaderOptions, NumpyFiles {
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override { out[0] = {DType::uint8, 1, {}}; }
  static Schema<NumpyNames> schema() {
    return Schema<NumpyNames>("readers.numpy@names", "The paths of readers.numpy, as bytes.")
        .inputs(0)
        .outputs(1)
        .hidden()
        .with(numpy_file_arguments<NumpyNames>)
        .with(reader_arguments<NumpyNames>);
  }
};

class NamesSource final : public ReaderSource {
 public:
  NamesSource(uint64_t seed, const NumpyNames& a)
      : ReaderSource(a), files_(std::make_shared<std::vector<std::string>>(a.list_arrays())) {
    open(seed, static_cast<int64_t>(files_->size()), hash_of_names(*files_));
  }
  std::string data_set() const override { return common_folder(*files_); }

 protected:
  std::vector<Batch> make_outputs(int n) const override { return {Batch(DType::uint8, 1, {}, n)}; }
  std::string source_of(int64_t index) const override { return (*files_)[index]; }
  // The position of a region is not known yet: announces the header, and then a part of the array.
  void ranges_of(int64_t index, std::vector<ByteRange>& out) const override {
    out.push_back({(*files_)[index], 0, 256});
  }
  void put_known(SourceBatch& batch, int i, int64_t index) const override {
    const std::string& path = (*files_)[index];
    give(batch.outputs[0], i, Shape{static_cast<int64_t>(path.size())}, path.data(), files_);
  }

 private:
  std::shared_ptr<std::vector<std::string>> files_;
};
PENSTOCK_READER(NumpyNames, NamesSource);

struct NumpyValues : WholeOperator, NumpyWindow {
  static Schema<NumpyValues> schema() {
    return Schema<NumpyValues>("readers.numpy@values", "Regions of .npy files.")
        .input_names({"filepaths"})
        .hidden()
        .with(numpy_window_arguments<NumpyValues>)
        .batch_wide()
        .host_only("it reads files")
        .oracle("numpy, dali");
  }
  void ready() override { check_region(); }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override { out[0] = {DType::none, -1, {}}; }
  std::shared_ptr<const void> batch_state(std::span<const Batch> in, std::span<const ValueType>) const override {
    return std::make_shared<Arrays>(in[0]);
  }
  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = {};
    if (!s.batch_state) return;
    const auto& arrays = *static_cast<const Arrays*>(s.batch_state);
    Array& array = arrays.of[s.index];
    array.file = std::make_unique<OpenFile>(path_of(arrays.paths.view(s.index)));
    in_file(*array.file, [&] {
      array.header = read_npy_header(*array.file);
      array.region = region_of(s.index, array.header.shape);
      checked_bytes(array.region.extent.volume(), size_of(array.header.dtype));
    });
    out[0] = array.region.extent;
  }
  // The type of the first file that can be read. The others are compared where each can be an error of its own.
  void batch_shapes(std::span<const Batch> in, std::span<const ValueType>, std::span<Batch> out) const override {
    Batch& b = out[0];
    std::optional<NpyHeader> first;
    const auto header_of = [&](int i) {
      std::optional<NpyHeader> header;
      [[maybe_unused]] const auto error = error_of([&] { header = read_npy_header(OpenFile(path_of(in[0].view(i)))); });
      return header;
    };
    for (int i = 0; i < b.size() && !first; ++i) first = header_of(i);
    if (!first) return;
    Batch right(first->dtype, first->shape.size(), {}, b.size());
    for (int i = 0; i < b.size(); ++i) {
      right.sample(i) = b.sample(i);
      if (b.shape(i).size() == first->shape.size()) continue;
      if (const auto own = header_of(i); own && own->shape.size() != first->shape.size())
        bad_data("one batch has arrays of {} and of {} dimensions", first->shape.size(), own->shape.size());
      right.sample(i).shape = Shape::filled(first->shape.size(), 0);  // its error is known
    }
    b = std::move(right);
  }
  void run(const SampleContext& s, std::span<const View>, std::span<const View> out) const override {
    Array& array = static_cast<const Arrays*>(s.batch_state)->of[s.index];
    const auto file = std::exchange(array.file, nullptr);
    in_file(*file, [&] {
      if (array.header.dtype != out[0].dtype)
        bad_data("an array has the type {}, but the batch has {}", name_of(array.header.dtype), name_of(out[0].dtype));
      const auto allocate = [](size_t bytes) { return allocate_shared(default_memory(), std::max<size_t>(1, bytes)); };
      read_npy_region(*file, array.header, array.region, fill_value, allocate, out[0].data);
    });
  }

 private:
  struct Array {
    std::unique_ptr<OpenFile> file;
    NpyHeader header;
    NpyRegion region;
  };
  // What shapes() read for run(), by sample.
  struct Arrays {
    explicit Arrays(const Batch& b) : paths(b), of(b.size()) {}
    Batch paths;
    mutable std::vector<Array> of;
  };
  static std::string path_of(const View& v) { return {v.as<const char>(), static_cast<size_t>(v.volume())}; }
  template <class F> static void in_file(const OpenFile& file, F&& f) {
    try {
      f();
    } catch (Error& e) {
      if (e.source.empty()) e.source = file.path();
      throw;
    }
  }
};
PENSTOCK_OPERATOR(NumpyValues);

}  // namespace
}  // namespace penstock
