// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/shared/frames.h"
#include "ops/shared/random_values.h"

namespace penstock {

struct RandomChoice : WholeOperator, GivenShape {
  PerSample<std::vector<float>> p;

  static Schema<RandomChoice> schema() {
    using Op = RandomChoice;
    return Schema<Op>("random.choice",
                      "Draws elements of the first input, with replacement.\n\nA scalar n means the integers from 0 to "
                      "n - 1. For arrays with more than one dimension the operator draws rows. A second input gives "
                      "its shape to the result; without it and without `shape` one element per sample is drawn. The "
                      "output keeps the layout; a single element has the layout without its first letter. The random "
                      "numbers come from Philox4x32-10, keyed on the seed, the epoch, the sample and, unless the "
                      "operator has a seed of its own, the operator. Types: all; the output keeps the type; scalars "
                      "must be integers.\n\n"
                      "Example:\n"
                      ">>> drawn = fn.random.choice(np.int32([10, 20, 30]), p=[0.2, 0.3, 0.5])")
        .arg("p", &Op::p, "Probabilities of the elements, whose sum is 1; default: all are equally likely.")
        .arg("shape", &Op::shape, kShape)
        .inputs(1, 2)
        .input_names({"a", "shape_like"})
        .random()
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (shape.given() && in.size() > 1) bad_argument("shape and an input that gives its shape are mutually exclusive");
    if (in[0].ndim == 0 && in[0].dtype != DType::none && !is_integer(in[0].dtype))
      bad_type("a scalar to draw below must be an integer, got {}", name_of(in[0].dtype));
    const int own = in.size() > 1 ? in[1].ndim : given_ndim();
    out[0] = {in[0].dtype, own < 0 || in[0].ndim < 0 ? -1 : own + std::max(in[0].ndim - 1, 0), {}};
    if (in[0].layout.size() != in[0].ndim || in[0].ndim < 1) return;
    if (own == 1) out[0].layout = in[0].layout;
    else if (own == 0) out[0].layout = Layout(in[0].layout.str().substr(1));
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in.size() > 1 ? in[1] : given_shape(s.index);
    for (int d = 1; d < in[0].size(); ++d) out[0].push_back(in[0][d]);
  }
  void run(const SampleContext& s, std::span<const View> in, std::span<const View> out) const override {
    const bool range = in[0].shape.empty();
    const int64_t n = range ? element_as_int(in[0], 0) : in[0].shape[0];
    constexpr int64_t kNarrow = int64_t{1} << 32;
    if (n < 1) bad_argument("there must be at least 1 element to choose from, got {}", n);
    const std::vector<double> up_to = p.given() ? cumulated(s.index, n) : std::vector<double>{};
    const RandomStream stream = RandomValues::stream(s);
    const size_t bytes =
        range ? size_of(in[0].dtype) : static_cast<size_t>(without_first(in[0].shape).volume()) * size_of(in[0].dtype);
    const int64_t count =
        bytes ? out[0].volume() * static_cast<int64_t>(size_of(out[0].dtype)) / static_cast<int64_t>(bytes) : 0;
    for (int64_t i = 0; i < count; ++i) {
      int64_t k;
      if (up_to.empty() && n > kNarrow) {
        k = static_cast<int64_t>(
            static_cast<unsigned __int128>(stream.draw64(static_cast<uint64_t>(i))) * static_cast<uint64_t>(n) >> 64);
      } else if (up_to.empty()) {
        k = static_cast<int64_t>(uint64_t{stream.draw(static_cast<uint64_t>(i))} * static_cast<uint64_t>(n) >> 32);
      } else {
        const double u = uniform01_wide(stream.draw64(static_cast<uint64_t>(i))) * up_to.back();
        k = std::upper_bound(up_to.begin(), up_to.end(), u) - up_to.begin();
      }
      if (range && bytes == sizeof k) std::memcpy(out[0].as<char>() + static_cast<size_t>(i) * bytes, &k, bytes);
      else if (range) store_value(out[0], i, static_cast<double>(k));
      else
        std::memcpy(out[0].as<char>() + static_cast<size_t>(i) * bytes,
                    in[0].as<char>() + static_cast<size_t>(k) * bytes, bytes);
    }
  }

 private:
  std::vector<double> cumulated(int sample, int64_t n) const {
    const auto given = p.values(sample);
    if (static_cast<int64_t>(given.size()) != n)
      bad_argument("p has {} numbers, but there are {} elements", given.size(), n);
    std::vector<double> sums;
    double sum = 0;
    for (float v : given) {
      if (!(v >= 0 && v <= 1)) bad_argument("a probability in p must be from 0 to 1, got {}", v);
      sums.push_back(sum += v);
    }
    if (std::fabs(sum - 1) > 1e-3) bad_argument("the sum of p must be 1, got {}", sum);
    return sums;
  }
};
PENSTOCK_OPERATOR(RandomChoice);

}  // namespace penstock
