// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <utility>

#include "ops/shared/random_values.h"

namespace penstock {

// All samples of a batch share the draws of the first one.
struct BatchPermutation : WholeOperator {
  bool allow_repetitions = false, no_fixed_points = false;

  static Schema<BatchPermutation> schema() {
    using Op = BatchPermutation;
    return Schema<Op>("batch_permutation",
                      "Returns the numbers of the samples of a batch in random order.\n\n"
                      "Each sample has one int32 scalar, as `permute_batch` takes them. All orders are equally likely "
                      "(Durstenfeld, \"Algorithm 235: Random permutation\", 1964). With no_fixed_points, the operator "
                      "draws orders until one has no fixed point.\n\n"
                      "Example:\n"
                      ">>> order = fn.batch_permutation(batch_size=4)\n"
                      ">>> shuffled = fn.permute_batch(penstock.batch([1, 2, 3, 4]), indices=order)")
        .inputs(0)
        .arg("allow_repetitions", &Op::allow_repetitions,
             "Draw each number independently, so that a number may occur more than once.")
        .arg("no_fixed_points", &Op::no_fixed_points, "No sample gets its own number, except in a batch of one sample.")
        .random()
        .oracle("dali");
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override { out[0] = {DType::int32, 0, {}}; }
  void shapes(const SampleContext&, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = {};
  }
  bool draws_scalars() const override { return true; }
  void draw_scalars(std::span<const SampleContext> samples, DType, void* out) const override {
    const RandomStream stream = RandomValues::stream(samples[0]);
    const int n = static_cast<int>(samples.size());
    auto* to = static_cast<int32_t*>(out);
    uint64_t next = 0;
    const auto below = [&](int m) { return static_cast<int>(uint64_t{stream.draw(next++)} * m >> 32); };
    std::iota(to, to + n, 0);
    if (n == 1) return;
    if (allow_repetitions) {
      for (int i = 0; i < n; ++i) {
        const int k = below(n - no_fixed_points);
        to[i] = k + (no_fixed_points && k >= i);
      }
      return;
    }
    bool fixed = true;
    while (fixed) {
      for (int i = n - 1; i > 0; --i) std::swap(to[i], to[below(i + 1)]);
      fixed = false;
      for (int i = 0; no_fixed_points && i < n && !fixed; ++i) fixed = to[i] == i;
    }
  }
  void run(const SampleContext&, std::span<const View>, std::span<const View>) const override {
    bad_argument("the results must be contiguous");
  }
};
PENSTOCK_OPERATOR(BatchPermutation);

}  // namespace penstock
