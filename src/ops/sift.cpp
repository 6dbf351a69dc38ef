// SPDX-License-Identifier: Apache-2.0
#include "operator/image_work.h"
#include "ops/shared/found_arrays.h"
#include "ops/shared/sift_keypoints.h"
#include "ops/shared/sift_rules.h"

namespace penstock {

struct Sift : FindingOperator {
  int max_features = 0, octave_layers = 3;
  float contrast_threshold = 0.04f, edge_threshold = 10.0f, sigma = 1.6f;
  bool expand = true;

  static Schema<Sift> schema() {
    using Op = Sift;
    return Schema<Op>(
               "sift",
               "Finds keypoints of images and describes them, by Lowe's method (SIFT).\n\nOther images of the same "
               "things "
               "have about the same descriptors. Input: an image of one channel, uint8; layouts HW, HWC and CHW. "
               "Outputs: "
               "keypoints, (K, 7) float32: x and y in pixels, the diameter of what they describe, the angle in "
               "degrees, "
               "the response, the octave (from -1 with expand, else from 0) and the layer in it, in the order of x and "
               "then of y; and descriptors, (K, 128) uint8, for fn.match. They are those of cv2.SIFT, except for "
               "rounding: a pixel's center is a whole number, as there. A GPU refuses an image with more "
               "than one extremum for 8 pixels of the first octave.\n\nExample:\n"
               ">>> y, x = np.mgrid[:64, :64] - 31\n"
               ">>> spot = np.uint8(200 * np.exp(-(x**2 + y**2) / 60))\n"
               ">>> keypoints, descriptors = fn.sift(spot)\n"
               ">>> np.round(keypoints[0, :2]).tolist(), descriptors.shape[1]\n"
               "([31.0, 31.0], 128)")
        .outputs(2)
        .arg("max_features", &Op::max_features, "Keep so many keypoints, those of the largest responses; 0: all.",
             at_least(0))
        .arg("octave_layers", &Op::octave_layers, "How many layers of an octave have keypoints.", within(1, 16))
        .arg("contrast_threshold", &Op::contrast_threshold,
             "Keypoints have at least this response, times octave_layers.", within(0, 1))
        .arg("edge_threshold", &Op::edge_threshold,
             "Keypoints whose curvatures differ by more than this factor are on an edge, and omitted.", above(0))
        .arg("sigma", &Op::sigma, "The standard deviation of the Gaussian of an octave's first layer, in pixels.",
             within(0.1, 10))
        .arg("expand", &Op::expand, "Begin with the image at twice its size, which finds about four times as many.")
        .batch_wide()
        .reads_images()
        .float64("how far an extremum is from its pixel is a quotient of differences of nearly equal numbers")
        .oracle("opencv");
  }
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void check(std::span<const ValueType> in) override {
    check_bytes(in[0]);
    if (const Layout layout = check_image(in[0]); layout.has('F') || layout.has('D'))
      bad_type("expected the layout HW, HWC or CHW, got '{}'", layout.str());
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    out[0] = {DType::float32, 2, {}};
    out[1] = {DType::uint8, 2, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    const int64_t count = measured(s) ? measured(s)[0] : -1;
    out[0] = {count, 7}, out[1] = {count, kSiftNumbers};
  }
  std::vector<FoundArray> find(const View& image, int) const override {
    const auto [height, width] = extents(image);
    const std::vector<Octave> octaves = scale_space(image.as<const uint8_t>(), height, width, rule());
    const std::vector<Keypoint> points = sift_keypoints(octaves, rule());
    std::vector<float> rows(points.size() * 7);
    std::vector<uint8_t> descriptors(points.size() * kSiftNumbers);
    for (size_t k = 0; k < points.size(); ++k) {
      write_keypoint(points[k], expand, rows.data() + k * 7);
      describe_keypoint(octaves, points[k], descriptors.data() + k * kSiftNumbers);
    }
    const auto count = static_cast<int64_t>(points.size());
    return {found_array(rows, {count, 7}), found_array(descriptors, {count, kSiftNumbers})};
  }
  void measure(const SampleContext& s, std::span<const View> in, SampleWork& to, int64_t* numbers) const override {
    if (to.at_once()) {
      const std::vector<FoundArray>& found = found_in(s);
      numbers[0] = found[0].shape[0], numbers[1] = reinterpret_cast<int64_t>(&found);
      return;
    }
    const auto [height, width] = extents(in[0]);
    find_keypoints_there(in[0].as<const uint8_t>(), height, width, rule(), numbers, to);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    if (to.at_once()) return give_found(*reinterpret_cast<const std::vector<FoundArray>*>(measured(s)[1]), out);
    const auto [height, width] = extents(in[0]);
    describe_keypoints_there(measured(s), height, width, rule(), out[0].as<float>(), out[1].as<uint8_t>(), to);
  }

 private:
  static constexpr int64_t kMostPixels = 1 << 28;  // of the first octave, whose planes are about 16 GB

  SiftRule rule() const {
    return {max_features,
            static_cast<double>(contrast_threshold),
            static_cast<double>(edge_threshold),
            static_cast<double>(sigma),
            octave_layers,
            expand};
  }
  std::pair<int64_t, int64_t> extents(const View& image) const {
    const auto [height, width] = plane_extents(image);
    if (height * width * (expand ? 4 : 1) > kMostPixels)
      bad_argument("an image of the shape {} is too large{}", image.shape.text(),
                   expand ? ": with expand=False it needs a quarter of the memory" : "");
    return {height, width};
  }
};
PENSTOCK_OPERATOR(Sift);

}  // namespace penstock
