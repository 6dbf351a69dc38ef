// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "operator/image_layout.h"
#include "operator/operator.h"
#include "ops/shared/threshold_mode.h"
#include "pixel/convert.h"

namespace penstock {

struct Threshold : PixelOperator {
  PerFrame<float> threshold;
  PerFrame<float> max_value = 255.0f;
  std::string mode = "binary";

  static Schema<Threshold> schema() {
    return Schema<Threshold>("threshold",
                             "Replaces the values on one side of a threshold.\n\nA value lies above if it is larger "
                             "than the threshold, which integers compare with after rounding it down, as OpenCV's "
                             "threshold does. NaN lies below. `find_threshold` chooses a threshold by Otsu's method or "
                             "the triangle's. Shapes and layouts: any; the output keeps both. Types: integers of 8 "
                             "and 16 bits, float16, bfloat16, float32.\n\n"
                             "Example:\n"
                             ">>> fn.threshold(np.uint8([99, 100, 101]), threshold=100).tolist()\n"
                             "[0, 0, 255]\n"
                             ">>> fn.threshold(np.uint8([99, 100, 101]), threshold=100, mode=\"tozero\").tolist()\n"
                             "[0, 0, 101]")
        .required("threshold", &Threshold::threshold, "The largest value that does not lie above.")
        .arg("max_value", &Threshold::max_value, "The value that \"binary\" and \"binary_inv\" write.")
        .arg("mode", &Threshold::mode,
             "What values become: \"binary\": max_value above, else 0. \"binary_inv\": 0 above, else max_value. "
             "\"trunc\": the threshold above, else the value. \"tozero\": the value above, else 0. \"tozero_inv\": 0 "
             "above, else the value.")
        .gpu_arguments({"threshold", "max_value"})
        .oracle("opencv");
  }
  void ready() override { mode_ = threshold_mode(mode); }
  // Only a layout tells the frames (brightness_contrast.h).
  Layout input_layout(const ValueType& in) const override {
    return (threshold.frames() || max_value.frames()) && in.layout.empty() ? image_layout(in) : in.layout;
  }
  void check(std::span<const ValueType> in) override {
    const DType type = in[0].dtype;
    if (type != DType::none && (type == DType::bool_ || (size_of(type) > 2 && type != DType::float32)))
      bad_type("expected integers of 8 or 16 bits, float16, bfloat16 or float32, got {}", name_of(type));
    whole_ = type != DType::none && is_integer(type);
  }
  PENSTOCK_PIXEL(
      template <class V> struct Coef {
        V threshold;
        V above;
        V below;
        V keeps_above;  // 1: values above stay what they are; 0: they become `above`
        V keeps_below;
      };
      template <class V> PENSTOCK_HD static V pixel(V in, Coef<V> c) {
        const V above = select(c.keeps_above > V(0), in, c.above);
        const V below = select(c.keeps_below > V(0), in, c.below);
        return select(c.threshold < in, above, below);
      });
  PENSTOCK_TEXT(
      fold_text, struct Values { float threshold, max_value; }; struct Known {
        int32_t mode;
        int32_t whole;
      };
      template <class V> PENSTOCK_HD static Coef<V> fold(const Values& v, const Known& k) {
        const V limit = V(k.whole ? floor(v.threshold) : v.threshold), most = V(v.max_value);
        return {limit,
                k.mode == 0   ? most
                : k.mode == 2 ? limit
                              : V(0),
                k.mode == 1 ? most : V(0), V(k.mode == 3 ? 1 : 0), V(k.mode == 2 || k.mode == 4 ? 1 : 0)};
      });
  // Integers compare and stay in their own type; those of uint8 go through a table.
  using Dense = LaneList<int8_t, uint16_t, int16_t>;
  template <class V> using DenseResult = V;
  template <class V> static Coef<V> in_own_type(const Coef<float>& c) {
    constexpr V most = std::numeric_limits<V>::max();
    const bool all_above = c.threshold < static_cast<float>(std::numeric_limits<V>::lowest());
    const auto value = [](float v) { return from_lane<float, V>(v); };
    // A threshold below all numbers becomes `most`, above which none is, and what lies below becomes what lies above.
    return {c.threshold < most && !all_above ? static_cast<V>(c.threshold) : most, value(c.above),
            value(all_above ? c.above : c.below), V(c.keeps_above > 0),
            V((all_above ? c.keeps_above : c.keeps_below) > 0)};
  }
  bool dense(DType operands) const { return operands != DType::uint8; }
  static constexpr auto folded = std::tuple{&Threshold::threshold, &Threshold::max_value};
  void know(Known& k) const { k.mode = mode_, k.whole = whole_; }

 private:
  int mode_ = 0;
  bool whole_ = false;
};
PENSTOCK_OPERATOR(Threshold);

}  // namespace penstock
