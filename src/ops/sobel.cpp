// SPDX-License-Identifier: Apache-2.0
#include "base/crew.h"
#include "ops/shared/byte_derivatives.h"
#include "ops/shared/correlation.h"

namespace penstock {

struct Sobel : WholeOperator {
  int dx = 1, dy = 0, window_size = 3;
  float scale = 1.0f;
  std::string border = "reflect_101";
  DType dtype = DType::none;

  static Schema<Sobel> schema() {
    using Op = Sobel;
    return Schema<Op>(
               "sobel",
               "Computes a derivative of images by Sobel's windows.\n\nThis is OpenCV's Sobel: along each axis a "
               "binomial window, of which [-1, 1] takes the place of [1, 1] once for each order. Each channel is "
               "by itself. Sums of bytes are exact, others in float32: with windows of 5 and 7 of columns, then of "
               "rows. "
               "Layouts: HW, HWC, CHW, each also with a leading F; the output keeps the layout. Types: integers of 8 "
               "and 16 bits, float16, float32.\n\n"
               "Example:\n"
               ">>> ramp = np.tile(np.arange(5, dtype=np.uint8), (3, 1))\n"
               ">>> fn.sobel(ramp)[1].tolist()\n"
               "[0, 8, 8, 8, 0]")
        .arg("dx", &Op::dx, "Order of the derivative along the width.", within(0, 6))
        .arg("dy", &Op::dy, "Order of the derivative along the height.", within(0, 6))
        .arg("window_size", &Op::window_size,
             "1, 3, 5 or 7 elements along an axis. 1: 3 along the derivative, and no smoothing.")
        .arg("scale", &Op::scale, "Factor of the result.")
        .arg("border", &Op::border,
             "The border: \"reflect_101\", \"reflect_1001\", \"wrap\", \"clamp\" or \"constant\", which is 0.")
        .arg("dtype", &Op::dtype, "float32, or for uint8 also int16; default: int16 for uint8, else float32.")
        .reads_images()
        .keeps_positions()
        .oracle("opencv");
  }
  void ready() override {
    border_ = image_border("border", border);
    if (window_size != 1 && window_size != 3 && window_size != 5 && window_size != 7)
      bad_argument("window_size must be 1, 3, 5 or 7, got {}", window_size);
    const int most = window_size == 1 ? 2 : window_size - 1;
    if (dx + dy == 0 || dx > most || dy > most)
      bad_argument("dx and dy must be from 0 to {} with a window_size of {}, one of them more than 0; got {} and {}",
                   most, window_size, dx, dy);
    if (dtype != DType::none && dtype != DType::int16 && dtype != DType::float32)
      bad_type("dtype must be int16 or float32, got {}", name_of(dtype));
  }
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void check(std::span<const ValueType> in) override {
    const DType type = in[0].dtype;
    if (type == DType::none) return;
    if (type == DType::bool_ || (size_of(type) > 2 && type != DType::float32))
      bad_type("expected integers of 8 or 16 bits, float16 or float32, got {}", name_of(type));
    if (dtype == DType::int16 && type != DType::uint8)
      bad_type("dtype int16 is for uint8, got {}: its derivatives are float32", name_of(type));
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    out[0].layout = check_image(in[0]);
    if (dtype != DType::none) out[0].dtype = dtype;
    else if (in[0].dtype != DType::none) out[0].dtype = in[0].dtype == DType::uint8 ? DType::int16 : DType::float32;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const SobelTaps down = sobel_taps(window_size, dy), across = sobel_taps(window_size, dx);
    SobelTaps one;
    one.weights[0] = 1;
    const bool apart = window_size > 3 && in[0].dtype != DType::uint8 &&  // an axis at a time has less products
                       has_tiles(window_of(in[0], down, one), DType::float32) &&
                       has_tiles(window_of(in[0], one, across), DType::float32);
    if (apart) {
      View sums = out[0];
      sums.data = to.scratch(static_cast<size_t>(sums.volume()) * sizeof(float));
      derive(in[0], sums, down, one, 1.0f, to);
      to.then();
      return derive(sums, out[0], one, across, scale, to);
    }
    derive(in[0], out[0], down, across, scale, to);
  }

 private:
  CorrelationRule::Coef window_of(const View& in, const SobelTaps& down, const SobelTaps& across) const {
    CorrelationRule::Coef c{};
    c.in = image_extents(in.shape, in.layout);
    c.in.outer *= c.in.depth, c.in.depth = 1, c.out = c.in;
    c.border = border_;
    c.window[0] = 1, c.window[1] = down.size, c.window[2] = across.size;
    for (int i = 0; i < 3; ++i) c.anchor[i] = c.window[i] / 2;
    return c;
  }
  void derive(const View& in, const View& out, const SobelTaps& down, const SobelTaps& across, float factor,
              SampleWork& to) const {
    const CorrelationRule::Coef c = window_of(in, down, across);
    std::vector<float> weights;
    for (int y = 0; y < down.size; ++y)
      for (int x = 0; x < across.size; ++x)
        weights.push_back(
            static_cast<float>(down.weights[static_cast<size_t>(y)] * across.weights[static_cast<size_t>(x)]) * factor);
    std::function<void()> host;
    if (in.dtype == DType::uint8 && factor == 1) host = [=] { derive_bytes(in, out, c.in, c.border, down, across); };
    correlate(in, out, c, to, image_table(weights), host);
  }
  static void derive_bytes(const View& in, const View& out, const ImageRule::Extents& e, int border,
                           const SobelTaps& down, const SobelTaps& across) {
    const int64_t row = e.width * e.inner, rows = e.outer * e.height;
    const int64_t bytes = rows * row * static_cast<int64_t>(size_of(out.dtype));
    Crew::share(rows, bytes, [&](int64_t first, int64_t end) {
      std::vector<int16_t> narrow;
      std::vector<int32_t> wide;
      while (first < end) {
        const int64_t image = first / e.height, last = std::min(end, (image + 1) * e.height);
        ByteDerivatives d(in.as<const uint8_t>() + image * e.height * row, e.height, e.width, e.inner, border, down,
                          across);
        for (; first < last; ++first) {
          const int64_t y = first - image * e.height;
          if (out.dtype == DType::float32) rows_of(d, y, row, wide, narrow, out.as<float>() + first * row);
          else if (d.wide()) rows_of(d, y, row, wide, narrow, out.as<int16_t>() + first * row);
          else d.row(y, out.as<int16_t>() + first * row);
        }
      }
    });
  }
  template <class Out>
  static void rows_of(ByteDerivatives& d, int64_t y, int64_t n, std::vector<int32_t>& wide,
                      std::vector<int16_t>& narrow, Out* to) {
    if (d.wide()) {
      wide.resize(static_cast<size_t>(n));
      d.row(y, wide.data());
      for (int64_t i = 0; i < n; ++i) to[i] = stored<Out>(static_cast<float>(wide[static_cast<size_t>(i)]));
      return;
    }
    narrow.resize(static_cast<size_t>(n));
    d.row(y, narrow.data());
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(narrow[static_cast<size_t>(i)]);
  }
  int border_ = 0;
};
PENSTOCK_OPERATOR(Sobel);

}  // namespace penstock
