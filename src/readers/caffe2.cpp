// SPDX-License-Identifier: Apache-2.0
// readers.caffe2: TensorProtos in LMDB databases.
#include "data/caffe_records.h"
#include "readers/lmdb.h"

namespace penstock {
namespace {

enum LabelType : int64_t { single_label = 0, sparse = 1, dense = 2, weighted_sparse = 3, no_label = 4 };

struct ReadersCaffe2 : ReaderOptions {
  std::vector<std::string> path;
  int64_t label_type = single_label, num_labels = 1, additional_inputs = 0;
  bool image_available = true, bbox = false;
  bool has_label() const { return label_type != no_label; }
  int count_outputs() const override {
    return static_cast<int>(image_available + has_label() + additional_inputs + bbox);
  }
  DType label_dtype() const { return label_type == weighted_sparse ? DType::float32 : DType::int32; }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    if (count_outputs() == 0) bad_argument("no outputs are selected");
    size_t k = 0;
    if (image_available) out[k++] = {DType::uint8, -1, {}};
    if (has_label()) out[k++] = {label_dtype(), 1, {}};
    for (int64_t n = 0; n < additional_inputs; ++n) out[k++] = {DType::none, 1, {}};
    if (bbox) out[k++] = {DType::int32, 1, {}};
  }
  static Schema<ReadersCaffe2> schema() {
    using Op = ReadersCaffe2;
    return Schema<Op>(
               "readers.caffe2",
               "Reads Caffe2's LMDB databases of TensorProtos records.\n\nOutputs, if the records have them: the "
               "image (uint8: the bytes of an encoded one, 1-D; a raw one in its shape), the label, additional_inputs "
               "tensors (float32 or int32, 1-D), the box (int32, shape (4,)).")
        .inputs(0)
        .outputs(2)
        .loads_samples()
        .required("path", &Op::path,
                  "Folders with a data.mdb, or the files; patterns with * or ? become what matches, sorted.")
        .arg("label_type", &Op::label_type,
             "0: one label (int32, shape (1,)); 1: numbers of labels, given as ones among num_labels zeros (int32); 2: "
             "num_labels values (int32); 3: as 1 with the weights of the next tensor (float32); 4: no label.",
             within(0, 4))
        .arg("num_labels", &Op::num_labels, "Length of the label of types 1 to 3.", within(1, 1 << 24))
        .arg("image_available", &Op::image_available,
             "Records begin with an image; otherwise there is no output for "
             "it.")
        .arg("additional_inputs", &Op::additional_inputs, "Number of further tensors after the label.", within(0, 64))
        .arg("bbox", &Op::bbox, "Records end with a box.")
        .with(reader_arguments<Op>);
  }
};

class Caffe2Source final : public ContainerSource {
 public:
  Caffe2Source(uint64_t seed, const ReadersCaffe2& a) : ContainerSource(a), a_(a) {
    auto found = open_lmdb(a.path, false);
    find_types(*found);
    open(seed, std::move(found));
  }
  void loaded(SourceBatch& batch) const override {
    if (a_.image_available) set_dimensions(batch.outputs[0]);
  }

 protected:
  using Kind = CaffeTensor::Kind;

  std::vector<Batch> make_outputs(int n) const override {
    std::vector<Batch> out;
    if (a_.image_available) out.emplace_back(DType::uint8, 1, Layout{}, n);
    if (a_.has_label())
      out.push_back(Batch::uniform(a_.label_dtype(), Shape{a_.label_type == single_label ? 1 : a_.num_labels}, {}, n));
    for (const Kind k : additional_)
      out.emplace_back(k == Kind::floats ? DType::float32 : DType::int32, 1, Layout{}, n);
    if (a_.bbox) out.emplace_back(DType::int32, 1, Layout{}, n);
    return out;
  }

  void take(SourceBatch& batch, int i, int64_t, const LoadedRecord& record) const override {
    auto all = std::make_shared<std::vector<CaffeTensor>>(read_tensors(record.bytes));
    size_t at = 0;
    int output = 0;
    const auto next = [&](const char* what) -> CaffeTensor& {
      if (at == all->size()) bad_data("the record has {} tensors and no {}", all->size(), what);
      return (*all)[at++];
    };
    if (a_.image_available) {
      const CaffeTensor& image = next("image");
      const auto bytes = static_cast<int64_t>(image.bytes.size());
      if (image.kind != Kind::text && image.kind != Kind::bytes) bad_data("the record's first tensor is not an image");
      const Shape shape = image.kind == Kind::text ? Shape{bytes} : image.dims;
      if (shape.volume() != bytes) bad_data("an image of shape {} has {} bytes", shape.text(), bytes);
      give(batch.outputs[output++], i, shape, image.bytes.data(), record.owner);
    }
    if (a_.has_label()) {
      const CaffeTensor& label = next("label");
      if (label.kind != Kind::integers) bad_data("the label is not an int32 tensor");
      take_label(batch.outputs[output++].view(i), label, a_.label_type == weighted_sparse ? &next("weights") : nullptr);
    }
    const auto further = [&](const CaffeTensor& t, Kind kind) {
      if (t.kind != kind) bad_data("a further tensor has another type than in the first record");
      const bool floats = kind == Kind::floats;
      const void* data = floats ? static_cast<const void*>(t.floats.data()) : t.integers.data();
      give(batch.outputs[output++], i, Shape{static_cast<int64_t>(floats ? t.floats.size() : t.integers.size())}, data,
           all);
    };
    for (const Kind kind : additional_) further(next("further tensor"), kind);
    if (a_.bbox) further(next("box"), Kind::integers);
  }

 private:
  void take_label(View out, const CaffeTensor& label, const CaffeTensor* weights) const {
    const auto count = static_cast<int64_t>(label.integers.size());
    if (a_.label_type == single_label || a_.label_type == dense) {
      if (count < out.volume()) bad_data("the record has {} labels, {} are needed", count, out.volume());
      std::copy_n(label.integers.begin(), out.volume(), out.as<int32_t>());
      return;
    }
    if (weights && static_cast<int64_t>(weights->floats.size()) != count)
      bad_data("{} weights for {} labels", weights->floats.size(), count);
    std::memset(out.data, 0, 4 * static_cast<size_t>(a_.num_labels));
    for (int64_t k = 0; k < count; ++k) {
      const int64_t n = label.integers[k];
      if (n < 0 || n >= a_.num_labels) bad_data("the label {} is not less than num_labels = {}", n, a_.num_labels);
      if (weights) out.as<float>()[n] = weights->floats[k];
      else out.as<int32_t>()[n] = 1;
    }
  }

  // The first record determines the types of the further tensors.
  void find_types(const Container& container) {
    if (a_.additional_inputs == 0) return;
    std::vector<uint8_t> record(static_cast<size_t>(container.length(0)));
    container.read(0, record.data());
    const auto tensors = read_tensors(record);
    const size_t first = a_.image_available + a_.has_label() + (a_.label_type == weighted_sparse);
    for (int64_t k = 0; k < a_.additional_inputs; ++k) {
      const Kind kind = first + k < tensors.size() ? tensors[first + k].kind : Kind::none;
      if (kind != Kind::floats && kind != Kind::integers)
        fail_on(container.source(0), ErrorKind::data, "there is no tensor {} of floats or int32", first + k);
      additional_.push_back(kind);
    }
  }

  ReadersCaffe2 a_;
  std::vector<Kind> additional_;
};

PENSTOCK_READER(ReadersCaffe2, Caffe2Source);

}  // namespace
}  // namespace penstock
