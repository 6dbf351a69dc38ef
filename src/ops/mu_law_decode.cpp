// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "operator/operator.h"
#include "pixel/transcendental.h"

namespace penstock {

struct MuLawDecode : PixelOperator {
  int quantization_channels = 256;

  static Schema<MuLawDecode> schema() {
    return Schema<MuLawDecode>(
               "mu_law_decode",
               "Turns codes of fn.mu_law_encode into samples of sound.\n\nWith mu = "
               "quantization_channels - 1 and y = 2 code / mu - 1 the result is sign(y) ((1 + mu)^|y| - "
               "1) / mu, within 1e-6. Shapes and layouts: any, kept. Types: uint8, int16, int32. Output: "
               "float32.\n\n"
               "Example:\n"
               ">>> fn.mu_law_decode(np.uint8([0, 255])).tolist()\n"
               "[-1.0, 1.0]")
        .arg("quantization_channels", &MuLawDecode::quantization_channels, "Number of codes.", within(2, 65536))
        .oracle("torchaudio");
  }
  void check(std::span<const ValueType> in) override {
    const DType t = in[0].dtype;
    if (t != DType::none && t != DType::uint8 && t != DType::int16 && t != DType::int32)
      bad_type("expected codes of uint8, int16 or int32, got {}", name_of(t));
  }
  DType output_dtype(std::span<const ValueType>) const override { return DType::float32; }
  // The exponential without its limits, whose branches would keep the loop from being vectorized.
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V mu, logarithm; };
      template <class V> PENSTOCK_LOOPED static V pixel(V in, const Coef<V>& c) {
        const V y = clamp(in, V(0), c.mu) * V(2) / c.mu - V(1);
        const auto power = single_precision::exp_scaled({abs(y) * c.logarithm, V(0)});
        const V grown = single_precision::scaled(power.value.high + power.value.low, power.n);
        const V size = min((grown - V(1)) / c.mu, V(1));
        return select(y < V(0), -size, size);
      });
  Coef<float> coef(int) const {
    const double mu = quantization_channels - 1;
    return {static_cast<float>(mu), static_cast<float>(std::log1p(mu))};
  }
};
PENSTOCK_OPERATOR(MuLawDecode);

}  // namespace penstock
