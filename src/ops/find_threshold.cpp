// SPDX-License-Identifier: Apache-2.0
#include "families/table/bins.h"
#include "families/team/team.h"

namespace penstock {

// Takes the counts of the values of each image. A team has an image.
struct FindThresholdRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t bins;
        int64_t triangle;
      };
      // The first value with the largest variance between what is at most it and what is above, times a constant.
      PENSTOCK_HD static int64_t otsu(const int32_t* counts, int64_t bins, const Team& team) {
        const Share own = team.share(bins);
        int64_t number = 0;
        int64_t sum = 0;
        for (int64_t v = own.begin; v < own.end; ++v) {
          number += counts[v];
          sum += counts[v] * v;
        }
        int64_t all = 0;
        int64_t all_sum = 0;
        number = team.before(number, all);
        sum = team.before(sum, all_sum);
        double best = 0.0;
        int64_t at = 0;
        for (int64_t v = own.begin; v < own.end; ++v) {
          number += counts[v];
          sum += counts[v] * v;
          if (number == 0 || number == all) continue;
          const double apart = static_cast<double>(sum) / static_cast<double>(number) -
                               static_cast<double>(all_sum - sum) / static_cast<double>(all - number);
          const double between = static_cast<double>(number) * static_cast<double>(all - number) * apart * apart;
          if (best < between) {
            best = between;
            at = v;
          }
        }
        // Numbers that are not negative have the order of their bits.
        const int64_t bits = std::bit_cast<int64_t>(best);
        const int64_t most = -team.least(-bits);
        return most == 0 ? 0 : team.least(bits == most ? at : bins);
      }
      // Where the counts are farthest below the line from the highest one to the end of the longer slope.
      PENSTOCK_HD static int64_t triangle(const int32_t* counts, int64_t bins) {
        int64_t first = 0;
        int64_t last = bins - 1;
        while (first < last && counts[first] == 0) ++first;
        while (last > 0 && counts[last] == 0) --last;
        int64_t peak = first;
        for (int64_t v = first; v <= last; ++v)
          if (counts[peak] < counts[v]) peak = v;
        first = first > 0 ? first - 1 : 0;
        last = last < bins - 1 ? last + 1 : last;
        const bool right = peak - first < last - peak;  // the slope that is longer
        const int64_t end = right ? bins - 1 - last : first;
        const int64_t top = right ? bins - 1 - peak : peak;
        int64_t best = 0;
        int64_t at = end;
        for (int64_t v = end + 1; v <= top; ++v) {
          const int64_t below = counts[peak] * v + (end - top) * counts[right ? bins - 1 - v : v];
          if (best < below) {
            best = below;
            at = v;
          }
        }
        return right ? bins - at : at - 1;
      } PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
        for (int64_t image = team.begin; image < team.end; ++image) {
          const int32_t* counts = a.from<int32_t>(0) + image * c.bins;
          const int64_t found = c.triangle ? triangle(counts, c.bins) : otsu(counts, c.bins, team);
          if (team.index == 0) a.to<float>(0)[image] = static_cast<float>(found);
        }
      });
};

struct FindThreshold : WholeOperator {
  std::string method = "otsu";

  static Schema<FindThreshold> schema() {
    return Schema<FindThreshold>(
               "find_threshold",
               "Finds the threshold that divides the values of an image into two classes.\n\n\"otsu\" takes the first "
               "value with the largest variance between the classes (N. Otsu, 1979), \"triangle\" the value whose "
               "count is farthest below the line from the highest count to the end of the longer slope (G. W. Zack, "
               "1977), as OpenCV's threshold does with THRESH_OTSU and THRESH_TRIANGLE. The result is float32, one "
               "number for an image, one for each frame; give it to `threshold`. Images have one channel. Layouts: "
               "HW, HWC, CHW, each also with a leading F. Types: uint8; with \"otsu\" also uint16.\n\n"
               "Example:\n"
               ">>> image = np.uint8([[10, 12, 200], [11, 210, 205]])\n"
               ">>> level = fn.find_threshold(image)\n"
               ">>> level.item()\n"
               "12.0\n"
               ">>> fn.threshold(image, threshold=level).tolist()\n"
               "[[0, 0, 255], [0, 255, 255]]")
        .arg("method", &FindThreshold::method, "\"otsu\" or \"triangle\".")
        .float64("the variance between the classes, because float32 has too few digits to tell near ones apart")
        .oracle("opencv");
  }
  void ready() override {
    if (method != "otsu" && method != "triangle")
      bad_argument("method must be \"otsu\" or \"triangle\", got \"{}\"", method);
  }
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    const Layout layout = check_image(in[0]);
    const DType type = in[0].dtype;
    if (type != DType::none && type != DType::uint8 && (type != DType::uint16 || method == "triangle"))
      bad_type("expected uint8{}, got {}", method == "otsu" ? " or uint16" : "", name_of(type));
    out[0] = {DType::float32, in[0].ndim < 0 ? -1 : layout.has('F') ? 1 : 0, {}};
    if (layout.has('F')) out[0].layout = "F";
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    const Layout layout = check_image(types[0]);
    const int channel = layout.find('C');
    if (channel >= 0 && in[0][channel] > 1)
      bad_argument("the image has {} channels: take one of them, or fn.grayscale", in[0][channel]);
    out[0] = layout.has('F') ? Shape{in[0][0]} : Shape{};
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const int64_t images = out[0].volume();
    if (images == 0) return;
    if (in[0].volume() == 0) bad_argument("an image of shape {} has no values", in[0].shape.text());
    const int64_t bins = in[0].dtype == DType::uint8 ? 256 : 65536;
    const Shape shape{images, bins};
    const View counts{to.scratch(static_cast<size_t>(images * bins) * sizeof(int32_t)),
                      DType::int32,
                      {},
                      shape,
                      dense_strides(shape)};
    table::count_bins(in[0], counts, {0.0f, static_cast<float>(bins), 1.0f, static_cast<int32_t>(bins)}, to);
    to.then();
    run_team<FindThresholdRule>({.in = {counts.data}, .out = {out[0].data}, .units = images, .unit_for_team = true},
                                {bins, method == "triangle"}, to);
  }
};
PENSTOCK_OPERATOR(FindThreshold);

}  // namespace penstock
