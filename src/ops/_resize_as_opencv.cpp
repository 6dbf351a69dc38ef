// SPDX-License-Identifier: Apache-2.0
// The form of resize whose values are those of cv2.resize.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/shared/opencv_area.h"
#include "ops/shared/opencv_resize.h"
#include "ops/shared/resize_arguments.h"

namespace penstock {

struct ResizeAsOpencv : WholeOperator, WholeResizeArguments {
  static Schema<ResizeAsOpencv> schema() {
    return Schema<ResizeAsOpencv>("resize@opencv", "A form of resize.")
        .with(&whole_resize_arguments<ResizeAsOpencv>)
        .hidden()
        .float64("positions and the angles of LANCZOS4, as OpenCV does")
        .oracle("opencv");
  }
  void ready() override { check_resize_arguments(); }
  int count_outputs() const override { return 1 + save_attrs; }
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    const Layout layout = check_image(in[0]);
    if (layout.has('D')) bad_type("compat='opencv' resizes images, got the layout '{}': resize by axes", layout.str());
    const DType t = in[0].dtype;
    if (exact() && t != DType::none && !exact_type(t) && !is_float(t))
      bad_type("linear_exact resizes uint8, uint16, int16 and floats, got {}", name_of(t));
    out[0] = {dtype == DType::none ? t : dtype, in[0].ndim, layout};
    if (save_attrs) out[1] = {DType::int32, 1, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    const Layout layout = check_image(types[0]);
    const ResizeRequest request = resize_request(s, layout);
    const int y = layout.find('H'), x = layout.find('W');
    out[0] = in[0];
    if (save_attrs) out[1] = {2};
    if (in[0][y] == 0 || in[0][x] == 0) bad_argument("an image of the shape {} has no pixels", in[0].text());
    if (in[0][y] >= 0 && in[0][x] >= 0) {
      const auto axes = axes_of(request, in[0], y);
      out[0][y] = axes[0].out, out[0][x] = axes[1].out;
    } else {
      out[0][y] = resized_extent(request, 0), out[0][x] = resized_extent(request, 1);
    }
  }
  PointMap point_map(const SampleContext& s, const Shape& image, const Layout& layout) const override {
    PointMap to_input;
    const auto axes = axes_of(resize_request(s, layout), image, layout.find('H'));
    for (int i = 0; i < 2; ++i) {
      const ResizedAxis& a = axes[static_cast<size_t>(1 - i)];
      to_input.m[4 * i] = (a.hi - a.lo) / static_cast<double>(a.out), to_input.m[3 * i + 2] = a.lo;
    }
    return inverse(to_input);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int y = in[0].layout.find('H');
    const auto axes = axes_of(resize_request(s, in[0].layout), in[0].shape, y);
    if (save_attrs)
      to.fill(out[1], {{static_cast<float>(in[0].shape[y]), static_cast<float>(in[0].shape[y + 1])}, {}}, 0);
    const auto window = [&](const ResizedAxis& a) {
      if (exact()) return AxisWindow{a.lo, a.hi, a.out, FilterKind::linear, false};
      return axis_window(s.index, a.lo, a.hi, a.out);
    };
    AxisWindow rows = window(axes[0]), columns = window(axes[1]);
    const DType t = in[0].dtype;
    const bool halves = halved(axes[0], in[0].shape[y]) && halved(axes[1], in[0].shape[y + 1]);
    const bool linear = rows.kind == FilterKind::linear;
    if (exact_type(t) && (exact() || (halves && (linear || (is_area(rows.kind) && t != DType::uint8))))) {
      // Where both sides are halved OpenCV makes means: of 1, 3 or 4 channels rounded half up, else half to even.
      const int64_t channels = image_extents(in[0].shape, in[0].layout).inner;
      if (!halves || (channels <= 4 && (exact() || channels != 2)))
        return resize_exactly_as_opencv(in[0], out[0], columns, rows, to);
      rows.kind = columns.kind = FilterKind::area;
    }
    const bool grows = rows.kind == FilterKind::area_linear || columns.kind == FilterKind::area_linear;
    if (is_area(rows.kind) && !grows) return area_as_opencv(in[0], out[0], columns, rows, to);
    const FilterKind kind = grows                             ? FilterKind::area_linear
                            : rows.kind == FilterKind::linear ? FilterKind::linear
                            : rows.kind == FilterKind::cubic  ? FilterKind::cubic_75
                                                              : FilterKind::lanczos4;
    resize_as_opencv(in[0], out[0], kind, columns, rows, to);
  }

 private:
  bool exact() const { return interp_type.given() && interp_type[0] == kLinearExact; }  // one filter for all samples
  static bool exact_type(DType t) { return t == DType::uint8 || t == DType::uint16 || t == DType::int16; }
  // A sample of the result for each two of the input.
  static bool halved(const ResizedAxis& a, int64_t extent) {
    const double low = std::min(a.lo, a.hi), high = std::max(a.lo, a.hi);
    return high - low == 2.0 * static_cast<double>(a.out) && low == std::floor(low) && low >= 0 &&
           high <= static_cast<double>(extent);
  }
  static std::array<ResizedAxis, 2> axes_of(const ResizeRequest& request, const Shape& shape, int y) {
    const int64_t extents[kMaxResized] = {shape[y], shape[y + 1]};
    ResizedAxis axes[kMaxResized];
    resized_axes(request, extents, axes);
    return {axes[0], axes[1]};
  }
};
PENSTOCK_OPERATOR(ResizeAsOpencv);

}  // namespace penstock
