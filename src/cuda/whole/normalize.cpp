// SPDX-License-Identifier: Apache-2.0
// normalize: means, deviations from them, then every element. Results stay on the device in float64.
#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/device_work.h"
#include "cuda/whole/given_numbers.h"
#include "cuda/whole/kernels/normalize.h"

namespace penstock {
namespace {

// The dimensions that determine an element's result: innermost first, merged, without irrelevant outer ones.
FixedVector<whole::NormalizeRow::Dim, Shape::kMaxDims> result_dims(const ReductionPlan& plan) {
  FixedVector<whole::NormalizeRow::Dim, Shape::kMaxDims> dims;
  const Shape strides = plan.result_strides();
  for (int d = plan.in.size() - 1; d >= 0; --d) {
    if (plan.in[d] == 1) continue;
    if (!dims.empty() && strides[d] == dims.back().stride * dims.back().extent) dims.back().extent *= plan.in[d];
    else dims.push_back({plan.in[d], strides[d]});
  }
  while (!dims.empty() && dims.back().stride == 0) dims.pop_back();
  return dims;
}

void enqueue_apply(std::span<const NormalizeStep> steps, const std::vector<ResultNumbers>& mean,
                   const std::vector<ResultNumbers>& factor, Launches& to) {
  EntryTable<whole::NormalizeRow> entries;
  bool wide = false;
  for (size_t i = 0; i < steps.size(); ++i) {
    const NormalizeStep& step = steps[i];
    const int64_t n = step.in.volume();
    if (n == 0) continue;
    wide |= n >= int64_t{1} << 31;
    whole::NormalizeRow& row = entries.add((n + whole::kNormalizeGroup - 1) / whole::kNormalizeGroup);
    row.in = step.in.data, row.out = step.out.data;
    row.shift = step.rule.shift;
    row.mean = mean[i].row(entries.data), row.factor = factor[i].row(entries.data);
    row.elements = n;
    for (const auto& dim : result_dims(step.plan)) row.dim[row.dims++] = dim;
  }
  to.add({"normalize.h", fmt::format("normalize<{}, {}, {}>", element(steps[0].in.dtype), element(steps[0].out.dtype),
                                     wide ? "int64_t" : "int32_t")},
         entries, kStageThreads);
}

}  // namespace

void enqueue_normalize(std::span<const NormalizeStep> steps, Launches& to) {
  if (steps.empty()) return;
  const NormalizeRule& first = steps[0].rule;  // the same for all, except for values
  const bool together = first.batch;
  int64_t count = 0;
  for (const NormalizeStep& s : steps) {
    if (together && s.plan.results != steps[0].plan.results)
      bad_argument(
          "the samples of the batch must have the same extents on the axes that are not reduced: {} and {} results",
          steps[0].plan.results, s.plan.results);
    count += s.plan.count;
  }
  std::vector<ResultNumbers> mean, factor;
  GivenNumbers given;
  for (const NormalizeStep& s : steps) {
    const NormalizeRule& r = s.rule;
    if (first.has_mean) mean.push_back(given.numbers(r.mean, s.plan.results, {}, to));
    if (first.has_stddev)
      factor.push_back(given.numbers(r.stddev, s.plan.results, {true, r.zero_divides, r.epsilon, r.scale}, to));
  }
  given.enqueue(to);
  const auto sums = [&](SumUse use, std::vector<ResultNumbers>& numbers) {
    std::vector<SumInput> inputs;
    std::vector<SumOutput> outputs;
    for (size_t i = 0; i < steps.size(); ++i) {
      const NormalizeStep& s = steps[i];
      inputs.push_back({s.in, &s.plan, use == SumUse::factor ? &mean[i] : nullptr});
      if (together && i > 0) {
        numbers.push_back(numbers[0]);
        continue;
      }
      auto* there = static_cast<double*>(to.scratch(static_cast<size_t>(s.plan.results) * sizeof(double)));
      numbers.push_back({there, {}, 1});
      outputs.push_back({there, together ? count : s.plan.count, s.rule.ddof, s.rule.epsilon, s.rule.scale});
    }
    enqueue_sums(inputs, outputs, use, DType::float64, to);
  };
  if (!first.has_mean) sums(SumUse::mean, mean);
  if (!first.has_stddev) sums(SumUse::factor, factor);
  enqueue_apply(steps, mean, factor, to);
}

}  // namespace penstock
