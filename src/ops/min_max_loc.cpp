// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "operator/image_work.h"
#include "ops/shared/extreme_places.h"

namespace penstock {

// A team finds the extremes of an image: each of its threads some, the first thread those of all.
struct PlaceRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t pixels;
        int64_t width;
      };
      template <class In>
      PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
        int64_t* const places = reinterpret_cast<int64_t*>(team.memory());  // two of each thread
        for (int64_t image = team.begin; image < team.end; ++image) {
          const In* in = a.from<In>(0) + image * c.pixels;
          int64_t low = -1;
          int64_t high = -1;
          for (int64_t i = team.index; i < c.pixels; i += team.count) {
            if (!(in[i] == in[i])) continue;
            if (low < 0 || in[i] < in[low]) low = i;
            if (high < 0 || in[high] < in[i]) high = i;
          }
          places[2 * team.index] = low;
          places[2 * team.index + 1] = high;
          team.sync();
          for (int k = 0; k < 2 && team.index == 0; ++k) {
            int64_t best = -1;
            for (int t = 0; t < team.count; ++t) {
              const int64_t at = places[2 * t + k];
              if (at < 0) continue;
              const bool passes = best < 0 || (k == 0 ? in[at] < in[best] : in[best] < in[at]);
              if (passes || (in[at] == in[best] && at < best)) best = at;
            }
            put<In>(a, k, image, in, best, c.width);
          }
          team.sync();
        }
      } template <class In>
      PENSTOCK_HD static void put(const Arrays& a, int k, int64_t image, const In* in, int64_t at, int64_t width) {
        a.to<In>(k)[image] = in[at < 0 ? 0 : at];
        int32_t* place = a.to<int32_t>(k + 2) + 2 * image;
        place[0] = static_cast<int32_t>(at < 0 ? -1 : at % width);
        place[1] = static_cast<int32_t>(at < 0 ? -1 : at / width);
      });
};

struct MinMaxLoc : WholeOperator {
  static Schema<MinMaxLoc> schema() {
    return Schema<MinMaxLoc>("min_max_loc",
                             "Finds the least and the greatest element of an image, and where they are.\n\nReturns "
                             "four results: the least element, the greatest one, the place (x, y) of each. Of equal "
                             "elements the first in the order of rows counts, as in OpenCV's minMaxLoc. NaN is "
                             "ignored; of an image that has nothing else, the values are its first element and the "
                             "places (-1, -1). Values have the type of the image, places are int32; each frame has "
                             "its own. Images have one channel. Layouts: HW, HWC, CHW, each also with a leading F. "
                             "Types: all.\n\n"
                             "Example:\n"
                             ">>> least, most, low, high = fn.min_max_loc(np.uint8([[5, 9, 2], [9, 2, 7]]))\n"
                             ">>> least.item(), most.item(), low.tolist(), high.tolist()\n"
                             "(2, 9, [2, 0], [1, 0])")
        .outputs(4)
        .oracle("opencv");
  }
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    const bool frames = check_image(in[0]).has('F');
    for (int k = 0; k < 4; ++k) {
      out[k] = {k < 2 ? in[0].dtype : DType::int32, in[0].ndim < 0 ? -1 : frames + (k > 1), {}};
      if (frames && k < 2) out[k].layout = "F";
    }
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    const Layout layout = check_image(types[0]);
    const int channel = layout.find('C');
    if (channel >= 0 && in[0][channel] > 1)
      bad_argument("the image has {} channels: take one of them, or fn.grayscale", in[0][channel]);
    for (int k = 0; k < 4; ++k) {
      out[k] = layout.has('F') ? Shape{in[0][0]} : Shape{};
      if (k > 1) out[k].push_back(2);
    }
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const View image = in[0];
    const int64_t images = out[0].volume();
    if (images == 0) return;
    const int64_t pixels = image.volume() / images, width = image.shape[image.layout.find('W')];
    if (pixels == 0) bad_argument("an image of shape {} has no elements", image.shape.text());
    Arrays arrays{{image.data}, {out[0].data, out[1].data, out[2].data, out[3].data}};
    if (to.at_once()) {
      for (int64_t i = 0; i < images; ++i) find_on_host(arrays, image.dtype, i, pixels, width);
      return;
    }
    run_team<PlaceRule>({.in = {image.data},
                         .out = {out[0].data, out[1].data, out[2].data, out[3].data},
                         .type = image.dtype,
                         .units = images,
                         .memory = 2 * whole::kThreads * sizeof(int64_t),
                         .unit_for_team = true},
                        {pixels, width}, to);
  }

 private:
  static void find_on_host(const Arrays& a, DType dtype, int64_t image, int64_t pixels, int64_t width) {
    dispatch(dtype, [&]<class T>(TypeTag<T>) {
      const T* const from = a.from<T>(0) + image * pixels;
      const ExtremePlaces at = extreme_places(dtype, from, pixels);
      PlaceRule::put<T>(a, 0, image, from, at.least, width);
      PlaceRule::put<T>(a, 1, image, from, at.most, width);
    });
  }
};
PENSTOCK_OPERATOR(MinMaxLoc);

}  // namespace penstock
