// SPDX-License-Identifier: Apache-2.0
#include "operator/image_work.h"

namespace penstock {

struct DebayerRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        int blue_y, blue_x, algorithm;
      };  // blue of the whole image, modulo 2
      template <class In> PENSTOCK_HD static int64_t sum_of(const In* p, int64_t a, int64_t b) {
        return static_cast<int64_t>(p[a]) + static_cast<int64_t>(p[b]);
      } template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const int64_t w = c.out.width;
        if (w < 3 || c.out.height < 3) return static_cast<Out>(In(0));
        const int64_t y = clamp<int64_t>(p.y, 1, c.out.height - 2);  // the edge takes the values of the inner pixels
        const int64_t x = clamp<int64_t>(p.x, 1, w - 2);
        const In* s = in + (p.outer * c.out.height + y) * w + x;
        const bool blue_row = (y & 1) == c.blue_y;
        const bool blue_column = (x & 1) == c.blue_x;
        const bool green = blue_row != blue_column;
        const int64_t center = static_cast<int64_t>(s[0]);
        const int64_t beside = sum_of(s, -1, 1);
        const int64_t above = sum_of(s, -w, w);
        const int64_t diagonal = sum_of(s, -w - 1, -w + 1) + sum_of(s, w - 1, w + 1);
        if (c.algorithm == 2) {  // gray: weights of 14 bits
          const int64_t own = blue_row ? 1868 : 4899;
          const int64_t other = blue_row ? 4899 : 1868;
          const int64_t sum = green ? beside * own * 2 + above * other * 2 + center * 9617 * 4
                                    : diagonal * other + (beside + above) * 9617 + center * own * 4;
          return static_cast<Out>(static_cast<In>((sum + 32768) >> 16));
        }
        if (p.inner == 1) {
          if (green) return static_cast<Out>(s[0]);
          if (c.algorithm == 0) return static_cast<Out>(static_cast<In>((beside + above + 2) >> 2));
          const int64_t across = static_cast<int64_t>(s[-1]) - static_cast<int64_t>(s[1]);
          const int64_t down = static_cast<int64_t>(s[-w]) - static_cast<int64_t>(s[w]);
          const bool level = (across < 0 ? -across : across) > (down < 0 ? -down : down);
          return static_cast<Out>(static_cast<In>(((level ? above : beside) + 1) >> 1));
        }
        const bool wants_blue = p.inner == 2;
        if (green) return static_cast<Out>(static_cast<In>(((wants_blue == blue_row ? beside : above) + 1) >> 1));
        if (wants_blue == blue_row) return static_cast<Out>(s[0]);
        return static_cast<Out>(static_cast<In>((diagonal + 2) >> 2));
      });
};

struct Debayer : WholeOperator {
  PerFrame<std::vector<int64_t>> blue_position;
  Optional<std::string> algorithm;

  static Schema<Debayer> schema() {
    using Op = Debayer;
    return Schema<Op>("debayer",
                      "Converts the raw image of a sensor with a Bayer filter to RGB.\n\nThe operator works as "
                      "OpenCV's cvtColor(..., COLOR_BAYER_...) does. Input layouts: HW, HWC with one channel, each "
                      "also with a leading F. Output: HWC with three channels, or one for gray. Types: uint8, uint16. "
                      "Height and width of the image are even.\n\n"
                      "Example:\n"
                      ">>> fn.debayer(np.zeros((48, 64), np.uint8), blue_position=[0, 0]).shape\n"
                      "(48, 64, 3)")
        .required("blue_position", &Op::blue_position,
                  "(y, x) of blue in the 2 x 2 pixels that start in the second row and column: (0, 0) is OpenCV's BG, "
                  "(0, 1) GB, (1, 0) GR, (1, 1) RG.")
        .arg("algorithm", &Op::algorithm,
             "\"bilinear_ocv\", the default; \"edgeaware_ocv\"; \"gray_ocv\": a gray image; \"default_npp\": the same "
             "as bilinear_ocv.")
        .oracle("dali, opencv");
  }
  void ready() override {
    if (!algorithm.given() || *algorithm == "bilinear_ocv" || *algorithm == "default_npp") algorithm_ = 0;
    else if (*algorithm == "edgeaware_ocv") algorithm_ = 1;
    else if (*algorithm == "gray_ocv") algorithm_ = 2;
    else bad_argument("algorithm must be \"bilinear_ocv\", \"edgeaware_ocv\" or \"gray_ocv\", got \"{}\"", *algorithm);
  }
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    const Layout layout = check_image(in[0]);
    if (in[0].dtype != DType::uint8 && in[0].dtype != DType::uint16 && in[0].dtype != DType::none)
      bad_type("expected uint8 or uint16, got {}", name_of(in[0].dtype));
    out[0] = in[0];
    if (layout.empty()) return;
    if (const std::string l = layout.str(); l != "HW" && l != "HWC" && l != "FHW" && l != "FHWC")
      bad_type("expected HW, HWC, FHW or FHWC, got '{}'", l);
    out[0].layout = layout.find('C') < 0 ? Layout(layout.str() + "C") : layout;
    out[0].ndim = out[0].layout.size();
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    const Layout layout = check_image(types[0]);
    const int64_t channels = algorithm_ == 2 ? 1 : 3;
    out[0] = in[0];
    const int h = layout.find('H'), c = layout.find('C');
    if (c >= 0 && in[0][c] >= 0 && in[0][c] != 1) bad_argument("expected one channel, got {}", in[0][c]);
    for (int d : {h, h + 1})
      if (in[0][d] >= 0 && in[0][d] % 2 != 0) bad_argument("height and width must be even, got {}", in[0].text());
    if (c >= 0) out[0][c] = channels;
    else out[0].push_back(channels);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    each_frame(blue_position.frames(), in[0], out[0], [&](int64_t f, const View& from, const View& into) {
      const auto blue = blue_position[SampleFrame{s.index, f}];
      if (blue.size() != 2) bad_argument("blue_position must have 2 values, got {}", blue.size());
      for (const int64_t v : blue)
        if (v != 0 && v != 1) bad_argument("the values of blue_position must be 0 or 1, got {}", v);
      map_image<DebayerRule>(from, into,
                             {image_extents(into.shape, into.layout), static_cast<int>(1 - blue[0]),
                              static_cast<int>(1 - blue[1]), algorithm_},
                             to);
    });
  }

 private:
  int algorithm_ = 0;
};
PENSTOCK_OPERATOR(Debayer);

}  // namespace penstock
