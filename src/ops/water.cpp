// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/displacement.h"

namespace penstock {

struct WaterRule {
  PENSTOCK_PIXEL(
      // Angles are integers, in 2^-64 of a turn: exact at any place, and whole turns vanish.
      struct Wave {
        uint64_t step;   // from one row or column to the next
        uint64_t start;  // at the first one
        float amplitude;
      };
      struct Coef { Wave x, y; };
      // The sine of turns / 2^64 turns.
      template <class V> PENSTOCK_INLINE static V sine(uint64_t turns) {
        const uint64_t quarters = (turns + (uint64_t{1} << 61)) >> 62;
        const auto part = static_cast<int64_t>(turns - (quarters << 62));
        V r;  // at most pi / 4
        if constexpr (sizeof(V) == sizeof(float))
          r = static_cast<V>(static_cast<int32_t>(part >> 32)) * static_cast<V>(1.4629180792671596e-9);
        else r = static_cast<V>(part) * 3.4061215800865545e-19;
        const V z = r * r;
        const V s = r + r * z *
                            series(z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800,
                                   -1.0 / 1307674368000);
        const V c =
            1 - z * (static_cast<V>(0.5) - z * series(z, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800,
                                                      1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000));
        const V v = (quarters & 1) ? c : s;
        return (quarters & 2) ? -v : v;
      }
      // first + more[0] * z + more[1] * z^2 and so on.
      template <class V, class... More> PENSTOCK_INLINE static V series(V z, double first, More... more) {
        if constexpr (sizeof...(more) == 0) return static_cast<V>(first);
        else return static_cast<V>(first) + z * series(z, more...);
      }
      // Along x, the same for a row; along y, the same for a column.
      template <class V> PENSTOCK_INLINE static V row(int32_t y, const Coef& c) {
        return c.x.amplitude * sine<V>(c.x.start + c.x.step * static_cast<uint64_t>(y));
      } template <class V> PENSTOCK_INLINE static V column(int32_t x, const Coef& c) {
        return c.y.amplitude * sine<V>(c.y.start + c.y.step * static_cast<uint64_t>(x));
      }
      // Where output (x, y) reads.
      template <class V>
      PENSTOCK_INLINE static gather::Position<V>
          crossing(int32_t y, int32_t x, V by_x, V by_y) {
            const V half = static_cast<V>(-0.5);
            if constexpr (sizeof(V) == sizeof(double))
              return {static_cast<V>(x) + by_x, static_cast<V>(y) + by_y, half, half};
            else {
              const gather::Sum<V> px = gather::sum_of(static_cast<V>(x), by_x);
              const gather::Sum<V> py = gather::sum_of(static_cast<V>(y), by_y);
              return {px.value, py.value, px.rest + half, py.rest + half};
            }
          } template <class V>
          PENSTOCK_INLINE static gather::Position<V>
              at(int32_t, int32_t y, int32_t x, const Coef& c) {
                return crossing<V>(y, x, row<V>(y, c), column<V>(x, c));
              }
      // The nearest one: the halves of the pixels' centers cancel each other.
      PENSTOCK_INLINE static int32_t moved(int32_t at, float by) {
        const float most = 1073741824.0f;  // also for what is not a number
        const float near = abs(by) < most ? by : -most;
        return static_cast<int32_t>(static_cast<uint32_t>(at) +
                                    static_cast<uint32_t>(static_cast<int32_t>(floor(near))));
      } PENSTOCK_INLINE static gather::Pixel crossing_pixel(int32_t y, int32_t x, float by_x, float by_y) {
        return {moved(x, by_x), moved(y, by_y)};
      } PENSTOCK_INLINE static gather::Pixel pixel(int32_t, int32_t y, int32_t x, const Coef& c) {
        return crossing_pixel(y, x, row<float>(y, c), column<float>(x, c));
      });
};

struct Water : Displacement {
  float ampl_x = 10.0f, ampl_y = 10.0f, freq_x = 0.049087f, freq_y = 0.049087f, phase_x = 0.0f, phase_y = 0.0f;

  static Schema<Water> schema() {
    using Op = Water;
    return Schema<Op>("water",
                      "Distorts an image as if it lay under waving water.\n\nThe pixel (x, y) is taken from (x + "
                      "ampl_x * sin(freq_x * y + phase_x), y + ampl_y * cos(freq_y * x + phase_y)), where (0, 0) is "
                      "the corner of the first pixel. Layouts: HW, HWC, CHW, each also with a leading F; the output "
                      "keeps the layout. Types: all.")
        .arg("ampl_x", &Op::ampl_x, "Amplitude of the waves along x, in pixels.")
        .arg("ampl_y", &Op::ampl_y, "Amplitude of the waves along y, in pixels.")
        .arg("freq_x", &Op::freq_x, "Frequency of the waves along x, in radians per row.")
        .arg("freq_y", &Op::freq_y, "Frequency of the waves along y, in radians per column.")
        .arg("phase_x", &Op::phase_x, "Phase of the first row, in radians.")
        .arg("phase_y", &Op::phase_y, "Phase of the first column, in radians.")
        .float64(gather::kWhyFloat64)
        .with(&displacement_arguments<Op>);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const uint64_t quarter = uint64_t{1} << 62;  // a cosine
    sample_displaced<WaterRule>(
        s, in[0], out[0], {{turns(freq_x), turns(phase_x), ampl_x}, {turns(freq_y), turns(phase_y) + quarter, ampl_y}},
        to);
  }

 private:
  static uint64_t turns(float radians) {
    const long double all = radians * 0.159154943091895335768883763372514362L;
    const long double part = all - std::rint(all);
    return static_cast<uint64_t>(static_cast<int64_t>(std::ldexp(part, 63))) << 1;
  }
};
PENSTOCK_OPERATOR(Water);

}  // namespace penstock
