// SPDX-License-Identifier: Apache-2.0
// normalize: means, deviations from them, then every element. Results stay on the device in float64.
#include <bit>

#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/device_work.h"
#include "cuda/whole/given_numbers.h"
#include "cuda/whole/numbers.h"

namespace penstock {
namespace {

enum ApplyWord {
  kWork,
  kIn,
  kOut,
  kShift,
  kMean,
  kFactor = kMean + kNumberWords,
  kElements = kFactor + kNumberWords,
  kDims,
  kDim,
  kApplyWords = kDim + 2 * Shape::kMaxDims
};
constexpr int kGroup = 4;  // elements per thread

// Dimensions innermost first: extent, stride of the results.
constexpr const char* kApply = R"(
struct alignas(sizeof(In) * kGroup > 16 ? 16 : sizeof(In) * kGroup) Source { In v[kGroup]; };
struct alignas(sizeof(Out) * kGroup > 16 ? 16 : sizeof(Out) * kGroup) Target { Out v[kGroup]; };
__device__ inline void run(const char* table) {
%ENTRY%
  const In* in = reinterpret_cast<const In*>(s[1]);
  Out* out = reinterpret_cast<Out*>(s[2]);
  const double shift = std::bit_cast<double>(s[3]);
  const int64_t n = s[10];
  const int dims = static_cast<int>(s[11]);
  const double* mean = reinterpret_cast<const double*>(s[4] ? s[4] : reinterpret_cast<int64_t>(data + s[5]));
  const double* factor = reinterpret_cast<const double*>(s[7] ? s[7] : reinterpret_cast<int64_t>(data + s[8]));
  const Index mean_step = static_cast<Index>(s[6]), factor_step = static_cast<Index>(s[9]);
  const bool aligned = ((reinterpret_cast<uint64_t>(in) & (alignof(Source) - 1)) |
                        (reinterpret_cast<uint64_t>(out) & (alignof(Target) - 1))) == 0;
  // The innermost dimension is counted, the others are worked out where it is through.
  const Index extent = static_cast<Index>(dims > 0 ? s[12] : n), stride = static_cast<Index>(dims > 0 ? s[13] : 0);
  const auto outer = [&](Index rest) {
    Index r = 0;
    for (int d = 1; d < dims; ++d) {
      const Index own = static_cast<Index>(s[12 + 2 * d]);
      r += rest % own * static_cast<Index>(s[13 + 2 * d]);
      rest /= own;
    }
    return r;
  };
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const int64_t e = i * kGroup;
    Index rest = static_cast<Index>(e) / extent, x0 = static_cast<Index>(e) - rest * extent, base = outer(rest);
    const auto next = [&](In v) {
      if (x0 == extent) x0 = 0, base = outer(++rest);
      const Index r = base + x0++ * stride;
      return stored<Out>((static_cast<double>(v) - mean[r * mean_step]) * factor[r * factor_step] + shift);
    };
    if (aligned && e + kGroup <= n) {
      const Source x = *reinterpret_cast<const Source*>(in + e);
      Target y;
      PENSTOCK_UNROLL
      for (int q = 0; q < kGroup; ++q) y.v[q] = next(x.v[q]);
      *reinterpret_cast<Target*>(out + e) = y;
    } else {
      for (int q = 0; q < kGroup && e + q < n; ++q) out[e + q] = next(in[e + q]);
    }
  }
}
)";

struct ApplyDim {
  int64_t extent, stride;
};

// The dimensions that determine an element's result: innermost first, merged, without irrelevant outer ones.
FixedVector<ApplyDim, Shape::kMaxDims> result_dims(const ReductionPlan& plan) {
  FixedVector<ApplyDim, Shape::kMaxDims> dims;
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
  EntryTable entries(kApplyWords);
  bool wide = false;
  for (size_t i = 0; i < steps.size(); ++i) {
    const NormalizeStep& step = steps[i];
    const int64_t n = step.in.volume();
    if (n == 0) continue;
    wide |= n >= int64_t{1} << 31;
    const int64_t mean_at = entries.data(mean[i].here.data(), mean[i].here.size() * sizeof(double));
    const int64_t factor_at = entries.data(factor[i].here.data(), factor[i].here.size() * sizeof(double));
    int64_t* w = entries.add((n + kGroup - 1) / kGroup);
    w[kIn] = reinterpret_cast<int64_t>(step.in.data), w[kOut] = reinterpret_cast<int64_t>(step.out.data);
    w[kShift] = std::bit_cast<int64_t>(step.rule.shift);
    put_numbers(w + kMean, mean[i], mean_at);
    put_numbers(w + kFactor, factor[i], factor_at);
    w[kElements] = n;
    const auto dims = result_dims(step.plan);
    w[kDims] = dims.size();
    for (int d = 0; d < dims.size(); ++d) w[kDim + 2 * d] = dims[d].extent, w[kDim + 2 * d + 1] = dims[d].stride;
  }
  if (entries.empty()) return;
  const DType in = steps[0].in.dtype, out = steps[0].out.dtype;
  to.add(to.kernel(fmt::format("normalize {} {} {}", name_of(in), name_of(out), wide),
                   [&] {
                     return whole_text(
                         kApplyWords,
                         fmt::format("typedef {} In;\ntypedef {} Out;\ntypedef {} Index;\nconstexpr int kGroup = {};\n",
                                     element(in), element(out), wide ? "int64_t" : "int32_t", kGroup) +
                             with_entry(kApply));
                   }),
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
