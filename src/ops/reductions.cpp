// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/reduced_axes.h"

namespace penstock {

namespace {

struct About {
  const char *name, *doc, *more;
};
#define PENSTOCK_SUMMED " summed in float64 in a fixed order: the same on any number of threads."
constexpr const char* kMean = "An empty mean is NaN.";
constexpr const char* kAbout =
    "Second input: the means, float32 or float64, one for all or one for each result. Result: float32, float64 for "
    "float64.";
constexpr const char* kExtreme =
    "The result has the input's type; of no elements it is the other end of that type, or infinity.";

About about(Statistic s) {
  switch (s) {
    case Statistic::sum:
      return {"reductions.sum", "Sum over axes. Integers are added modulo 2^64, others are" PENSTOCK_SUMMED,
              "An empty sum is 0."};
    case Statistic::mean: return {"reductions.mean", "Mean over axes," PENSTOCK_SUMMED, kMean};
    case Statistic::mean_square:
      return {"reductions.mean_square", "Mean of the squares over axes," PENSTOCK_SUMMED, kMean};
    case Statistic::rms: return {"reductions.rms", "Root of the mean of the squares over axes," PENSTOCK_SUMMED, kMean};
    case Statistic::variance:
      return {"reductions.variance", "Mean over axes of the squares of the distances from given means," PENSTOCK_SUMMED,
              kAbout};
    case Statistic::std_dev:
      return {"reductions.std_dev",
              "Root of the mean over axes of the squares of the distances from given means," PENSTOCK_SUMMED, kAbout};
    case Statistic::min: return {"reductions.min", "Smallest element over axes; NaN is left out.", kExtreme};
    case Statistic::max: return {"reductions.max", "Largest element over axes; NaN is left out.", kExtreme};
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
    const std::string doc =
        fmt::format("{}\n\nLayouts: any; the letters of the axes go with them. Types: all. {}", a.doc, a.more);
    auto s = Schema<Reduction>(a.name, doc)
                 .with(&ReducedAxes::arguments<Reduction>)
                 .oracle(kStatistic == Statistic::mean ? "numpy" : "dali");
    if constexpr (kFromMean)
      return std::move(s)
          .inputs(2)
          .input_names({"data", "mean"})
          .arg("ddof", &Reduction::ddof, "The sum is divided by the number of elements less this.");
    else if constexpr (kStatistic == Statistic::sum)
      return std::move(s).arg("dtype", &Reduction::dtype,
                              "Type of the result; default: uint64 or int64 for integers, else as of the mean.");
    else if constexpr (!kIsExtreme)
      return std::move(s).arg("dtype", &Reduction::dtype, "Type of the result; default: float32, float64 for float64.");
    else return std::move(s);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const {
    if constexpr (kFromMean)
      if (in[1].dtype != DType::none && in[1].dtype != DType::float32 && in[1].dtype != DType::float64)
        bad_type("the means are float32 or float64, not {}", name_of(in[1].dtype));
    out[0] = reduced(in[0], type_of(in[0].dtype));
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const {
    const ReductionPlan p = plan(in[0]);
    ReductionRule rule{kStatistic, ddof, {}};
    if constexpr (kFromMean) {
      rule.about = in[1];
      if (in[1].volume() != 1 && in[1].volume() != p.results)
        bad_argument("there are {} means for {} results", in[1].volume(), p.results);
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
