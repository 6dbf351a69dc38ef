// SPDX-License-Identifier: Apache-2.0
#include "base/size_limits.h"
#include "operator/operator.h"

namespace penstock {

struct PeekImageShape : WholeOperator {
  DType dtype = DType::int64;
  bool adjust_orientation = true;
  int image_type = 0;
  int64_t max_pixels = kMostPixels;

  static Schema<PeekImageShape> schema() {
    using Op = PeekImageShape;
    return Schema<Op>("peek_image_shape",
                      "Returns the shape (height, width, channels) of the decoded image; reads the header "
                      "only.\n\nInput: the bytes of a file, 1-d uint8. Output: 3 numbers.")
        .arg("dtype", &Op::dtype, "Type of the result: a 32-bit or 64-bit integer, float32 or float64.")
        .arg("adjust_orientation", &Op::adjust_orientation,
             "Return the shape of the image after the orientation in the file is applied.")
        .arg("image_type", &Op::image_type, "RGB, BGR, GRAY, YCbCr, or ANY_DATA for the channels of the file.",
             within(0, 4))
        .arg("max_pixels", &Op::max_pixels, kMaxPixelsText, within(1, kLargestLimit))
        .input_names({"encoded"})
        .host_only("it reads the header of a file, a few bytes that depend on those before")
        .oracle("dali");
  }
  void check(std::span<const ValueType> in) override {
    if (size_of(dtype) < 4) bad_type("dtype must have 32 or 64 bits, got {}", name_of(dtype));
    if (in[0].dtype != DType::uint8 && in[0].dtype != DType::none)
      bad_type("expected the bytes of a file as uint8, got {}", name_of(in[0].dtype));
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override { out[0] = {dtype, 1, {}}; }
  void shapes(const SampleContext&, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = {3};
  }
  void run(const SampleContext&, std::span<const View> in, std::span<const View> out) const override {
    DecodeParams p;
    p.type = static_cast<ImageType>(image_type);
    p.apply_orientation = adjust_orientation;
    p.max_pixels = max_pixels;
    const ImageInfo info = probe_image({in[0].as<const uint8_t>(), static_cast<size_t>(in[0].volume())}, p);
    const int64_t shape[3] = {info.height, info.width, output_channels(info, p.type)};
    dispatch(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (sizeof(T) >= 4)
        for (int i = 0; i < 3; ++i) out[0].as<T>()[i] = static_cast<T>(shape[i]);
    });
  }
};
PENSTOCK_OPERATOR(PeekImageShape);

}  // namespace penstock
