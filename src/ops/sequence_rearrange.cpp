// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/frames.h"

namespace penstock {

struct SequenceRearrange : WholeOperator {
  PerSample<std::vector<int64_t>> new_order;

  static Schema<SequenceRearrange> schema() {
    return Schema<SequenceRearrange>("sequence_rearrange",
                                     "Reorders the frames of a sequence: frame k of the output is frame new_order[k] "
                                     "of the input.\n\nFrames may be omitted or repeated. Layouts: none, or any that "
                                     "starts with F; the output keeps it. Types: all.\n\n"
                                     "Example:\n"
                                     ">>> fn.sequence_rearrange(np.int32([[1], [2], [3]]), new_order=[2, 0]).tolist()\n"
                                     "[[3], [1]]")
        .required("new_order", &SequenceRearrange::new_order, "Numbers of frames.")
        .takes_bfloat16()
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_sequence(in[0]);
    out[0] = in[0];
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    const auto order = new_order.values(s.index);
    if (order.empty()) bad_argument("new_order must name at least one frame");
    if (in[0][0] >= 0)
      for (int64_t k : order) check_frame(k, in[0][0], "new_order");
    out[0] = in[0];
    out[0][0] = static_cast<int64_t>(order.size());
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const auto order = new_order.values(s.index);
    for (size_t k = 0; k < order.size(); ++k) to.copy(entry(in[0], order[k]), entry(out[0], static_cast<int64_t>(k)));
  }
};
PENSTOCK_OPERATOR(SequenceRearrange);

}  // namespace penstock
