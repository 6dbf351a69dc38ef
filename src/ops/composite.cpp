// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/arithmetic.h"

namespace penstock {

struct Composite : ElementwiseOperator<3> {
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V part; };
      template <class V> PENSTOCK_HD static V pixel(V front, V back, V mask, const Coef<V>& c) {
        return back + (front - back) * (mask * c.part);
      });

  static Schema<Composite> schema() {
    return Schema<Composite>(
               "composite",
               "Lays a foreground over a background where a mask is set.\n\nout = background + (foreground - "
               "background) * alpha in float32; integers are rounded half to even and saturated. alpha is mask / 255 "
               "for uint8, and the mask itself for bool, float16 and float32: 1 is the foreground, 0 the background. "
               "Shapes are broadcast as in NumPy: a mask of one channel counts for all channels, and a background may "
               "be one number, or one for each channel where channels are last. The result has the type of the "
               "foreground. Layouts: any. Types: integers of 8 and 16 bits, float16, float32.\n\n"
               "Example:\n"
               ">>> front, mask = np.uint8([[[200, 100, 0]]]), np.uint8([[[51]]])\n"
               ">>> fn.composite(front, np.uint8([0, 0, 255]), mask).tolist()\n"
               "[[[40, 20, 204]]]")
        .inputs(3)
        .input_names({"foreground", "background", "mask"})
        .oracle("numpy");
  }
  void check(std::span<const ValueType> in) override {
    for (const int k : {0, 1}) {
      const DType type = in[k].dtype;
      const bool number = k == 1 && in[1].ndim >= 0 && in[1].ndim <= 1;  // Python's numbers are wider
      if (type != DType::none && !number && size_of(type) > 2 && type != DType::float32)
        bad_type("{} must have integers of 8 or 16 bits, float16, bfloat16 or float32, got {}",
                 k == 0 ? "foreground" : "background", name_of(type));
    }
    const DType mask = in[2].dtype;
    if (mask != DType::none && mask != DType::uint8 && mask != DType::bool_ && mask != DType::float16 &&
        mask != DType::bfloat16 && mask != DType::float32)
      bad_type("the mask must be uint8, bool, float16, bfloat16 or float32, got {}", name_of(mask));
    if (in[0].ndim >= 0 && in[2].ndim > 0 && in[2].ndim != in[0].ndim)
      bad_type("the mask has {} dimensions, the foreground {}: give it as many, with one channel", in[2].ndim,
               in[0].ndim);
    part_ = mask == DType::uint8 ? 1.0f / 255 : 1.0f;
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    const bool known = in[0].ndim >= 0 && in[1].ndim >= 0 && in[2].ndim >= 0;
    out[0].ndim = known ? std::max({in[0].ndim, in[1].ndim, in[2].ndim}) : -1;
    out[0].layout = common_layout(in[0].layout, in[1].layout, out[0].ndim);
    out[0].dtype = in[0].dtype;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = penstock::broadcast(in[2], penstock::broadcast(in[0], in[1]));
  }
  Coef<float> coef(int) const { return {part_}; }

 private:
  float part_ = 1;
};
PENSTOCK_OPERATOR(Composite);

}  // namespace penstock
