// SPDX-License-Identifier: Apache-2.0
// Means and deviations over axes of a sample or of a batch, and the map that they give.
#pragma once
#include "numerics/reduction.h"
#include "operator/sample_work.h"

namespace penstock {

struct Moments {
  std::vector<double> mean, deviation;  // one for each result of the plan
};

// Mean (unless given) and, if requested, sqrt(variance + epsilon): the variance is the sum of squares about the mean /
// (count - ddof), and 0 if count <= ddof.
Moments statistics(const View& in, const ReductionPlan& plan, std::vector<double> mean, bool deviation, int ddof,
                   double epsilon);

// One for each result of the plan, from values in host memory.
std::vector<double> for_each_result(const SampleNumbers& given, const ReductionPlan& plan);

// The same over several samples: first all sums, then all squares.
class BatchStatistics {
 public:
  void add_sum(const View& in, const ReductionPlan& plan);
  std::vector<double> mean() const;
  void add_squares(const View& in, const ReductionPlan& plan, const std::vector<double>& about);
  std::vector<double> deviation(int ddof, double epsilon) const;

 private:
  int64_t count_ = 0;
  std::vector<double> sums_, squares_;
};

// The sample as dense memory of a type that loops compute with: bfloat16 becomes float32. A copy lives in `owner`.
View dense_numbers(const View& in, Tensor& owner);

// out = (in - mean[r]) * factor[r] + shift, r the result of the plan that the element belongs to.
void apply_affine(const View& in, const ReductionPlan& plan, const std::vector<double>& mean,
                  const std::vector<double>& factor, double shift, const View& out);

}  // namespace penstock
