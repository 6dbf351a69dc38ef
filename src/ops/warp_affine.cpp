// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/affine_arguments.h"
#include "ops/shared/sampled_warp.h"

namespace penstock {

struct WarpAffine : StageWarp<AffineArguments> {
  static Schema<WarpAffine> schema() {
    return Schema<WarpAffine>(
               "warp_affine",
               "Transforms images and volumes by an affine map.\n\nCoordinates are (x, y[, z]) with 0 "
               "at the outer corner of the first pixel, unless pixel_origin says otherwise: pixel k has "
               "its center at k + 0.5. Cubic interpolation and the borders reflect, reflect_101 and wrap "
               "are for images, keep the type and join no other operator in a stage. "
               "Layouts: any with H and W, with D for a volume; the output keeps the layout. Types: "
               "all.")
        .with(&affine_arguments<WarpAffine>)
        .float64(
            "the position where each run of 64 pixels begins, because float32 has too few digits for fractions of"
            " pixels in large images")
        .oracle("opencv");
  }
  void ready() override { check_affine(); }
};
PENSTOCK_OPERATOR(WarpAffine);

struct SampledWarpAffine : SampledWarp<AffineArguments> {
  static Schema<SampledWarpAffine> schema() {
    return Schema<SampledWarpAffine>("warp_affine@sampled", "A form of warp_affine.")
        .with(&affine_arguments<SampledWarpAffine>)
        .hidden()
        .float64(gather::kWhyFloat64)
        .oracle("opencv");
  }
  void ready() override { check_affine(); }
};
PENSTOCK_OPERATOR(SampledWarpAffine);

namespace {
[[maybe_unused]] const bool has_forms = add_forms("warp_affine", &choose_warp);
}  // namespace

}  // namespace penstock
