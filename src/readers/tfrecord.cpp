// SPDX-License-Identifier: Apache-2.0
// readers.tfrecord: features of the tf.train.Example records of TFRecord files.
#include "base/json_text.h"
#include "data/container_formats.h"
#include "data/tf_example.h"
#include "data/tfrecord.h"
#include "readers/container_source.h"

namespace penstock {
namespace {

struct Feature {
  std::string name;
  bool fixed = true;
  DType dtype = DType::uint8;  // uint8: a byte string
  Shape shape;                 // for a feature of variable length: the dimensions after the first one
  double number = 0;           // the default
  std::string text;
  bool is_string() const { return dtype == DType::uint8; }
  int ndim() const { return is_string() ? 1 : fixed ? shape.size() : 1 + shape.size(); }
};

Feature feature_of(const std::string& text) {
  const auto j = parse_json(text);
  if (!j.is_object() || !j.contains("name") || !j["name"].is_string())
    bad_argument("features: '{}' is not a feature", text);
  Feature f;
  f.name = j["name"];
  const std::string dtype = j.value("dtype", "");
  if (dtype == "int64") f.dtype = DType::int64;
  else if (dtype == "float32") f.dtype = DType::float32;
  else if (dtype != "string")
    bad_argument("features: '{}' has the type '{}'; it can be string, int64 or float32", f.name, dtype);
  f.fixed = j.value("fixed", true);
  int64_t volume = 1;
  for (const auto& e : j.value("shape", nlohmann::json::array())) {
    const int64_t extent = e.is_number_integer() ? e.get<int64_t>() : -1;
    if (extent < 0 || (extent && volume > (int64_t{1} << 40) / extent) || f.shape.size() >= 6)
      bad_argument("features: '{}' has an invalid shape: {}", f.name, j["shape"].dump());
    volume *= extent;
    f.shape.push_back(extent);
  }
  if (f.is_string() && volume != 1) bad_argument("features: '{}': lists of byte strings are not supported", f.name);
  if (!f.fixed && volume == 0) bad_argument("features: '{}' has a partial shape with no elements", f.name);
  if (const auto d = j.find("default"); d != j.end()) {
    if (d->is_number()) f.number = d->get<double>();
    else if (d->is_string() && f.is_string()) f.text = d->get<std::string>();
  }
  return f;
}

struct ReadersTfrecord : ReaderOptions {
  std::vector<std::string> path, index_path, features;
  bool check_crc = true, use_o_direct = false;
  int count_outputs() const override { return static_cast<int>(features.size()); }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    if (features.empty()) bad_argument("name at least one feature");
    for (size_t k = 0; k < out.size() && k < features.size(); ++k) {
      const Feature f = feature_of(features[k]);
      out[k] = {f.dtype, f.ndim(), {}};
    }
  }

  static Schema<ReadersTfrecord> schema() {
    using Op = ReadersTfrecord;
    return Schema<Op>(
               "readers.tfrecord",
               "Reads features of tf.train.Example records from TFRecord files.\n\nIn Python `features` is a dict of "
               "penstock.tfrecord.FixedLenFeature and VarLenFeature, and the result is a dict with the same keys. A "
               "byte string is uint8, 1-D; a feature of fixed length has its shape; one of variable length has (n,) "
               "or (n, *partial_shape). A fixed feature that a record lacks is filled with its default, a variable "
               "one is empty. Checksums (CRC-32C) are checked unless check_crc=False.\n\nFiles need no index: one is "
               "made on first use and kept in the user's cache folder, or at index_path.\n\nExample:\n"
               "@pipeline_def(batch_size=32)\ndef records():\n    inputs = "
               "fn.readers.tfrecord(path=[\"train.tfrecord\"], features={\n        \"image/encoded\": "
               "penstock.tfrecord.FixedLenFeature((), penstock.tfrecord.string, \"\")})\n    return "
               "fn.decoders.image(inputs[\"image/encoded\"])")
        .inputs(0)
        .loads_samples()
        .required("path", &Op::path, "Paths of the files; patterns with * or ? become the files that match, sorted.")
        .required("features", &Op::features,
                  "What to read: one JSON object for each output, with name, dtype (string, int64, float32), fixed, "
                  "shape, default.")
        .arg("index_path", &Op::index_path,
             "Index files as tfrecord2idx writes them, one for each file; made where missing.")
        .arg("check_crc", &Op::check_crc, "Check the checksums of every record that is read.")
        .arg("use_o_direct", &Op::use_o_direct, "Accepted without effect.")
        .with(reader_arguments<Op>);
  }
};

class TfrecordSource final : public ContainerSource {
 public:
  TfrecordSource(uint64_t seed, const ReadersTfrecord& a) : ContainerSource(a), check_(a.check_crc) {
    for (const auto& f : a.features) {
      features_.push_back(feature_of(f));
      names_.push_back(features_.back().name);
    }
    open(seed, open_container(container_format("tfrecord"), a.path, a.index_path));
  }

