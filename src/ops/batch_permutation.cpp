// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <utility>

#include "ops/machine/random_values.h"

namespace penstock {

// All samples of a batch share the draws of its first one.
struct BatchPermutation {
  bool allow_repetitions = false, no_fixed_points = false;

  static Schema<BatchPermutation> schema() {
    using Op = BatchPermutation;
    return Schema<Op>("batch_permutation",
                      "Draws the numbers of the batch's samples in random order.\n\n"
                      "One int32 for each sample: what `permute_batch` takes.\n\n"
                      "Each order is as likely as another (Durstenfeld, \"Algorithm 235: Random permutation\", "
                      "1964); those without fixed points are drawn until one is found.\n\n"
                      "Example:\n"
                      ">>> order = fn.batch_permutation(batch_size=4)\n"
                      ">>> shuffled = fn.permute_batch(penstock.batch([1, 2, 3, 4]), indices=order)")
        .inputs(0)
        .arg("allow_repetitions", &Op::allow_repetitions, "Draw each number by itself: some may come more than once.")
        .arg("no_fixed_points", &Op::no_fixed_points, "No sample gets its own number, unless it is alone.")
        .random()
        .oracle("dali");
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const { out[0] = {DType::int32, 0, {}}; }
  void shapes(const SampleContext&, std::span<const Shape>, std::span<const ValueType>, std::span<Shape> out) const {
    out[0] = {};
  }
  bool draws_scalars() const { return true; }
  void draw_scalars(std::span<const SampleContext> samples, DType, void* out) const {
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
  void run(const SampleContext&, std::span<const View>, std::span<const View>) const {
    bad_argument("the results must lie one after the other");
  }
};
PENSTOCK_OPERATOR(BatchPermutation);

}  // namespace penstock
