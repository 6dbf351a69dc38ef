// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/reduced_axes.h"

namespace penstock {

namespace {

struct About {
  const char *name, *doc, *more;
};
#define PENSTOCK_SUMMED \
  ".\n\nThe sums are made in float64 in a fixed order: the result does not depend on the number of threads."
constexpr const char* kMean = "The mean of no elements is NaN.";
constexpr const char* kAbout =
    "The second input holds the means, float32 or float64, one for all or one for each result. The result is float64 "
    "for float64, else float32.";
constexpr const char* kExtreme =
    "The result has the type of the input. The result of no elements is the opposite end of that type, or infinity.";

About about(Statistic s) {
  switch (s) {
    case Statistic::sum:
      return {"reductions.sum", "Computes the sum over axes" PENSTOCK_SUMMED " Integers are added modulo 2^64.",
              "The sum of no elements is 0."};
    case Statistic::mean: return {"reductions.mean", "Computes the mean over axes" PENSTOCK_SUMMED, kMean};
    case Statistic::mean_square:
      return {"reductions.mean_square", "Computes the mean of the squares over axes" PENSTOCK_SUMMED, kMean};
    case Statistic::rms:
      return {"reductions.rms", "Computes the root of the mean of the squares over axes" PENSTOCK_SUMMED, kMean};
    case Statistic::variance:
      return {"reductions.variance",
              "Computes the variance over axes, the mean of the squared distances from given means" PENSTOCK_SUMMED,
              kAbout};
    case Statistic::std_dev:
      return {"reductions.std_dev",
              "Computes the standard deviation over axes from given means" PENSTOCK_SUMMED
              " It is the root of the mean of the squared distances.",
              kAbout};
    case Statistic::min:
      return {"reductions.min", "Computes the smallest element over axes; NaN is ignored.", kExtreme};
    case Statistic::max: return {"reductions.max", "Computes the largest element over axes; NaN is ignored.", kExtreme};
  }
  return {};
}

}  // namespace

template <Statistic kStatistic> struct Reduction : ReducedAxes {
  static constexpr bool kIsExtreme = kStatistic == Statistic::min || kStatistic == Statistic::max;
  static constexpr bool kFromMean = kStatistic == Statistic::variance || kStatistic == Statistic::std_dev;
  DType dtype = DType::none;
  int ddof = 0;

  static Schema<Reduction> schema() {
    const About a = about(kStatistic);
    std::string doc = fmt::format("{}{}Layouts: any; the letters of the reduced axes are removed. Types: all. {}",
                                  a.doc, std::string(a.doc).find("\n\n") == std::string::npos ? "\n\n" : " ", a.more);
    if (kFromMean) doc += fmt::format("\n\nExample:\n>>> fn.{}(np.float32([1, 3]), np.float32(2)).item()\n1.0", a.name);
    auto s = Schema<Reduction>(a.name, doc)
                 .with(&ReducedAxes::arguments<Reduction>)
                 .takes_bfloat16()
                 .oracle(kStatistic == Statistic::mean ? "numpy" : "dali");
    if constexpr (!kIsExtreme)
      std::move(s).float64(
          "sums, because float32 loses digits with the number of elements, and squares leave its range");
    if constexpr (kFromMean)
      return std::move(s)
          .inputs(2)
          .input_names({"data", "mean"})
          .arg("ddof", &Reduction::ddof,
               "Delta degrees of freedom: the sum is divided by the number of elements minus this.");
    else if constexpr (kStatistic == Statistic::sum)
      return std::move(s).arg("dtype", &Reduction::dtype,
                              "Type of the result; default: uint64 or int64 for integers, float64 for float64, else "
                              "float32.");
    else if constexpr (!kIsExtreme)
      return std::move(s).arg("dtype", &Reduction::dtype, "Type of the result; default: float32, float64 for float64.");
    else return s;
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if constexpr (kFromMean)
      if (in[1].dtype != DType::none && in[1].dtype != DType::float32 && in[1].dtype != DType::float64)
        bad_type("the means must be float32 or float64, got {}", name_of(in[1].dtype));
    out[0] = reduced(in[0], type_of(in[0].dtype));
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const ReductionPlan p = plan(in[0]);
    ReductionRule rule{kStatistic, ddof, {}};
    if constexpr (kFromMean) {
      rule.about = in[1];
      if (in[1].volume() != 1 && in[1].volume() != p.results)
        bad_argument("{} means do not match {} results", in[1].volume(), p.results);
    }
    to.reduce(in[0], p, rule, out[0]);
  }

 private:
  DType type_of(DType in) const {
    if (dtype != DType::none || (kIsExtreme && in != DType::none)) return kIsExtreme ? in : dtype;
    if (in == DType::none) return kIsExtreme || kStatistic == Statistic::sum ? DType::none : DType::float32;
    if (kStatistic == Statistic::sum && !is_float(in)) return is_unsigned(in) ? DType::uint64 : DType::int64;
    return in == DType::float64 ? DType::float64 : DType::float32;
  }
};

using ReductionSum = Reduction<Statistic::sum>;
using ReductionMean = Reduction<Statistic::mean>;
using ReductionMeanSquare = Reduction<Statistic::mean_square>;
using ReductionRms = Reduction<Statistic::rms>;
using ReductionVariance = Reduction<Statistic::variance>;
using ReductionStdDev = Reduction<Statistic::std_dev>;
using ReductionMin = Reduction<Statistic::min>;
using ReductionMax = Reduction<Statistic::max>;
PENSTOCK_OPERATOR(ReductionSum);
PENSTOCK_OPERATOR(ReductionMean);
PENSTOCK_OPERATOR(ReductionMeanSquare);
PENSTOCK_OPERATOR(ReductionRms);
PENSTOCK_OPERATOR(ReductionVariance);
PENSTOCK_OPERATOR(ReductionStdDev);
PENSTOCK_OPERATOR(ReductionMin);
PENSTOCK_OPERATOR(ReductionMax);

}  // namespace penstock
