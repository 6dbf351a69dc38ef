// SPDX-License-Identifier: Apache-2.0
#include "operator/image_work.h"
#include "ops/shared/frame_conversion.h"

namespace penstock {

// The form of color_space_conversion for frames of luma and chroma, and for pixels with alpha or of two bytes.
struct PackedColors final : WholeOperator, ColorArguments, PixelSource {
  static Schema<PackedColors> schema() {
    return Schema<PackedColors>("color_space_conversion@packed", "A form of color_space_conversion.")
        .with(&color_arguments<PackedColors>)
        .inputs(1, 3)
        .hidden()
        .keeps_positions()
        .oracle("opencv");
  }
  void ready() override {
    const auto fits = [](ColorFormat f) { return is_rgb(f) || f == ColorFormat::gray || is_packed(f); };
    const bool two_bytes = !has_alpha(from()) && !has_alpha(to()) && is_packed(from()) && is_packed(to());
    if (!fits(from()) || !fits(to()) || two_bytes)
      bad_argument("{} to {} is not one conversion: convert to RGB in between", name_of(from()), name_of(to()));
    matrix_ = frame_matrix(*this, is_frame(from()) ? from() : to());
  }
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    const bool narrow =
        is_frame(from()) || is_frame(to()) || frame_shape(from()).channels == 2 || frame_shape(to()).channels == 2;
    for (const ValueType& t : in) check_type(t, narrow, in[0].dtype);
    const int planes = plane_count(from());
    if (in.size() > 1 && in.size() != static_cast<size_t>(planes))
      bad_argument("{} is one input{}, got {}", name_of(from()), planes > 1 ? fmt::format(" or {}", planes) : "",
                   in.size());
    const Layout layout = check_image(in[0]);
    out[0] = in[0];
    if (layout.empty()) return;
    if (const std::string l = layout.str(); l != "HW" && l != "HWC" && l != "FHW" && l != "FHWC")
      bad_type("{} needs HW, HWC, FHW or FHWC, got '{}'", name_of(from()), l);
    out[0].layout = layout.find('C') < 0 ? Layout(layout.str() + "C") : layout;
    out[0].ndim = out[0].layout.size();
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    const Layout layout = check_image(types[0]);
    out[0] = in[0];
    if (layout.find('C') < 0) out[0].push_back(1);
    const int h = layout.find('H');
    out[0][h + 2] = frame_shape(to()).channels;
    if (!in[0].known()) {
      out[0][h] = -1;
      return;
    }
    const PixelExtents e = extents(in, layout);
    check_extents(to(), e);
    out[0][h] = rows_of(to(), e.height), out[0][h + 1] = e.width;
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out,
            SampleWork& to_do) const override {
    if (out[0].volume() == 0) return;
    const Shape shapes[3] = {in[0].shape, in[in.size() > 1 ? 1 : 0].shape, in[in.size() > 2 ? 2 : 0].shape};
    const PixelExtents e = extents(std::span(shapes, in.size()), in[0].layout);
    const size_t element = size_of(in[0].dtype);
    for (int64_t f = 0; f < frames_in(in[0]); ++f) {
      std::array<const void*, 3> planes{};
      for (size_t k = 0; k < in.size(); ++k) planes[k] = frame_of(in[k], f).data;
      const frame::Side from_side = frame_side(from(), planes, static_cast<int>(in.size()), e, element);
      frame::frame_step(in[0].dtype, conversion().row(from_side, frame_of(out[0], f).data, e, element), to_do);
    }
  }

  // Of bytes to colors or gray: those that frames have.
  const PixelSource* source() const {
    const bool bytes = is_frame(from()) || from() == ColorFormat::bgr565 || from() == ColorFormat::bgr555;
    return bytes && !is_frame(to()) ? this : nullptr;
  }
  FrameFormat frame_format() const override { return conversion().format(); }
  FramePlanes frame_planes(const Shape& in, const Layout& layout) const override {
    return conversion().planes(extents(std::span(&in, 1), layout));
  }
  void frame_pixels(const View& in, const FrameRegion& region, uint8_t* pixels, int64_t pitch) const override {
    const PixelExtents e = extents(std::span(&in.shape, 1), in.layout);
    conversion().convert(frame_of(in, region.frame).data, e, region, pixels, pitch);
  }

 private:
  FrameConversion conversion() const { return {from(), to(), matrix_}; }
  void check_type(const ValueType& t, bool narrow, DType first) const {
    if (t.dtype == DType::none) return;
    if (t.dtype != DType::uint8 && (narrow || (t.dtype != DType::uint16 && t.dtype != DType::float32)))
      bad_type("{} to {} needs {}, got {}", name_of(from()), name_of(to()),
               narrow ? "uint8" : "uint8, uint16 or float32", name_of(t.dtype));
    if (first != DType::none && t.dtype != first)
      bad_type("planes must have one type, got {} and {}", name_of(first), name_of(t.dtype));
  }
  // Extents of the pixels; checks the shapes.
  PixelExtents extents(std::span<const Shape> in, const Layout& layout) const {
    const int h = layout.find('H'), c = layout.find('C');
    const int channels = in.size() > 1 ? 1 : frame_shape(from()).channels;
    const int64_t own = c < 0 ? 1 : in[0][c];
    if (own != channels)
      bad_argument("image_type {} needs {} channel{}, got {}", name_of(from()), channels, channels > 1 ? "s" : "", own);
    if (in.size() == 1) return pixels_of(from(), in[0][h], in[0][h + 1]);
    const PixelExtents e{in[0][h], in[0][h + 1]};
    check_extents(from(), e);
    check_planes(in, e, h);
    return e;
  }
  void check_planes(std::span<const Shape> in, PixelExtents e, int h) const {
    const Halves half = halves_of(from());
    const int64_t per_pixel = in.size() == 2 ? 2 : 1, frames = h > 0 ? in[0][0] : 1;
    for (size_t k = 1; k < in.size(); ++k) {
      const int64_t wanted = frames * (e.height >> half.y) * (e.width >> half.x) * per_pixel;
      if (!in[k].known() || in[k].size() <= h + 1 || (in[k].volume() == wanted && in[k][h] == e.height >> half.y))
        continue;
      bad_argument("chroma of {} for {} x {} pixels has the shape ({}, {}, {}), got {}", name_of(from()), e.height,
                   e.width, e.height >> half.y, e.width >> half.x, per_pixel, in[k].text());
    }
  }
  frame::Matrix matrix_{};
};
PENSTOCK_OPERATOR(PackedColors);

[[maybe_unused]] static const bool has_source =
    add_pixel_source("color_space_conversion@packed",
                     [](const BoundOp& op) { return static_cast<const WholeAdaptor<PackedColors>&>(op).op.source(); });

}  // namespace penstock
