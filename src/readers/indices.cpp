// SPDX-License-Identifier: Apache-2.0
// readers.indices: the order of a data set that other code reads; fn.readers.dataset is built on it.
#include "readers/reader_source.h"

namespace penstock {
namespace {

struct ReadersIndices : ReaderOptions {
  int64_t size = 0, content = 0;
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override { out[0] = {DType::int64, 0, {}}; }

  static Schema<ReadersIndices> schema() {
    using Op = ReadersIndices;
    return Schema<Op>("readers.indices",
                      "Numbers of samples, 0 to size - 1, in the order in which a reader would read them.\n\nOutput: "
                      "int64 scalars. For data that a function of the program supplies, with the shuffles, shards, "
                      "epochs and checkpoints of the other readers. fn.readers.dataset uses it.\n\nExample:\n"
                      ">>> @pipeline_def(batch_size=4, num_threads=1)\n"
                      "... def numbers():\n"
                      "...     return fn.readers.indices(size=10)\n"
                      ">>> batch, = numbers().run()\n"
                      ">>> batch.as_array().tolist()\n"
                      "[0, 1, 2, 3]")
        .inputs(0)
        .outputs(1)
        .required("size", &Op::size, "Samples in the data set.")
        .arg("content", &Op::content,
             "A number that stands for what the samples are: a checkpoint with another one is refused.")
        .with(reader_arguments<Op>);
  }
};

class IndicesSource final : public ReaderSource {
 public:
  IndicesSource(uint64_t seed, const ReadersIndices& a) : ReaderSource(a) {
    if (a.size < 1) bad_argument("a data set needs at least one sample, got {}", a.size);
    open(seed, a.size, static_cast<uint64_t>(a.content));
  }

 protected:
  std::vector<Batch> make_outputs(int n) const override { return {Batch::uniform(DType::int64, Shape{}, {}, n)}; }
  std::string source_of(int64_t index) const override { return "sample " + std::to_string(index) + " of the data set"; }
  void put_known(SourceBatch& batch, int i, int64_t index) const override {
    batch.outputs[0].view(i).as<int64_t>()[0] = index;
  }
};

PENSTOCK_READER(ReadersIndices, IndicesSource);

}  // namespace
}  // namespace penstock
