// SPDX-License-Identifier: Apache-2.0
#include "operator/any_number.h"
#include "ops/shared/signal.h"

namespace penstock {

struct FrameSplicing : WholeOperator {
  int stack = 3;
  Optional<int> subsample;
  float fill_value = 0.0f;

  static Schema<FrameSplicing> schema() {
    using Op = FrameSplicing;
    return Schema<Op>("frame_splicing",
                      "Joins neighboring frames of a spectrogram into one, as speech recognition does before its "
                      "network.\n\nout[k * features + f, t] = in[f, t * subsample + k] for k < stack; frames after the "
                      "last are fill_value. The output has stack times the features, and frames / subsample frames, "
                      "rounded up. Layouts: those with f and t (features and frames); without a layout the last two "
                      "dimensions are (features, frames). Types: all.\n\n"
                      "Example:\n"
                      ">>> fn.frame_splicing(np.zeros((80, 100), np.float32), stack=3, subsample=3).shape\n"
                      "(240, 34)")
        .arg("stack", &Op::stack, "Number of frames that are joined.", at_least(1))
        .arg("subsample", &Op::subsample,
             "Distance between the first frames of two results; default: stack, so that each frame is used once.",
             at_least(1))
        .arg("fill_value", &Op::fill_value, "Value of the frames after the last one.", any_number)
        .takes_bfloat16()
        .oracle("torch");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    if (in[0].ndim >= 0) SpectrogramAxes{in[0].layout, in[0].ndim};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    const SpectrogramAxes axes(types[0].layout, in[0].size());
    out[0] = in[0];
    int64_t &features = out[0][axes.features], &frames = out[0][axes.frames];
    if (features > (int64_t{1} << 40) / stack)
      bad_argument("{} features times a stack of {} are too many", features, stack);
    if (features >= 0) features *= stack;
    if (frames >= 0) frames = (frames + step() - 1) / step();
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const SpectrogramAxes axes(in[0].layout, in[0].shape.size());
    const int64_t frames = in[0].shape[axes.frames], results = out[0].shape[axes.frames],
                  features = in[0].shape[axes.features];
    for (int64_t k = 0; k < stack; ++k) {
      const View place = part(out[0], axes.features, k * features, features);
      const int64_t there = frames > k ? (frames - k + step() - 1) / step() : 0;
      if (there > 0) {
        View from = part(in[0], axes.frames, k, there);
        from.strides[axes.frames] *= step();
        to.copy(from, part(place, axes.frames, 0, there));
      }
      if (there < results) to.fill(part(place, axes.frames, there, results - there), {{fill_value}, {}});
    }
  }

 private:
  int64_t step() const { return subsample.given() ? *subsample : stack; }
};
PENSTOCK_OPERATOR(FrameSplicing);

}  // namespace penstock
