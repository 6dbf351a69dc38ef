// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "operator/operator.h"
#include "pixel/transcendental.h"

namespace penstock {

struct MuLawEncode : PixelOperator {
  int quantization_channels = 256;

  static Schema<MuLawEncode> schema() {
    return Schema<MuLawEncode>(
               "mu_law_encode",
               "Quantizes samples of sound by the logarithm of their magnitude, without G.711's "
               "segments.\n\nWith mu = quantization_channels - 1 the code of x is floor((sign(x) log(1 + "
               "mu |x|) / log(1 + mu) + 1) mu / 2 + 1 / 2), computed in float32. Shapes and layouts: "
               "any, kept. Type: float32 from -1 to 1; values outside give the outermost codes. Output: "
               "uint8 for up to 256 codes, else int32. Source: A. van den Oord et al., \"WaveNet\", "
               "2016.\n\n"
               "Example:\n"
               ">>> fn.mu_law_encode(np.float32([-1, 0, 1])).tolist()\n"
               "[0, 128, 255]")
        .arg("quantization_channels", &MuLawEncode::quantization_channels, "Number of codes.", within(2, 65536))
        .oracle("torchaudio");
  }
  void check(std::span<const ValueType> in) override {
    if (in[0].dtype != DType::none && in[0].dtype != DType::float32)
      bad_type("expected float32, got {}", name_of(in[0].dtype));
  }
  DType output_dtype(std::span<const ValueType>) const override {
    return quantization_channels <= 256 ? DType::uint8 : DType::int32;
  }
  // The logarithm without its limits, whose branches would keep the loop from being vectorized: what is above 1 gives
  // the last code, be it 2 or infinite.
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V mu, scale; };
      template <class V> PENSTOCK_LOOPED static V pixel(V in, const Coef<V>& c) {
        const V size = single_precision::log_of_positive(V(1) + c.mu * min(abs(in), V(2))) * c.scale;
        const V code = clamp(floor(select(in < V(0), -size, size) + (c.mu * V(0.5) + V(0.5))), V(0), c.mu);
        return select(in == in, code, in);
      });
  Coef<float> coef(int) const {
    const double mu = quantization_channels - 1;
    return {static_cast<float>(mu), static_cast<float>(0.5 * mu / std::log1p(mu))};
  }
};
PENSTOCK_OPERATOR(MuLawEncode);

}  // namespace penstock