 protected:
  std::vector<Batch> make_outputs(int n) const override {
    std::vector<Batch> out;
    for (const auto& f : features_)
      out.push_back(f.fixed && !f.is_string() ? Batch::uniform(f.dtype, f.shape, {}, n)
                                              : Batch(f.dtype, f.ndim(), {}, n));
    return out;
  }

  void take(SourceBatch& batch, int i, int64_t, const LoadedRecord& record) const override {
    std::vector<ExampleValue> values(features_.size());
    read_example(tfrecord_payload(record.bytes, check_), names_, values);
    for (size_t k = 0; k < features_.size(); ++k) {
      try {
        take_feature(batch.outputs[k], i, features_[k], values[k], record);
      } catch (const Error& e) {
        Error named(e.kind(), fmt::format("feature '{}': {}", names_[k], e.what()));
        throw named;
      }
    }
  }

 private:
  void take_feature(Batch& output, int i, const Feature& f, const ExampleValue& value,
                    const LoadedRecord& record) const {
    using Kind = ExampleValue::Kind;
    const Kind kind = f.is_string() ? Kind::bytes : f.dtype == DType::int64 ? Kind::integers : Kind::floats;
    if (value.kind != Kind::absent && value.kind != kind)
      bad_data("the record has {}, but the feature needs {}", name_of(value.kind), name_of(kind));
    if (f.is_string()) {
      const auto strings = value.kind == kind ? strings_of(value) : std::vector<Bytes>{};
      if (strings.size() > 1) bad_data("the record has {} byte strings, only one is allowed", strings.size());
      if (strings.empty()) {
        auto text = std::make_shared<std::string>(f.fixed ? f.text : "");
        give(output, i, Shape{static_cast<int64_t>(text->size())}, text->data(), text);
      } else if (value.joined.empty()) {
        give(output, i, Shape{static_cast<int64_t>(strings[0].size())}, strings[0].data(), record.owner);
      } else {
        auto text = std::make_shared<std::string>(strings[0].begin(), strings[0].end());
        give(output, i, Shape{static_cast<int64_t>(text->size())}, text->data(), text);
      }
    } else if (f.dtype == DType::int64) {
      take_numbers<int64_t>(output, i, f, value, read_integers);
    } else {
      take_numbers<float>(output, i, f, value, read_floats);
    }
  }

  template <class T, class Read> void take_numbers(Batch& output, int i, const Feature& f, const ExampleValue& value,
                                                   Read read) const {
    auto numbers = std::make_shared<std::vector<T>>();
    if (value.kind != ExampleValue::Kind::absent) read(value, *numbers);
    const auto count = static_cast<int64_t>(numbers->size());
    const int64_t row = f.shape.volume();
    if (!f.fixed) {
      if (count % row)
        bad_data("{} values are not a multiple of the {} of the partial shape {}", count, row, f.shape.text());
      Shape shape{count / row};
      for (const int64_t extent : f.shape) shape.push_back(extent);
      give(output, i, shape, numbers->data(), numbers);
      return;
    }
    T* out = output.view(i).template as<T>();
    if (count == 0) {
      std::fill(out, out + row, static_cast<T>(f.number));
      return;
    }
    if (count != row) bad_data("the record has {} values, its shape {} needs {}", count, f.shape.text(), row);
    std::copy(numbers->begin(), numbers->end(), out);
  }

  std::vector<Feature> features_;
  std::vector<std::string> names_;
  bool check_;
};

PENSTOCK_READER(ReadersTfrecord, TfrecordSource);

}  // namespace
}  // namespace penstock
