// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "ops/shared/object_choice.h"
#include "ops/shared/random_values.h"

namespace penstock {

struct RandomObjectBbox : WholeOperator {
  PerSample<int> background = 0;
  PerSample<std::vector<float>> class_weights;
  PerSample<std::vector<int64_t>> classes, threshold;
  PerSample<float> foreground_prob = 1.0f;
  std::string format = "anchor_shape";
  bool ignore_class = false, output_class = false, cache_objects = false;
  Optional<int> k_largest;

  static Schema<RandomObjectBbox> schema() {
    using Op = RandomObjectBbox;
    return Schema<Op>(
               "segmentation.random_object_bbox",
               "Draws an object of a labeled mask and returns the box around it.\n\nThe operator draws a class that "
               "the mask has, then one of its objects. An object is a connected region of one label; pixels are "
               "connected along the axes, not diagonally. If no object meets the conditions, the box is the whole "
               "mask. Outputs: int32, in the order of the axes. Layouts: any. Types: bool and integers.\n\nExample:\n"
               ">>> mask = np.pad(np.ones((16, 32), np.int32), ((8, 24), (16, 16)))\n>>> anchor, shape = "
               "fn.segmentation.random_object_bbox(mask, background=0, foreground_prob=1.0)\n>>> anchor.tolist(), "
               "shape.tolist()\n([8, 16], [16, 32])")
        .arg("background", &Op::background, "Label of the background; default: 0, or another label if 0 is a class.")
        .arg("cache_objects", &Op::cache_objects, "Accepted without effect.")
        .arg("class_weights", &Op::class_weights,
             "Relative probabilities of `classes`; without `classes`, of the labels 1, 2, ...")
        .arg("classes", &Op::classes, "The labels of objects; default: all except the background.")
        .arg("foreground_prob", &Op::foreground_prob, "Probability of drawing an object instead of the whole mask.",
             within(0, 1))
        .arg("format", &Op::format,
             "Form of the outputs. anchor_shape: start and extents; start_end: start and end; box: start and end in "
             "one output.")
        .arg("ignore_class", &Op::ignore_class, "All objects are equally likely, whatever their class.")
        .arg("k_largest", &Op::k_largest, "Draw only from the objects of the class with the k largest boxes.",
             at_least(1))
        .arg("output_class", &Op::output_class, "Add an output: the label of the object, or of the background.")
        .arg("threshold", &Op::threshold, "Minimum extents of a box: one value for all axes, or one per axis.")
        .outputs(1)
        .random()
        .float64("a draw of 53 bits chooses among sums of weights")
        .oracle("dali");
  }
  int count_outputs() const override { return (format == "box" ? 1 : 2) + output_class; }
  void ready() override {
    if (format != "anchor_shape" && format != "start_end" && format != "box")
      bad_argument("format must be 'anchor_shape', 'start_end' or 'box', got '{}'", format);
    if (ignore_class && (classes.given() || class_weights.given() || output_class))
      bad_argument("ignore_class cannot be combined with classes, class_weights or output_class");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (is_float(in[0].dtype)) bad_type("labels must be integers, got {}", name_of(in[0].dtype));
    if (in[0].ndim == 0) bad_type("a mask must have at least one dimension");
    for (ValueType& t : out) t = {DType::int32, 1, {}};
    if (output_class) out.back().ndim = 0;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    for (Shape& s : out) s = {in[0].size() * (format == "box" ? 2 : 1)};
    if (output_class) out.back() = {};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int dims = in[0].shape.size();
    for (const int64_t e : in[0].shape)
      if (e > INT32_MAX) bad_argument("a mask of the shape {} is too large", in[0].shape.text());
    const Labels labels = labels_of(s.index);
    const RandomStream random = RandomValues::stream(s);
    void* const second = format == "box" ? out[0].as<int32_t>() + dims : out[1].data;
    void* const drawn = output_class ? out.back().data : nullptr;
    const int64_t n = in[0].volume();
    const Shape least = least_extents(s.index, dims);
    if (n == 0 || !(uniform01_wide(random.draw64(0)) < foreground_prob[s.index])) {  // the whole mask
      const std::vector<int32_t> begin(static_cast<size_t>(dims)), end(in[0].shape.begin(), in[0].shape.end());
      give_numbers(out[0], begin, to),
          give_bytes({second, DType::int32, {}, {}, {}}, std::as_bytes(std::span(end)), to);
      if (output_class) give_numbers(out.back(), std::vector{static_cast<int32_t>(labels.background)}, to);
      return;
    }
    if (n > INT32_MAX) bad_argument("a mask of the shape {} is too large", in[0].shape.text());
    std::vector<ObjectChoice::Class> table;
    for (const auto& [label, weight] : labels.weights) table.push_back({label, weight});
    const bool weighs = classes.given() || class_weights.given();
    ObjectChoice::Coef c{random,
                         n,
                         dims,
                         {},
                         {},
                         labels.background,
                         weighs ? static_cast<int64_t>(table.size()) : -1,
                         k_largest.given() ? *k_largest : 0,
                         ignore_class,
                         threshold.given() || k_largest.given(),
                         format != "anchor_shape",
                         output_class};
    std::copy(in[0].shape.begin(), in[0].shape.end(), c.extents), std::copy(least.begin(), least.end(), c.least);
    const auto numbers = static_cast<size_t>(n) * (c.measures ? 2 + 2 * static_cast<size_t>(dims) : 2);
    run_team<ObjectChoice>({.in = {in[0].data},
                            .out = {out[0].data, second, drawn, to.scratch(numbers * sizeof(int32_t))},
                            .type = in[0].dtype,
                            .header = "families/team/kernels/lowest.h",
                            .table = team_table(std::span<const ObjectChoice::Class>(table))},
                           c, to);
  }

 private:
  struct Labels {
    int64_t background;
    std::map<int64_t, double> weights;  // of classes, if they are given
  };
  Labels labels_of(int sample) const {
    Labels l{background[sample], {}};
    const auto named = classes.values(sample);
    const auto weights = class_weights.values(sample);
    if (classes.given() && class_weights.given() && named.size() != weights.size())
      bad_argument("{} class_weights do not match {} classes", weights.size(), named.size());
    const size_t n = classes.given() ? named.size() : class_weights.given() ? weights.size() : 0;
    for (size_t i = 0; i < n; ++i) {
      const double w = class_weights.given() ? static_cast<double>(weights[i]) : 1.0;
      if (!(w >= 0)) bad_argument("a class weight must not be negative, got {}", w);
      l.weights[classes.given() ? named[i] : static_cast<int64_t>(i) + 1] += w;
    }
    if (background.given() && l.weights.count(l.background))
      bad_argument("the background {} must not be one of the classes", l.background);
    while (l.weights.count(l.background)) --l.background;
    return l;
  }
  Shape least_extents(int sample, int dims) const {
    Shape least = Shape::filled(dims, 0);
    if (!threshold.given()) return least;
    const auto given = threshold.values(sample);
    if (given.size() != 1 && static_cast<int>(given.size()) != dims)
      bad_argument("threshold has {} numbers, but the mask has {} axes", given.size(), dims);
    for (int d = 0; d < dims; ++d) least[d] = given[given.size() == 1 ? 0 : static_cast<size_t>(d)];
    return least;
  }
};
PENSTOCK_OPERATOR(RandomObjectBbox);

}  // namespace penstock
