// SPDX-License-Identifier: Apache-2.0
#include "operator/image_work.h"
#include "ops/shared/telea.h"

namespace penstock {

struct Inpaint : WholeOperator {
  int radius = 3;
  bool slopes = false;

  static Schema<Inpaint> schema() {
    using Op = Inpaint;
    return Schema<Op>(
               "inpaint",
               "Fills holes of images from what is around them, by Telea's method.\n\nInputs: an image, layout HW or "
               "HWC, uint8, int8, uint16, int16, float16 or float32; and a mask of its height and width, uint8 or "
               "bool, "
               "(H, W) or (H, W, 1), that is not 0 in holes. Output: the image, where each pixel of a hole is a mean "
               "of "
               "the known pixels within `radius`, weighed by their distance, by how far they are inside, and by the "
               "direction toward the border; pixels outside holes keep their values. Pixels beside known ones are "
               "filled together, round by round; OpenCV's INPAINT_TELEA fills them one by one, which gives other "
               "values in "
               "wide holes, as near to the truth. Where nothing is known, the image stays.\n\n"
               "Example:\n"
               ">>> image = np.full((5, 5), 40, np.uint8)\n"
               ">>> image[2, 2] = 200\n"
               ">>> fn.inpaint(image, np.uint8(image == 200))[2].tolist()\n"
               "[40, 40, 40, 40, 40]")
        .inputs(2)
        .input_names({"image", "mask"})
        .arg("radius", &Op::radius, "How far from a pixel the known ones are that fill it, in pixels.", within(1, 100))
        .arg("slopes", &Op::slopes,
             "Known pixels count with what their slopes make of them at the place that is filled, as Telea proposes. "
             "Thin holes become about twice as exact; in wide ones, results may leave the range of the image. OpenCV "
             "does without.")
        .oracle("opencv");
  }
  Layout input_layout(const ValueType& in) const override { return image_layout(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    const DType type = in[0].dtype;
    const bool exact = type == DType::none || type == DType::float32 || (size_of(type) <= 2 && type != DType::bool_);
    if (!exact)
      bad_type("an image must have a type that float32 holds, such as uint8 or float32, got {}", name_of(type));
    if (in[1].dtype != DType::none && in[1].dtype != DType::uint8 && in[1].dtype != DType::bool_)
      bad_type("a mask must be uint8 or bool, got {}", name_of(in[1].dtype));
    const Layout layout = image_layout(in[0]);
    if (!layout.empty() && layout != Layout("HW") && layout != Layout("HWC"))
      bad_type("expected the layout HW or HWC, got '{}'", layout.str());
    out[0] = in[0];
    out[0].layout = layout;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
    if (!in[0].known() || !in[1].known()) return;
    const bool plane = in[1].size() == 2 || (in[1].size() == 3 && in[1][2] == 1);
    if (!plane || in[1][0] != in[0][0] || in[1][1] != in[0][1])
      bad_argument("a mask of the shape {} does not fit an image of the shape {}", in[1].text(), in[0].text());
    if (in[0][0] * in[0][1] > INT32_MAX) bad_argument("an image of the shape {} is too large", in[0].text());
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    if (out[0].volume() == 0) return;
    const int64_t height = in[0].shape[0], width = in[0].shape[1];
    const auto floats = static_cast<size_t>(out[0].volume()), pixels = static_cast<size_t>(height * width);
    auto* const memory = static_cast<float*>(to.scratch((floats + 2 + kTeleaNumbers * pixels) * sizeof(float)));
    View image = out[0];
    image.data = memory, image.dtype = DType::float32;
    to.copy(in[0], image);
    TeleaCoef c{height, width, out[0].volume() / (height * width), radius, slopes, false};
    const TeamCall one{.in = {in[1].data},
                       .out = {memory, memory + floats},
                       .header = "families/team/kernels/telea.h",
                       .table = team_table(std::span<const float>(weights()))};
    TeamCall each = one;
    each.units = height * width, each.table = nullptr;
    run_team<TeleaBegin>(one, c, to);
    to.then();
    for (const bool inward : {false, true}) {
      c.inward = inward;
      run_team<TeleaBand>(each, c, to);
      to.then();
      run_team<TeleaRounds>(one, c, to);
      to.then();
    }
    to.copy(image, out[0]);
  }

 private:
  // 1 / distance^3 inside the circle, 0 outside and at its center.
  std::vector<float> weights() const {
    std::vector<float> w;
    for (int y = -radius; y <= radius; ++y)
      for (int x = -radius; x <= radius; ++x) {
        const double squared = x * x + y * y;
        const bool counts = squared > 0 && squared <= radius * radius;
        w.push_back(counts ? static_cast<float>(1 / (squared * std::sqrt(squared))) : 0.0f);
      }
    return w;
  }
};
PENSTOCK_OPERATOR(Inpaint);

}  // namespace penstock
