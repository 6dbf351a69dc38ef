// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/crop_window.h"
#include "ops/shared/out_of_bounds.h"
#include "ops/shared/resize_arguments.h"

namespace penstock {

struct ResizeCropMirror : ResampleOperator, ResizeArguments, CropWindow {
  PerSample<int> mirror = 0;

  static Schema<ResizeCropMirror> schema() {
    using Op = ResizeCropMirror;
    return Schema<Op>("resize_crop_mirror",
                      "Resizes, crops and flips images in one step; computes only the pixels that remain.\n\nLayouts: "
                      "any with H and W; the output keeps the layout. Types: all.")
        .with(&resize_arguments<Op>)
        .with(&crop_window_arguments<Op>)
        .arg("mirror", &Op::mirror, "Sum of 1: left to right, 2: top to bottom, 4: front to back.")
        .float64(
            "the weights and positions of taps, once for each row and column of a tile, because float32 has too "
            "few digits for positions in large images")
        .oracle("dali");
  }
  void ready() override {
    check_resize_arguments();
    check_crop_window();
  }
  DType output_dtype(std::span<const ValueType>) const override { return dtype; }
  void check(std::span<const ValueType> in) override { resized_type = in[0].dtype; }
  Layout input_layout(const ValueType& in) const override { return image_layout(in); }
  void map(const SampleContext& s, Placement& p) const override {
    resize(s, p);
    const OutOfBounds error;
    each_window(s.index, p, [&](int dim, int64_t start, int64_t extent) { error.window(p, dim, start, extent); });
    const int bits = mirror[s.index];
    for (int i = 0; i < 3; ++i)
      if (const int d = p.dim("WHD"[i]); d >= 0 && bits >> i & 1 && p.extent(d) > 0)
        p.window(d, p.extent(d) - 1, p.extent(d), -1);
  }
  int64_t out_extent(const SampleContext& s, char axis, int64_t in) const override {
    if (axis != 'D' && axis != 'H' && axis != 'W') return in;
    return known_extent(s.index, axis, -1);
  }
};
PENSTOCK_OPERATOR(ResizeCropMirror);

}  // namespace penstock
