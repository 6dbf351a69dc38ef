// SPDX-License-Identifier: Apache-2.0
#include "operator/statistics.h"

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "base/intrinsics.h"
#include "base/target.h"
#include "operator/stored.h"

namespace penstock {

#define PENSTOCK_LOOPS statistics
#define PENSTOCK_LOOPS_TEXT "operator/statistics.inc.h"
#include "base/foreach_target.h"

std::vector<double> for_each_result(const SampleNumbers& given, const ReductionPlan& plan) {
  if (given.size() == 1) return std::vector<double>(static_cast<size_t>(plan.results), given.here[0]);
  return {given.here.begin(), given.here.end()};
}

Moments statistics(const View& in, const ReductionPlan& plan, std::vector<double> mean, bool deviation, int ddof,
                   double epsilon) {
  BatchStatistics s;
  s.add_sum(in, plan);
  Moments out{mean.empty() ? s.mean() : std::move(mean), {}};
  if (deviation) {
    s.add_squares(in, plan, out.mean);
    out.deviation = s.deviation(ddof, epsilon);
  }
  return out;
}

View dense_numbers(const View& in, Tensor& owner) {
  if (!in.dense()) {
    owner = Tensor::empty(in.dtype, in.shape, in.layout);
    copy_strided(in, owner.view);
    Tensor numbers;
    const View v = dense_numbers(owner.view, numbers);
    if (numbers.view.data) owner = std::move(numbers);
    return v;
  }
  if (in.dtype != DType::bfloat16) return in;
  owner = Tensor::empty(DType::float32, in.shape, in.layout);
  const auto* from = in.as<const BFloat16>();
  std::copy_n(from, in.volume(), owner.view.as<float>());
  return owner.view;
}

void BatchStatistics::add_sum(const View& in, const ReductionPlan& plan) {
  if (sums_.empty()) sums_.resize(static_cast<size_t>(plan.results));
  if (static_cast<int64_t>(sums_.size()) != plan.results)
    bad_argument(
        "the samples of the batch must have the same extents on the axes that are not reduced: {} and {} results",
        sums_.size(), plan.results);
  Tensor owner;
  reduce(dense_numbers(in, owner), plan, nullptr, sums_.data());
  count_ += plan.count;
}

std::vector<double> BatchStatistics::mean() const {
  std::vector<double> m = sums_;
  for (double& v : m) v /= static_cast<double>(count_);
  return m;
}

void BatchStatistics::add_squares(const View& in, const ReductionPlan& plan, const std::vector<double>& about) {
  squares_.resize(sums_.size());
  Tensor owner;
  reduce(dense_numbers(in, owner), plan, about.data(), squares_.data());
}

std::vector<double> BatchStatistics::deviation(int ddof, double epsilon) const {
  std::vector<double> d = squares_;
  for (double& v : d) v = sqrt((count_ > ddof ? v / static_cast<double>(count_ - ddof) : 0.0) + epsilon);
  return d;
}

// The fewest elements that are worth starting a loop.
constexpr int64_t kLongRun = 768;
// An output of this many bytes leaves the second-level cache before anything reads it.
constexpr int64_t kLargeOutput = 1 << 20;
// Values that are doubles at a time: they stay in the first-level cache.
constexpr int64_t kDoubles = 512;

// Results of types other than float32 and float64 go through doubles: a loop for each of the 144 pairs of types would
// be 1.3 MB of code.
[[gnu::noinline]] static void store_part(Target target, const double* part, int64_t n, const View& out, int64_t at) {
  dispatch_stored(out.dtype, [&](auto tag) {
    using U = typename decltype(tag)::type;
    PENSTOCK_FOR_TARGET(target, statistics, store_doubles(part, n, out.as<U>() + at));
  });
}

void apply_affine(const View& in, const ReductionPlan& plan, const std::vector<double>& mean,
                  const std::vector<double>& factor, double shift, const View& out) {
  const int64_t n = in.volume();
  if (n == 0) return;
  const Shape strides = plan.result_strides();
  // Innermost: the longest tail whose elements share one result, or have contiguous results.
  int first = in.shape.size();
  int64_t run = 1;
  bool same = false, apart = false;
  while (first > 0) {
    const bool reduced = plan.reduced[first - 1] || in.shape[first - 1] == 1;
    if (in.shape[first - 1] != 1) {
      if ((reduced && apart) || (!reduced && same)) break;
      (reduced ? same : apart) = true;
    }
    run *= in.shape[--first];
  }
  // If all results are contiguous in the innermost run, several runs become one, with the coefficients repeated.
  std::vector<double> means = mean, factors = factor;
  if (apart && run == plan.results && run < kLongRun) {
    const int64_t repeats = std::min(kLongRun / run, n / run);
    for (int64_t k = run; k < repeats * run; ++k) means.push_back(means[k - run]), factors.push_back(factors[k - run]);
    run *= repeats;
    first = 0;
  }
  const Target target = best_target();
  const bool past_caches = n * static_cast<int64_t>(size_of(out.dtype)) >= kLargeOutput;
  const auto for_each_run = [&](auto&& affine) {  // affine(place, elements, place of the result)
    int64_t index[Shape::kMaxDims] = {};
    for (int64_t i = 0; i < n; i += run) {
      int64_t r = 0;
      for (int d = 0; d < first; ++d) r += index[d] * strides[d];
      affine(i, std::min(run, n - i), r);
      for (int d = first - 1; d >= 0 && ++index[d] == in.shape[d]; --d) index[d] = 0;
    }
  };
  if (out.dtype == DType::float32)
    dispatch(in.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for_each_run([&](int64_t i, int64_t elements, int64_t r) {
        PENSTOCK_FOR_TARGET(target, statistics,
                            affine_run(in.as<T>() + i, out.as<float>() + i, elements, &means[r], &factors[r], apart,
                                       shift, past_caches));
      });
    });
  else
    dispatch(in.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for_each_run([&](int64_t i, int64_t elements, int64_t r) {
        const T* from = in.as<T>() + i;
        if (out.dtype == DType::float64) {
          PENSTOCK_FOR_TARGET(
              target, statistics,
              affine_doubles(from, out.as<double>() + i, elements, &means[r], &factors[r], apart, shift));
          return;
        }
        double part[kDoubles];
        for (int64_t k = 0; k < elements; k += kDoubles) {
          const int64_t m = std::min(kDoubles, elements - k), at = r + (apart ? k : 0);
          PENSTOCK_FOR_TARGET(target, statistics,
                              affine_doubles(from + k, part, m, &means[at], &factors[at], apart, shift));
          store_part(target, part, m, out, i + k);
        }
      });
    });
  if (past_caches) std::atomic_thread_fence(std::memory_order_seq_cst);  // nothing else orders such stores
}

}  // namespace penstock
