// SPDX-License-Identifier: Apache-2.0
#include "operator/operator.h"
#include "ops/shared/descriptor_matches.h"

namespace penstock {

struct Match : WholeOperator {
  std::string norm = "l2";
  int count = 1;
  bool cross_check = false;

  static Schema<Match> schema() {
    using Op = Match;
    return Schema<Op>(
               "match",
               "Finds for each descriptor of a source the nearest ones of a target, comparing all with all.\n\nInputs: "
               "descriptors as rows, (N, D) and (M, D), of one type: uint8 and float32; for norm=\"hamming\" uint8, "
               "uint16 and uint32. Outputs: pairs of a row of the source and a row of the target, (K, 2) int32, in the "
               "order of the source and then of distances; and their distances, (K) float32. Of equal distances the "
               "first row of the target counts. A distance that is not a number counts as infinite. K is N times "
               "`count`, or M if that is less; with cross_check it is what is left.\n\nExample:\n"
               ">>> pairs, distances = fn.match(np.float32([[0, 0], [5, 5]]), np.float32([[5, 4], [0, 1], [9, 9]]))\n"
               ">>> pairs.tolist(), distances.tolist()\n"
               "([[0, 1], [1, 0]], [1.0, 1.0])")
        .inputs(2)
        .input_names({"source", "target"})
        .outputs(2)
        .arg("norm", &Op::norm,
             "\"l2\": the root of the sum of squared differences. \"l1\": the sum of their magnitudes. \"hamming\": "
             "the number of bits that differ.")
        .arg("count", &Op::count, "How many matches of each descriptor of the source.", at_least(1))
        .arg("cross_check", &Op::cross_check,
             "Keep a match only if the source is the nearest one of its target too. It needs count=1.")
        .batch_wide()
        .oracle("opencv");
  }
  void ready() override {
    if (norm != "l1" && norm != "l2" && norm != "hamming")
      bad_argument("norm must be l1, l2 or hamming, got '{}'", norm);
    if (cross_check && count != 1) bad_argument("cross_check needs count=1, got {}", count);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    for (const ValueType& v : in) {
      if (v.ndim >= 0 && v.ndim != 2) bad_type("descriptors must have the shape (N, D), got {} dimensions", v.ndim);
      const bool whole = v.dtype == DType::uint8 || v.dtype == DType::uint16 || v.dtype == DType::uint32;
      const bool fits = norm == "hamming" ? whole : v.dtype == DType::uint8 || v.dtype == DType::float32;
      if (v.dtype != DType::none && !fits)
        bad_type("descriptors must be {} for norm=\"{}\", got {}",
                 norm == "hamming" ? "uint8, uint16 or uint32" : "uint8 or float32", norm, name_of(v.dtype));
    }
    if (in[0].dtype != in[1].dtype && in[0].dtype != DType::none && in[1].dtype != DType::none)
      bad_type("descriptors of the source are {}, those of the target {}", name_of(in[0].dtype), name_of(in[1].dtype));
    out[0] = {DType::int32, 2, {}};
    out[1] = {DType::float32, 1, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    check_shapes(in);
    int64_t matches = in[0].known() && in[1].known() ? in[0][0] * std::min<int64_t>(count, in[1][0]) : -1;
    if (cross_check) matches = measured(s) ? measured(s)[0] : -1;
    out[0] = {matches, 2}, out[1] = {matches};
  }
  void measure(const SampleContext&, std::span<const View> in, SampleWork& to, int64_t* numbers) const override {
    check_shapes(std::array{in[0].shape, in[1].shape});
    const MatchCoef c = coef(in);
    if (!cross_check || c.sources == 0 || c.targets == 0) return;
    auto* const pairs = static_cast<int32_t*>(to.scratch(static_cast<size_t>((3 * c.sources + 3 * c.targets) * 8)));
    void* const distances = pairs + 2 * c.sources;
    if (to.at_once()) {  // else the kernel writes the numbers, which are on the device
      numbers[1] = reinterpret_cast<int64_t>(pairs), numbers[2] = reinterpret_cast<int64_t>(distances);
      numbers[0] = match_rows(in[0].data, in[1].data, c, true, pairs, static_cast<float*>(distances));
      return;
    }
    MatchCoef back = c;
    std::swap(back.sources, back.targets);
    int32_t* const near = pairs + 3 * c.sources;      // pairs and distances of the source
    int32_t* const near_back = near + 3 * c.sources;  // those of the target
    search({in[0].data, in[1].data}, {near, near + 2 * c.sources}, c, to);
    search({in[1].data, in[0].data}, {near_back, near_back + 2 * c.targets}, back, to);
    to.then();
    run_team<MutualRows>(
        {.in = {near, near + 2 * c.sources, near_back}, .out = {pairs, distances, numbers}, .header = kHeader}, c, to);
    to.then();
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int64_t matches = out[1].volume();
    if (matches == 0) return;
    const MatchCoef c = coef(in);
    if (cross_check) {
      const auto* const pairs = reinterpret_cast<const void*>(measured(s)[1]);
      const auto* const distances = reinterpret_cast<const void*>(measured(s)[2]);
      run_team<MatchedRows>({.in = {pairs, distances}, .out = {out[0].data, out[1].data}, .units = matches}, {0}, to);
    } else if (to.at_once()) {
      match_rows(in[0].data, in[1].data, c, false, out[0].as<int32_t>(), out[1].as<float>());
    } else {
      search({in[0].data, in[1].data}, {out[0].data, out[1].data}, c, to);
    }
  }

 private:
  static constexpr const char* kHeader = "families/team/kernels/descriptors.h";

  static void search(std::vector<const void*> in, std::vector<void*> out, const MatchCoef& c, SampleWork& to) {
    const int64_t groups = (c.sources + kRowsTogether - 1) / kRowsTogether;
    run_team<NearestRows>(
        {.in = std::move(in), .out = std::move(out), .units = groups, .header = kHeader, .unit_for_team = true}, c, to);
  }
  MatchCoef coef(std::span<const View> in) const {
    const int32_t kind = norm == "l1" ? kNormL1 : norm == "l2" ? kNormL2 : kNormHamming;
    const bool bytes = in[0].dtype != DType::float32;
    const int64_t numbers = in[0].shape[1] * (bytes ? size_of(in[0].dtype) : 1);
    const int64_t targets = in[1].shape[0];
    return {in[0].shape[0], targets, numbers, std::min<int64_t>(count, targets), kind, bytes};
  }
  static void check_shapes(std::span<const Shape> in) {
    for (const Shape& v : in) {
      if (!v.known()) continue;
      if (v[0] > INT32_MAX / 2) bad_argument("{} descriptors are too many", v[0]);
      if (v[1] > kMostDescriptorNumbers / 4)
        bad_argument("descriptors have at most {} numbers, got {}", kMostDescriptorNumbers / 4, v[1]);
    }
    if (in[0].known() && in[1].known() && in[0][1] != in[1][1])
      bad_argument("descriptors of the source have {} numbers, those of the target {}", in[0][1], in[1][1]);
  }
};
PENSTOCK_OPERATOR(Match);

}  // namespace penstock
