// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/random_window.h"

namespace penstock {

struct RandomCropGenerator : WholeOperator, RandomWindow {
  static Schema<RandomCropGenerator> schema() {
    return Schema<RandomCropGenerator>(
               "random_crop_generator",
               "Draws a window of random area and aspect ratio, as random_resized_crop does.\n\nInput: the shape of an "
               "image, (height, width) or (height, width, channels), 1-D integers. Outputs, int32: the start and the "
               "extents of the window, (y, x) and (height, width), as slice takes them.\n\n"
               "Example:\n"
               ">>> anchor, shape = fn.random_crop_generator(np.int64([480, 640, 3]), random_area=[0.25, 1.0])")
        .with(&random_window_arguments<RandomCropGenerator>)
        .input_names({"shape"})
        .read_on_host({"shape"})
        .outputs(2)
        .oracle("dali");
  }
  void ready() override { check_random_window(); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].dtype != DType::none && !is_integer(in[0].dtype))
      bad_type("extents must be integers, got {}", name_of(in[0].dtype));
    if (in[0].ndim >= 0 && in[0].ndim != 1) bad_type("a shape must have one dimension, got {}", in[0].ndim);
    out[0] = out[1] = {DType::int32, 1, {}};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    if (in[0][0] >= 0 && in[0][0] != 2 && in[0][0] != 3)
      bad_argument("a shape must be (height, width) or (height, width, channels), got {} numbers", in[0][0]);
    out[0] = out[1] = {2};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int64_t height = element_as_int(in[0], 0), width = element_as_int(in[0], 1);
    for (int64_t e : {height, width})
      if (e < 0 || e > INT32_MAX) bad_argument("an extent must be from 0 to {}, got {}", INT32_MAX, e);
    const Window w = draw(s, height, width);
    const auto give = [&](const View& pair, int64_t y, int64_t x) {
      const int32_t numbers[2] = {static_cast<int32_t>(y), static_cast<int32_t>(x)};
      give_bytes(pair, std::as_bytes(std::span(numbers)), to);
    };
    give(out[0], w.y, w.x), give(out[1], w.height, w.width);
  }
};
PENSTOCK_OPERATOR(RandomCropGenerator);

}  // namespace penstock
