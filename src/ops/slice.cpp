// SPDX-License-Identifier: Apache-2.0
#include "operator/image_layout.h"
#include "ops/shared/out_of_bounds.h"
#include "ops/shared/slice_window.h"

namespace penstock {

struct Slice : MapOperator, SliceWindow, OutOfBounds {
  DType dtype = DType::none, old_dtype = DType::none;
  Optional<int> image_type;

  static Schema<Slice> schema() {
    return Schema<Slice>("slice",
                         "Cuts a window out of each sample.\n\n"
                         "The start and the end or the shape of the window are given. The anchor and the shape may "
                         "also be two more inputs. Layouts: any; the output keeps it. Types: all.\n\n"
                         "Example:\n"
                         ">>> fn.slice(np.arange(10), start=[2], end=[5], axes=[0]).tolist()\n"
                         "[2, 3, 4]")
        .with(&slice_window_arguments<Slice>)
        .with(&out_of_bounds_arguments<Slice>)
        .arg("dtype", &Slice::dtype, "Type of the result; default: the input's.")
        .arg("output_dtype", &Slice::old_dtype, "Deprecated name of dtype.")
        .arg("image_type", &Slice::image_type, "Deprecated; accepted without effect.")
        .input_names({"data", "anchor", "shape"})
        .reads_images()
        .oracle("dali");
  }
  void ready() override {
    check_slice_window();
    check_out_of_bounds(true);
    if (dtype == DType::none) dtype = old_dtype;
  }
  void check(std::span<const ValueType> in) override {
    type_ = in[0];
    if (type_.ndim >= 0 && !axes.batch()) named_axes(0, names_of(type_.layout, type_.ndim), type_.ndim);
  }
  DType output_dtype(std::span<const ValueType>) const override { return dtype; }
  bool maps_channels() const override { return true; }
  bool filters() const override { return border().has_value(); }
  bool fills() const override { return constant(); }
  void map(const SampleContext& s, Placement& p) const override {
    for (const Window& w : windows(s.index, names_of(p.layout(), p.ndim()), p.shape()))
      window(p, w.dim, w.start, w.extent);
    const int c = p.dim('C');
    fill(p, c < 0 ? -1 : p.extent(c));
  }
  int64_t out_extent(const SampleContext& s, char axis, int64_t in) const override {
    if (trims() || !type_.layout.has(axis)) return -1;
    return known_extent(s.index, type_.layout, axis, in);
  }

 private:
  ValueType type_;

  // The letters that axis_names refers to; an input without a layout is taken as an image there.
  Layout names_of(const Layout& layout, int ndim) const {
    const bool by_number = axes.given() && !axis_names.given();
    return by_number || !layout.empty() ? layout : image_layout({DType::none, ndim, {}});
  }
};
PENSTOCK_OPERATOR(Slice);

}  // namespace penstock
