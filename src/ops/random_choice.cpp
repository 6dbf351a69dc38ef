// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "families/team/rows.h"
#include "ops/shared/chosen_rows.h"
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
        .float64("a draw of 53 bits finds its place among the sums of the probabilities")
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
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const bool range = in[0].shape.empty();
    const int64_t rows = range ? 0 : in[0].shape[0];
    if (!range && rows < 1) bad_argument(kNone, rows);
    const std::vector<double> up_to = p.given() ? cumulated(s.index) : std::vector<double>{};
    const auto given = static_cast<int64_t>(up_to.size());
    if (!range && p.given() && given != rows) bad_argument(kOther, given, rows);
    const int64_t bytes =
        static_cast<int64_t>(size_of(in[0].dtype)) * (range ? 1 : without_first(in[0].shape).volume());
    const int64_t count = bytes ? out[0].volume() * static_cast<int64_t>(size_of(out[0].dtype)) / bytes : 0;
    if (count == 0) return;
    if (to.at_once() && !range && !p.given() && rows <= kMostChosen)
      return choose_rows(in[0].data, rows, bytes, count, RandomValues::stream(s), out[0].data);
    auto* drawn = range ? nullptr : static_cast<int64_t*>(to.scratch(static_cast<size_t>(count) * sizeof(int64_t)));
    const auto refused = [given](const Refusal& r) {
      if (r.what == 1) bad_argument(kNone, r.whole[0]);
      bad_argument(kOther, given, r.whole[0]);
    };
    run_team<Drawing>({.in = {in[0].data},
                       .out = {out[0].data, drawn},
                       .type = in[0].dtype,
                       .units = count,
                       .table = p.given() ? team_table(std::span<const double>(up_to)) : nullptr,
                       .refused = range ? refused : std::function<void(const Refusal&)>{}},
                      {RandomValues::stream(s), rows, given, p.given()}, to);
    if (range) return;
    to.then();
    team::take_rows(in[0].data, bytes, drawn, count, out[0].data, to);
  }

 private:
  static constexpr const char* kNone = "there must be at least 1 element to choose from, got {}";
  static constexpr const char* kOther = "p has {} numbers, but there are {} elements";
  struct Drawing {
    PENSTOCK_PIXEL(
        struct Coef {
          RandomStream stream;
          int64_t rows;
          int64_t sums;
          int64_t weighted;
        };
        // The first sum that is larger.
        PENSTOCK_HD static int64_t place_of(double v, const double* sums, int64_t n) {
          int64_t low = 0;
          for (int64_t left = n; left > 0;) {
            const int64_t half = left / 2;
            const bool after = !(v < sums[low + half]);
            low = after ? low + half + 1 : low;
            left = after ? left - half - 1 : half;
          }
          return low;
        } template <class In> PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table,
                                                          const Team& team, Refusal& refusal) {
          int64_t n = c.rows;
          if constexpr (std::is_integral_v<In>) {
            if (!a.out[1]) n = static_cast<int64_t>(a.from<In>(0)[0]);
          }
          if (n < 1 || (c.weighted && n != c.sums)) {
            refusal.what = n < 1 ? 1 : 2;
            refusal.whole[0] = n;
            return;
          }
          const double* const sums = reinterpret_cast<const double*>(table);
          for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
            const uint64_t at = static_cast<uint64_t>(i);
            int64_t k;
            if (c.weighted) k = place_of(uniform01_wide(c.stream.draw64(at)) * sums[n - 1], sums, n);
            else if (n > int64_t{1} << 32) {
              k = static_cast<int64_t>(high_product(c.stream.draw64(at), static_cast<uint64_t>(n)));
            } else k = static_cast<int64_t>(uint64_t{c.stream.draw(at)} * static_cast<uint64_t>(n) >> 32);
            if (a.out[1]) a.to<int64_t>(1)[i] = k;
            else if constexpr (sizeof(In) == 8) a.to<In>(0)[i] = static_cast<In>(k);
            else a.to<In>(0)[i] = stored<In>(static_cast<double>(k));
          }
        });
  };
  std::vector<double> cumulated(int sample) const {
    const auto given = p.values(sample);
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
