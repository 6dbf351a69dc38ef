// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/random_values.h"
#include "pixel/transcendental.h"

namespace penstock {

// Two uniform numbers to one normal one (Box and Muller, "A note on the generation of random normal deviates", 1958).
struct BoxMuller {
  static constexpr int operands = 2;
  using Lanes = LaneList<double>;
  template <class V> struct Coef { V mean, stddev; int64_t quarter; };
  template <class V> PENSTOCK_HD static V pixel(V u, V turn, const Coef<V>& c) {
    const V t = turn * V(4), whole = round_even(t);  // quarters of a turn
    const V angle = series::sin_quarter({(t - whole) * V(kPi / 2), static_cast<int64_t>(whole) + c.quarter});
    return fma(sqrt(V(-2) * log(u)) * angle, c.stddev, c.mean);
  }
};

struct RandomNormal : RandomValues {
  PerSample<float> mean = 0.0f;
  PerSample<float> stddev = 1.0f;

  static Schema<RandomNormal> schema() {
    using Op = RandomNormal;
    return Schema<Op>("random.normal", std::string("Numbers drawn from a normal distribution.") + kAbout +
                                           " Source: the Box-Muller transform in float64.")
        .arg("mean", &Op::mean, "Mean of the distribution.")
        .arg("stddev", &Op::stddev, "Standard deviation.")
        .arg("dtype", &Op::dtype, kType)
        .arg("shape", &Op::shape, kShape)
        .inputs(0, 1).input_names({"shape_like"}).random().oracle("dali");
  }
  void run(const SampleContext& s, std::span<const View>, std::span<const View> out) const {
    constexpr int64_t kPairs = 256;
    double u[kPairs], turn[kPairs], z[2][kPairs];
    const RandomStream draws = stream(s);
    const TileFn tile = tile_of<BoxMuller, double>(best_target());
    const int64_t n = out[0].volume();
    const double mu = mean[s.index], sigma = stddev[s.index];
    for (int64_t begin = 0; begin < n; begin += 2 * kPairs) {
      const int64_t elements = std::min(n - begin, 2 * kPairs), pairs = (elements + 1) / 2;
      for (int64_t k = 0; k < pairs; ++k) {
        const PhiloxBlock b = draws.block(static_cast<uint64_t>(begin / 2 + k));
        u[k] = 1.0 - uniform01_wide(b.word[0] | uint64_t{b.word[1]} << 32);  // in (0, 1]
        turn[k] = uniform01_wide(b.word[2] | uint64_t{b.word[3]} << 32);
      }
      for (int half = 0; half < 2; ++half) {
        const BoxMuller::Coef<double> c{mu, sigma, half};
        const void* in[2] = {u, turn};
        void* to = z[half];
        TileCall call;
        call.in[0] = &in[0], call.in[1] = &in[1];
        call.out = &to, call.n = pairs, call.coef = reinterpret_cast<const std::byte*>(&c);
        tile(call);
      }
      dispatch(out[0].dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        T* to = out[0].as<T>() + begin;
        for (int64_t i = 0; i < elements; ++i) to[i] = stored<T>(z[i & 1][i >> 1]);
      });
    }
  }
};
PENSTOCK_OPERATOR(RandomNormal);

}  // namespace penstock
