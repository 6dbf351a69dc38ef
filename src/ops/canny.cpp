// SPDX-License-Identifier: Apache-2.0
#include "operator/image_work.h"
#include "ops/shared/byte_derivatives.h"
#include "ops/shared/canny_edges.h"
#include "ops/shared/canny_rules.h"

namespace penstock {

struct Canny : WholeOperator {
  PerSample<float> low = 100.0f, high = 200.0f;
  int window_size = 3;
  bool squared_sizes = false;

  static Schema<Canny> schema() {
    using Op = Canny;
    return Schema<Op>(
               "canny",
               "Finds the edges of images by Canny's method: 255 on an edge, else 0.\n\nThis is OpenCV's Canny. "
               "Where the gradient is the largest one along its direction and more than `low`, there may be an "
               "edge; it is one where it is more than `high`, or is connected with such a place. Of several "
               "channels, the one with the largest gradient counts for a pixel. Layouts: HW, HWC, each also with "
               "a leading F; the result has one channel. Types: uint8.\n\n"
               "Example:\n"
               ">>> image = np.zeros((5, 6), np.uint8)\n"
               ">>> image[:, 3:] = 200\n"
               ">>> fn.canny(image)[2].tolist()\n"
               "[0, 0, 255, 0, 0, 0]")
        .arg("low", &Op::low, "The least gradient of an edge. If it is more than high, they are exchanged.")
        .arg("high", &Op::high, "The least gradient where an edge begins.")
        .arg("window_size", &Op::window_size, "3, 5 or 7: of Sobel's derivatives; those of 7 are divided by 16.")
        .arg("squared_sizes", &Op::squared_sizes,
             "A gradient is the root of the sum of squares of the derivatives; False: the sum of their magnitudes, "
             "which "
             "is faster.")
        .reads_images()
        .keeps_positions()
        .oracle("opencv");
  }
  void ready() override {
    if (window_size != 3 && window_size != 5 && window_size != 7)
      bad_argument("window_size must be 3, 5 or 7, got {}", window_size);
  }
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void check(std::span<const ValueType> in) override {
    check_bytes(in[0]);
    const Layout layout = check_image(in[0]);
    const bool fits = layout.empty() || !layout.has('C') || layout[layout.size() - 1] == 'C';
    if (!fits || layout.has('D')) bad_type("expected the layout HW, HWC, FHW or FHWC, got '{}'", layout.str());
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    out[0].layout = check_image(in[0]);
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    out[0] = in[0];
    if (const int c = check_image(types[0]).find('C'); c >= 0) out[0][c] = 1;
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const ImageRule::Extents e = image_extents(in[0].shape, in[0].layout);
    if (out[0].volume() == 0) return;
    if (e.inner == 0) bad_argument("an image without channels has no edges");
    const int32_t least = bound(low[s.index], high[s.index], false), most = bound(low[s.index], high[s.index], true);
    if (!to.at_once())
      return find_there(in[0], out[0], e, {e.height, e.width, e.inner, window_size, least, most, squared_sizes}, to);
    for (int64_t i = 0; i < e.outer; ++i)
      canny_edges(in[0].as<const uint8_t>() + i * e.height * e.width * e.inner,
                  out[0].as<uint8_t>() + i * e.height * e.width,
                  {e.height, e.width, e.inner, window_size, least, most, squared_sizes});
  }

 private:
  // What may be an edge and is connected is a region; it is one where an edge begins in it.
  void find_there(const View& in, const View& out, const ImageRule::Extents& e, const CannyCoef& c,
                  SampleWork& to) const {
    const int64_t pixels = e.height * e.width;
    if (pixels > INT32_MAX) bad_argument("an image of the shape {} is too large for a GPU", in.shape.text());
    std::vector<int32_t> taps;
    for (const int order : {0, 1}) {
      const SobelTaps of = sobel_taps(window_size, order);
      taps.insert(taps.end(), of.weights.begin(), of.weights.begin() + window_size);
    }
    std::vector<TeamCall> frames;
    for (int64_t i = 0; i < e.outer; ++i)
      frames.push_back(
          {.in = {in.as<const uint8_t>() + i * pixels * e.inner},
           .out = {to.scratch(static_cast<size_t>(pixels) * 3 * sizeof(int32_t)), out.as<uint8_t>() + i * pixels},
           .units = pixels,
           .header = "families/team/kernels/edges.h",
           .table = team_table(std::span<const int32_t>(taps))});
    const auto each = [&]<class Rule>(Rule) {
      for (const TeamCall& frame : frames) run_team<Rule>(frame, c, to);
      to.then();
    };
    each(CannyGradients{}), each(CannyMarks{}), each(CannyUnions{}), each(CannyRoots{}), each(CannyResult{});
  }
  // The larger bound or the other one, as gradients are compared with it.
  int32_t bound(double a, double b, bool larger) const {
    double v = larger ? std::max(a, b) : std::min(a, b);
    if (window_size == 7) v /= 16;
    if (squared_sizes) v = std::min(v, 32767.0), v = v > 0 ? v * v : v;
    return static_cast<int32_t>(std::floor(std::clamp(v, -1.0, 2147483647.0)));
  }
};
PENSTOCK_OPERATOR(Canny);

}  // namespace penstock
