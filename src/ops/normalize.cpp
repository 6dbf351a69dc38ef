// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/axes.h"
#include "operator/operator.h"
#include "operator/statistics.h"

namespace penstock {

struct Normalize : WholeOperator {
  PerSample<std::vector<float>> mean, stddev;
  Optional<std::vector<int64_t>> axes;
  Optional<std::string> axis_names;
  bool batch = false;
  int ddof = 0;
  float epsilon = 0.0f, scale = 1.0f, shift = 0.0f;
  DType dtype = DType::float32;

  static Schema<Normalize> schema() {
    using Op = Normalize;
    return Schema<Op>(
               "normalize",
               "Subtracts the mean and divides by the standard deviation.\n\nout = scale * (in - mean) / sqrt(stddev^2 "
               "+ epsilon) + shift. The operator computes mean and stddev if they are not given: over the axes of the "
               "sample, or of the whole batch, in float64 and in a fixed order. Where a computed deviation is 0, the "
               "result is `shift`.\n\nLayouts: any; the output keeps it. Types: all.\n\n"
               "Example:\n"
               ">>> result = fn.normalize(np.random.rand(48, 64).astype(np.float32))")
        .arg("mean", &Op::mean,
             "The mean: one value, or a tensor of the input's rank with extent 1 along the reduced axes.")
        .arg("stddev", &Op::stddev,
             "The standard deviation: one value, or a tensor of the input's rank with extent 1 along the reduced axes.")
        .arg("axes", &Op::axes, "Axes to reduce; default: those where mean or stddev has extent 1, else all.")
        .arg("axis_names", &Op::axis_names, "The axes by their letters in the layout, instead of by number.")
        .arg("batch", &Op::batch,
             "Reduce over all samples of the batch; then the other axes must have the same extents.")
        .arg("ddof", &Op::ddof,
             "Delta degrees of freedom: the sum of squares is divided by the number of elements minus ddof. The "
             "variance is 0 if that is not positive.")
        .arg("epsilon", &Op::epsilon, "Added to the variance.", at_least(0))
        .arg("scale", &Op::scale, "Multiplies the normalized values.")
        .arg("shift", &Op::shift, "Added to the result.")
        .arg("dtype", &Op::dtype, "Type of the result.")
        .gpu_arguments({"mean", "stddev"})
        .batch_wide()
        .float64("sums and differences from the mean, because values far from 0 would lose their digits in float32")
        .keeps_positions()
        .takes_bfloat16()
        .oracle("dali");
  }
  void ready() override {
    if (axes.given() && axis_names.given()) bad_argument("axes and axis_names are mutually exclusive");
    const bool scalars = mean.given() && stddev.given() && mean.constant() && stddev.constant() &&
                         mean.one().size() == 1 && stddev.one().size() == 1;
    if (scalars && (axes.given() || axis_names.given()))
      bad_argument("axes cannot be given if both mean and stddev are single values");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (mean.constant() && stddev.constant() && mean.given() && stddev.given()) check_counts(in[0].ndim);
    out[0] = in[0];
    if (dtype != DType::none) out[0].dtype = dtype;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  std::shared_ptr<const void> batch_state(std::span<const Batch> in, std::span<const ValueType> types) const override {
    check_counts(types[0].ndim);
    if (!batch) return nullptr;
    auto state = std::make_shared<Moments>();
    BatchStatistics sums;
    for (int i = 0; i < in[0].size(); ++i) sums.add_sum(in[0].tensor(i).view, plan(i, in[0].shape(i), types[0].layout));
    for (int i = 0; i < in[0].size(); ++i) {
      const ReductionPlan p = plan(i, in[0].shape(i), types[0].layout);
      if (stddev.given()) break;
      sums.add_squares(in[0].tensor(i).view, p,
                       mean.given() ? for_each_result(given(mean, i, p, "mean"), p) : sums.mean());
    }
    *state = {sums.mean(), stddev.given() ? std::vector<double>{} : sums.deviation(ddof, epsilon)};
    return state;
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const ReductionPlan p = plan(s.index, in[0].shape, in[0].layout);
    NormalizeRule rule;
    rule.has_mean = mean.given(), rule.has_stddev = stddev.given();
    if (mean.given()) rule.mean = given(mean, s.index, p, "mean");
    if (stddev.given()) rule.stddev = given(stddev, s.index, p, "stddev");
    rule.zero_divides = stddev.given() && stddev.constant() && stddev.one().size() == 1;
    rule.batch = batch && !(mean.given() && stddev.given());
    rule.common = static_cast<const Moments*>(s.batch_state);
    rule.ddof = ddof, rule.epsilon = epsilon, rule.scale = scale, rule.shift = shift;
    to.normalize(in[0], p, rule, out[0]);
  }

 private:
  // Checked before any sample: too many values are not the fault of a file.
  void check_counts(int ndim) const {
    if (ndim < 0 || axes.given() || axis_names.given()) return;
    for (const auto* a : {&mean, &stddev})
      if (a->given() && !a->constant() && a->batch()->ndim() == ndim) return;  // its extents tell the axes
    for (const auto& [name, a] : {std::pair{"mean", &mean}, std::pair{"stddev", &stddev}})
      if (a->given() && a->constant() && a->one().size() > 1)
        bad_argument(
            "{} has {} values, but all axes are reduced: for one value per channel, give axis_names=\"HW\", or "
            "axes=[0, 1] if there is no layout",
            name, a->one().size());
  }
  ReductionPlan plan(int sample, const Shape& in, const Layout& layout) const {
    if (axis_names.given()) return {in, axes_by_name(*axis_names, layout)};
    if (axes.given()) return {in, axes_by_number(*axes, in.size())};
    for (const auto* a : {&mean, &stddev}) {
      if (!a->given() || a->constant() || a->batch()->ndim() != in.size()) continue;
      std::vector<int> over;
      for (int d = 0; d < in.size(); ++d)
        if (a->batch()->shape(sample)[d] == 1) over.push_back(d);
      return {in, over};
    }
    return {in, all_axes(in.size())};
  }
  // One value, or one for each result of the plan.
  static SampleNumbers given(const PerSample<std::vector<float>>& a, int sample, const ReductionPlan& p,
                             const char* name) {
    SampleNumbers v = numbers_of(a, sample);
    if (v.size() != 1 && v.size() != p.results)
      bad_argument("{} has {} values, but the axes that are not reduced have {} elements", name, v.size(), p.results);
    return v;
  }
};
PENSTOCK_OPERATOR(Normalize);

}  // namespace penstock
