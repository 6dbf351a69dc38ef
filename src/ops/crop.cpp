// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/crop_window.h"
#include "operator/image_layout.h"
#include "ops/shared/out_of_bounds.h"

namespace penstock {

struct Crop : MapOperator, CropWindow, OutOfBounds {
  DType dtype = DType::none, old_dtype = DType::none;
  Optional<int> image_type;

  static Schema<Crop> schema() {
    return Schema<Crop>(
               "crop",
               "Cuts a window of a fixed size out of images and volumes.\n\nThe window starts at position * (extent - "
               "window). Layouts: any with H and W; the output keeps the layout. Types: all.")
        .with(&crop_window_arguments<Crop>)
        .with(&out_of_bounds_arguments<Crop>)
        .arg("dtype", &Crop::dtype, "Type of the result; default: the input's.")
        .arg("output_dtype", &Crop::old_dtype, "Deprecated name of dtype.")
        .arg("image_type", &Crop::image_type, "Deprecated; accepted without effect.")
        .oracle("dali");
  }
  void ready() override {
    check_crop_window();
    check_out_of_bounds(true);
    if (dtype == DType::none) dtype = old_dtype;
  }
  bool filters() const override { return border().has_value(); }
  bool fills() const override { return constant(); }
  DType output_dtype(std::span<const ValueType>) const override { return dtype; }
  Layout input_layout(const ValueType& in) const override { return image_layout(in, "DHWC"); }
  void map(const SampleContext& s, Placement& p) const override {
    each_window(s.index, p, [&](int dim, int64_t start, int64_t extent) { window(p, dim, start, extent); });
    const int c = p.dim('C');
    fill(p, c < 0 ? -1 : p.extent(c));
  }
  int64_t out_extent(const SampleContext& s, char axis, int64_t in) const override {
    return trims() && in < 0 ? -1 : known_extent(s.index, axis, in);
  }
};
PENSTOCK_OPERATOR(Crop);

}  // namespace penstock
