// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/rotate_arguments.h"
#include "ops/shared/sampled_warp.h"

namespace penstock {

struct Rotate : StageWarp<RotateArguments> {
  static Schema<Rotate> schema() {
    return Schema<Rotate>("rotate",
                          "Rotates images counter-clockwise, and volumes about an axis, around their centers.\n\nThe "
                          "canvas holds the whole result unless size or keep_size is given. To move points with an "
                          "image, use transforms.rotation(angle=-angle): its angles go from x to y, and y points down. "
                          "Cubic interpolation and the borders reflect, reflect_101 and wrap are for images, keep the "
                          "type and join no other operator in a stage. "
                          "Layouts: any with H and W, with D for a volume; the output keeps the layout. Types: all.")
        .with(&rotate_arguments<Rotate>)
        .float64(
            "the position where each run of 64 pixels begins, because float32 has too few digits for fractions of"
            " pixels in large images")
        .oracle("dali");
  }
  void ready() override { check_warp(); }
};
PENSTOCK_OPERATOR(Rotate);

struct SampledRotate : SampledWarp<RotateArguments> {
  static Schema<SampledRotate> schema() {
    return Schema<SampledRotate>("rotate@sampled", "A form of rotate.")
        .with(&rotate_arguments<SampledRotate>)
        .hidden()
        .float64(gather::kWhyFloat64)
        .oracle("opencv");
  }
  void ready() override { check_warp(); }
};
PENSTOCK_OPERATOR(SampledRotate);

namespace {
[[maybe_unused]] const bool has_forms = add_forms("rotate", &choose_warp);
}  // namespace

}  // namespace penstock
