// SPDX-License-Identifier: Apache-2.0
// readers.lmdb, readers.caffe: values of LMDB databases, unchanged or as Caffe's Datum.
#include "readers/lmdb.h"

#include "data/caffe_records.h"

namespace penstock {

std::shared_ptr<const Container> open_lmdb(const std::vector<std::string>& paths, bool with_keys) {
  std::vector<std::string> found = expand_paths(paths);
  for (auto& p : found) p = lmdb_file(p);
  return open_container(lmdb_format(with_keys), found, {});
}

namespace {

struct ReadersLmdb : ReaderOptions {
  std::vector<std::string> path;
  bool with_keys = false;
  int count_outputs() const override { return 1 + with_keys; }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    for (auto& o : out) o = {DType::uint8, 1, {}};
  }
  static Schema<ReadersLmdb> schema() {
    using Op = ReadersLmdb;
    return Schema<Op>(
               "readers.lmdb",
               "Reads the values of LMDB databases, in the order of their keys.\n\nOutputs: the value (uint8, 1-D) "
               "and, with with_keys=True, its key (uint8, 1-D). Penstock's own parser reads the files and checks "
               "everything in them; it does not write to them and takes no lock.")
        .inputs(0)
        .loads_samples()
        .required("path", &Op::path,
                  "Folders with a data.mdb, or the files; patterns with * or ? become what matches, sorted.")
        .arg("with_keys", &Op::with_keys, "Give the keys, too.")
        .with(reader_arguments<Op>);
  }
};

class LmdbSource final : public ContainerSource {
 public:
  LmdbSource(uint64_t seed, const ReadersLmdb& a) : ContainerSource(a), with_keys_(a.with_keys) {
    open(seed, open_lmdb(a.path, with_keys_));
  }

 protected:
  std::vector<Batch> make_outputs(int n) const override {
    return std::vector<Batch>(with_keys_ ? 2 : 1, Batch(DType::uint8, 1, {}, n));
  }
  void take(SourceBatch& batch, int i, int64_t index, const LoadedRecord& record) const override {
    give(batch.outputs[0], i, Shape{static_cast<int64_t>(record.bytes.size())}, record.bytes.data(), record.owner);
    if (!with_keys_) return;
    auto key = std::make_shared<std::string>(container().name(index));
    give(batch.outputs[1], i, Shape{static_cast<int64_t>(key->size())}, key->data(), key);
  }

 private:
  bool with_keys_;
};

struct ReadersCaffe : ReaderOptions {
  std::vector<std::string> path;
  bool image_available = true, label_available = true;
  int count_outputs() const override { return image_available + label_available; }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    if (!image_available && !label_available) bad_argument("nothing to read: neither images nor labels are available");
    if (image_available) out[0] = {DType::uint8, -1, {}};
    if (label_available) out[image_available] = {DType::int32, 1, {}};
  }
  static Schema<ReadersCaffe> schema() {
    using Op = ReadersCaffe;
    return Schema<Op>(
               "readers.caffe",
               "Reads Caffe's LMDB databases of Datum records.\n\n"
               "Outputs: the image (uint8: the bytes of an encoded one, 1-D; a raw one in the shape height, width, "
               "channels) and the label (int32, shape (1,)).")
        .inputs(0)
        .outputs(2)
        .loads_samples()
        .required("path", &Op::path,
                  "Folders with a data.mdb, or the files; patterns with * or ? become what matches, sorted.")
        .arg("image_available", &Op::image_available, "Records have an image; otherwise there is no output for it.")
        .arg("label_available", &Op::label_available, "Records have a label; otherwise there is no output for it.")
        .with(reader_arguments<Op>);
  }
};

class CaffeSource final : public ContainerSource {
 public:
  CaffeSource(uint64_t seed, const ReadersCaffe& a)
      : ContainerSource(a), image_(a.image_available), label_(a.label_available) {
    open(seed, open_lmdb(a.path, false));
  }
  void loaded(SourceBatch& batch) const override {
    if (image_) set_dimensions(batch.outputs[0]);
  }

 protected:
  std::vector<Batch> make_outputs(int n) const override {
    std::vector<Batch> out;
    if (image_) out.emplace_back(DType::uint8, 1, Layout{}, n);
    if (label_) out.push_back(Batch::uniform(DType::int32, Shape{1}, {}, n));
    return out;
  }
  void take(SourceBatch& batch, int i, int64_t, const LoadedRecord& record) const override {
    const CaffeDatum datum = read_datum(record.bytes);
    if (image_) give(batch.outputs[0], i, datum.shape, datum.data.data(), record.owner);
    if (label_) batch.outputs[image_].view(i).as<int32_t>()[0] = datum.label;
  }

 private:
  bool image_, label_;
};

PENSTOCK_READER(ReadersLmdb, LmdbSource);
PENSTOCK_READER(ReadersCaffe, CaffeSource);

}  // namespace
}  // namespace penstock
