// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/letterbox.h"

#include "operator/any_number.h"
#include "ops/shared/interpolation.h"

namespace penstock {

struct Letterbox : ResampleOperator, LetterboxArguments {
  std::vector<float> fill_values = {114.0f};
  PerSample<int> interp_type = 1;
  bool antialias = false, save_attrs = false;

  static Schema<Letterbox> schema() {
    using Op = Letterbox;
    return Schema<Op>(
               "letterbox",
               "Scales images into a frame, with their aspect ratio, and fills the borders.\n\nSizes and borders "
               "are rounded as in Ultralytics' LetterBox. letterbox_placement tells the scale and the borders "
               "of each sample, and unletterbox_boxes takes boxes back. Layouts: any with H and W; the output "
               "keeps the layout. Types: all.\n\n"
               "Example:\n"
               ">>> image = np.zeros((48, 64, 3), np.uint8)\n"
               ">>> boxed = fn.letterbox(image, size=96)\n"
               ">>> boxed.shape, boxed[0, 0].tolist()\n"
               "((96, 96, 3), [114, 114, 114])")
        .with(&letterbox_arguments<Op>)
        .arg("fill_values", &Op::fill_values, "Value of the borders: one, or one per channel; rounded and saturated.",
             any_number)
        .arg("interp_type", &Op::interp_type, "Filter of the scaling, as in resize.")
        .arg("antialias", &Op::antialias, "Antialiasing: widen the filter of images that shrink; Ultralytics does not.")
        .arg("save_attrs", &Op::save_attrs,
             "Add an output: the extents of the input along D, H and W, int32, for letterbox_placement.")
        .size_output("save_attrs")
        .float64(
            "the weights and positions of taps, once for each row and column of a tile, because float32 has too "
            "few digits for positions in large images")
        .oracle("opencv");
  }
  void ready() override {
    check_letterbox();
    if (fill_values.empty()) bad_argument("fill_values must not be empty");
  }
  Layout input_layout(const ValueType& in) const override { return image_layout(in); }
  bool fills() const override { return true; }
  void map(const SampleContext& s, Placement& p) const override {
    const int h = p.dim('H'), w = p.dim('W'), c = p.dim('C');
    if (p.extent(h) < 1 || p.extent(w) < 1)
      bad_argument("an image of {} x {} pixels has no scale", p.extent(h), p.extent(w));
    const LetterboxRule::Fit fit =
        LetterboxRule::fit(frame(s.index), static_cast<double>(p.extent(h)), static_cast<double>(p.extent(w)));
    place(s, p, h, static_cast<int64_t>(fit.height), fit.above, fit.frame_height);
    place(s, p, w, static_cast<int64_t>(fit.width), fit.left, fit.frame_width);
    if (fill_values.size() > 1 && static_cast<int64_t>(fill_values.size()) != (c < 0 ? 1 : p.extent(c)))
      bad_argument("fill_values must have 1 or {} values, got {}", c < 0 ? 1 : p.extent(c), fill_values.size());
    p.fill(fill_values);
  }
  int64_t out_extent(const SampleContext& s, char axis, int64_t in) const override {
    if (axis != 'H' && axis != 'W') return in;
    if (stride > 0) return -1;
    const LetterboxRule::Frame f = frame(s.index);
    return static_cast<int64_t>(axis == 'H' ? f.height : f.width);
  }

 private:
  // An axis becomes `scaled` samples, `before` after the beginning of `whole` ones.
  void place(const SampleContext& s, Placement& p, int dim, int64_t scaled, double before, double whole) const {
    const int64_t have = p.extent(dim);
    if (scaled != have) {
      AxisFilter f;
      f.kind = filter_kind("interp_type", interp_type[s.index]);
      f.antialias = antialias && scaled < have;
      f.lo = 0, f.hi = static_cast<double>(have), f.out = scaled;
      p.filter(dim, f);
    }
    p.window(dim, -static_cast<int64_t>(before), static_cast<int64_t>(whole));
  }
};
PENSTOCK_OPERATOR(Letterbox);

}  // namespace penstock
