// SPDX-License-Identifier: Apache-2.0
// A reader: the binary files of CIFAR-10, which are records of a label and 3 x 32 x 32 bytes.
#include <penstock/reader.h>

namespace example {
namespace {
using namespace penstock;

constexpr int64_t kSide = 32, kImage = 3 * kSide * kSide, kRecord = 1 + kImage;

ContainerIndex scan_cifar(FileScan& file) {
  if (file.bytes() % kRecord != 0)
    file.fail(file.bytes() / kRecord * kRecord, "the file of {} bytes does not end at the end of a record of {}",
              file.bytes(), kRecord);
  ContainerIndex index;
  for (int64_t at = 0; at < file.bytes(); at += kRecord) index.add(at, kRecord);
  return index;
}
PENSTOCK_CONTAINER_FORMAT(cifar, scan_cifar, nullptr, nullptr);

struct ReadersCifar : ReaderOptions {
  std::vector<std::string> path;
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    out[0] = {DType::uint8, 3, "CHW"};
    out[1] = {DType::int32, 1, {}};
  }
  static Schema<ReadersCifar> schema() {
    using Op = ReadersCifar;
    return Schema<Op>("readers.cifar",
                      "Reads the binary files of CIFAR-10.\n\n"
                      "Outputs: the image (uint8, CHW, 3 x 32 x 32) and its label (int32, one value).")
        .inputs(0)
        .outputs(2)
        .loads_samples()
        .required("path", &Op::path, "Paths of the files; patterns with * or ? become the files that match, sorted.")
        .with(reader_arguments<Op>);
  }
};

class CifarSource final : public ContainerSource {
 public:
  CifarSource(uint64_t seed, const ReadersCifar& a) : ContainerSource(a) {
    open(seed, open_container(container_format("cifar"), a.path, {}));
  }

 protected:
  std::vector<Batch> make_outputs(int n) const override {
    return {Batch(DType::uint8, 3, "CHW", n), Batch(DType::int32, 1, {}, n)};
  }
  void take(SourceBatch& batch, int i, int64_t, const LoadedRecord& record) const override {
    give(batch.outputs[0], i, {3, kSide, kSide}, record.bytes.data() + 1, record.owner);
    const auto label = std::make_shared<int32_t>(record.bytes[0]);
    give(batch.outputs[1], i, {1}, label.get(), label);
  }
};
PENSTOCK_READER(ReadersCifar, CifarSource);

}  // namespace
}  // namespace example
