// SPDX-License-Identifier: Apache-2.0
#include "operator/operator.h"

namespace penstock {

struct PermuteBatch : WholeOperator {
  PerSample<std::vector<int64_t>> indices;

  static Schema<PermuteBatch> schema() {
    return Schema<PermuteBatch>("permute_batch",
                                "Reorders the samples of a batch: sample i of the output is sample indices[i] of the "
                                "input.\n\nSamples may be omitted or repeated. Layouts: any; the output keeps it. "
                                "Types: all.\n\n"
                                "Example:\n"
                                ">>> batch = fn.permute_batch(penstock.batch([10, 20, 30]), indices=[2, 0, 1])\n"
                                ">>> [sample.item() for sample in batch]\n"
                                "[30, 10, 20]")
        .required("indices", &PermuteBatch::indices, "One number for each sample: a list, or a scalar in each sample.")
        .batch_wide()
        .takes_bfloat16()
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override { out[0] = in[0]; }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    if (s.batch_state) out[0] = input(s).shape(chosen(s.index, input(s).size()));
    else out[0] = Shape::filled(in[0].size(), -1);
  }
  std::shared_ptr<const void> batch_state(std::span<const Batch> in, std::span<const ValueType>) const override {
    return std::make_shared<std::span<const Batch>>(in);
  }
  // Messages about an output name the file that it came from.
  void batch_shapes(std::span<const Batch> in, std::span<const ValueType>, std::span<Batch> out) const override {
    for (int i = 0; i < in[0].size(); ++i)
      if (const int64_t k = index(i, in[0].size()); k >= 0 && k < in[0].size())
        out[0].sample(i).source = in[0].sample(static_cast<int>(k)).source;
  }
  void work(const SampleContext& s, std::span<const View>, std::span<const View> out, SampleWork& to) const override {
    to.copy(input(s).view(chosen(s.index, input(s).size())), out[0]);
  }

 private:
  static const Batch& input(const SampleContext& s) {
    return (*static_cast<const std::span<const Batch>*>(s.batch_state))[0];
  }
  // What `indices` says of a sample; -1 if unknown.
  int64_t index(int sample, int size) const {
    const auto list = indices.values(sample);
    const size_t at = indices.constant() ? static_cast<size_t>(sample) : 0, count = indices.constant() ? size : 1;
    return list.size() == count ? list[at] : -1;
  }
  int chosen(int sample, int size) const {
    const auto list = indices.values(sample);
    if (indices.constant() && static_cast<int>(list.size()) != size)
      bad_argument("{} indices do not match {} samples", list.size(), size);
    if (!indices.constant() && list.size() != 1) bad_argument("a sample must have one index, got {}", list.size());
    const int64_t k = index(sample, size);
    if (k < 0 || k >= size) bad_argument("index {} is out of range for a batch of {} samples", k, size);
    return static_cast<int>(k);
  }
};
PENSTOCK_OPERATOR(PermuteBatch);

}  // namespace penstock
