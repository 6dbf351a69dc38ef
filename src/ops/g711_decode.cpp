// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/companding.h"

namespace penstock {

struct G711Decode : PixelOperator {
  std::string law = "mu";
  DType dtype = DType::float32;

  static Schema<G711Decode> schema() {
    return Schema<G711Decode>(
               "g711_decode",
               "Decodes samples of sound from 8 bits each, as telephone networks do.\n\nThe values are "
               "those of ITU-T G.711. Shapes and layouts: any, kept. Input: codes, uint8. Output: int16, "
               "or float32, the same divided by 32768.\n\n"
               "Example:\n"
               ">>> fn.g711_decode(np.uint8([78, 255, 206]), law=\"mu\", dtype=\"int16\").tolist()\n"
               "[-988, 0, 988]")
        .arg("law", &G711Decode::law, "\"mu\", of North America and Japan, or \"a\".")
        .arg("dtype", &G711Decode::dtype, "int16 or float32.")
        .oracle("audioop");
  }
  void ready() override {
    check_law(law);
    check_sound({dtype, -1, {}});
  }
  void check(std::span<const ValueType> in) override { check_codes(in[0]); }
  DType output_dtype(std::span<const ValueType>) const override { return dtype; }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V scale, flips, bias, low_step, low_first; };
      template <class V> PENSTOCK_HD static V pixel(V in, Coef<V> c) {
        const int32_t turned = static_cast<int32_t>(in) ^ static_cast<int32_t>(c.flips);
        const int32_t segment = (turned >> 4) & 7;
        const V place = static_cast<V>(turned & 15);
        const V width = std::bit_cast<V>((segment + 127) << 23);
        const V above = (place * V(8) + V(132)) * width - c.bias;
        const V size = select(segment == 0, place * c.low_step + c.low_first, above) * c.scale;
        return select(in < V(128), -size, size);
      });
  Coef<float> coef(int) const {
    const float scale = dtype == DType::float32 ? 0x1p-15f : 1.0f;
    if (law == "a") return {scale, 0x55, 0, 16, 8};
    return {scale, 0xFF, 132, 8, 0};
  }
};
PENSTOCK_OPERATOR(G711Decode);

}  // namespace penstock
