// SPDX-License-Identifier: Apache-2.0
// readers.mxnet: image records of RecordIO files.
#include "data/container_formats.h"
#include "data/recordio.h"
#include "readers/container_source.h"

namespace penstock {
namespace {

struct ReadersMxnet : ReaderOptions {
  std::vector<std::string> path, index_path;
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    out[0] = {DType::uint8, 1, {}};
    out[1] = {DType::float32, 1, {}};
  }

  static Schema<ReadersMxnet> schema() {
    using Op = ReadersMxnet;
    return Schema<Op>(
               "readers.mxnet",
               "Reads images and labels from MXNet's RecordIO files.\n\n"
               "Outputs: the bytes of the image (uint8, 1-D) and its labels (float32, 1-D: one, or as many as the "
               "record has). Files need no index: one is made on first use and kept in the user's cache folder, or at "
               "index_path.")
        .inputs(0)
        .outputs(2)
        .loads_samples()
        .required("path", &Op::path,
                  "Paths of the .rec files; patterns with * or ? become the files that match, sorted.")
        .arg("index_path", &Op::index_path,
             "Index files (.idx) as rec2idx writes them, one for each file; made where missing.")
        .with(reader_arguments<Op>);
  }
};

class MxnetSource final : public ContainerSource {
 public:
  MxnetSource(uint64_t seed, const ReadersMxnet& a) : ContainerSource(a) {
    open(seed, open_container(container_format("recordio"), a.path, a.index_path));
  }

 protected:
  std::vector<Batch> make_outputs(int n) const override {
    return {Batch(DType::uint8, 1, {}, n), Batch(DType::float32, 1, {}, n)};
  }
  void take(SourceBatch& batch, int i, int64_t, const LoadedRecord& record) const override {
    auto image = std::make_shared<ImageRecord>();
    read_image_record(record.bytes, *image);
    const Shape bytes{static_cast<int64_t>(image->image.size())}, labels{static_cast<int64_t>(image->labels.size())};
    give(batch.outputs[0], i, bytes, image->image.data(), image->joined.empty() ? record.owner : image);
    give(batch.outputs[1], i, labels, image->labels.data(), image);
  }
};

PENSTOCK_READER(ReadersMxnet, MxnetSource);

}  // namespace
}  // namespace penstock
