// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/companding.h"

namespace penstock {

struct G711Encode : PixelOperator {
  std::string law = "mu";

  static Schema<G711Encode> schema() {
    return Schema<G711Encode>(
               "g711_encode",
               "Encodes samples of sound in 8 bits each, as telephone networks do.\n\nThe codes are those "
               "of ITU-T G.711: of 14 bits of a sample with the mu-law, of 13 with the A-law. Shapes and "
               "layouts: any, kept. Types: int16, or float32 from -1 to 1, which is first multiplied by "
               "32768 and rounded. Output: uint8. fn.g711_decode is the way back.\n\n"
               "Example:\n"
               ">>> fn.g711_encode(np.int16([-1000, 0, 1000]), law=\"mu\").tolist()\n"
               "[78, 255, 206]")
        .arg("law", &G711Encode::law, "\"mu\", of North America and Japan, or \"a\".")
        .oracle("audioop");
  }
  void ready() override { check_law(law); }
  void check(std::span<const ValueType> in) override {
    scale_ = check_sound(in[0]) == DType::float32 ? 32768.0f : 1.0f;
  }
  DType output_dtype(std::span<const ValueType>) const override { return DType::uint8; }
  // A number of float32 has the segment in its exponent, and the place there in the upper bits of its mantissa.
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V scale, step, half, bias, base, flips; };
      template <class V> PENSTOCK_HD static V pixel(V in, Coef<V> c) {
        const V sample = clamp(round_even(in * c.scale), V(-32768), V(32767));
        const V reduced = floor(sample * c.step);
        const V size = min(abs(reduced + c.half) - c.half + c.bias, V(8191));
        const V above = static_cast<V>(std::bit_cast<int32_t>(size) >> 19) - c.base;
        const V code = select(size < V(32), floor(size * V(0.5)), above);
        const V flipped = static_cast<V>(static_cast<int32_t>(code) ^ static_cast<int32_t>(c.flips));
        return flipped + select(reduced < V(0), V(0), V(128));
      });
  Coef<float> coef(int) const {
    if (law == "a") return {scale_, 0.125f, 0.5f, 0.0f, 131 * 16, 0x55};
    return {scale_, 0.25f, 0.0f, 33.0f, 132 * 16, 0x7F};
  }

 private:
  float scale_ = 1;
};
PENSTOCK_OPERATOR(G711Encode);

}  // namespace penstock
