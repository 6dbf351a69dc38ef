// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/random_values.h"
#include "pixel/transcendental.h"

namespace penstock {

// Two uniform numbers become a normal one (Box and Muller, "A note on the generation of random normal deviates", 1958).
struct BoxMuller {
  static constexpr int operands = 2;
  using Lanes = LaneList<double>;
  PENSTOCK_PIXEL(
      template <class V> struct Coef {
        V mean, stddev;
        int64_t quarter;
      };
      template <class V> PENSTOCK_HD static V pixel(V u, V turn, const Coef<V>& c) {
        const V t = turn * V(4), whole = round_even(t);  // quarters of a turn
        const V angle = series::sin_quarter({(t - whole) * V(kPi / 2), static_cast<int32_t>(whole) + c.quarter});
        return fma(sqrt(V(-2) * log(u)) * angle, c.stddev, c.mean);
      });
};
struct NormalDraw {
  static constexpr int per_block = 2;
  PENSTOCK_PIXEL(
      struct Coef { double mean, stddev; };
      PENSTOCK_HD static double number(const PhiloxBlock& b, int k, const Coef& c) {
        const double u = 1.0 - uniform01_wide(b.word[0] | uint64_t{b.word[1]} << 32);  // in (0, 1]
        const double turn = uniform01_wide(b.word[2] | uint64_t{b.word[3]} << 32);
        return BoxMuller::pixel(u, turn, BoxMuller::Coef<double>{c.mean, c.stddev, k});
      });
  static std::string text() { return std::string("struct BoxMuller {") + BoxMuller::pixel_text + "};" + pixel_text; }
  static constexpr int64_t kPairs = 256;
  // The uniform numbers of a pair that becomes two normal ones.
  static void put_pair(const PhiloxBlock& b, double& u, double& turn) {
    u = 1.0 - uniform01_wide(b.word[0] | uint64_t{b.word[1]} << 32);
    turn = uniform01_wide(b.word[2] | uint64_t{b.word[3]} << 32);
  }
  // The first or the second of each pair.
  static void half_of_pairs(const Coef& coef, int half, const double* u, const double* turn, double* z, int64_t pairs) {
    static const TileFn tile = tile_of<BoxMuller, double>(best_target());
    const BoxMuller::Coef<double> c{coef.mean, coef.stddev, half};
    const void* in[2] = {u, turn};
    void* to = z;
    TileCall call;
    call.in[0] = &in[0], call.in[1] = &in[1];
    call.out = &to, call.n = pairs, call.coef = reinterpret_cast<const std::byte*>(&c);
    tile(call);
  }
  static void scalars(DType dtype, void* out, const RandomStream& draws, std::span<const uint64_t> samples,
                      const std::byte* coef) {
    double u[kPairs], turn[kPairs], z[kPairs];
    dispatch(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (size_t begin = 0; begin < samples.size(); begin += kPairs) {
        const size_t n = std::min<size_t>(samples.size() - begin, kPairs);
        for (size_t k = 0; k < n; ++k)
          put_pair(RandomStream{draws.key0, draws.key1, samples[begin + k]}.block(0), u[k], turn[k]);
        half_of_pairs(*reinterpret_cast<const Coef*>(coef), 0, u, turn, z, static_cast<int64_t>(n));
        for (size_t k = 0; k < n; ++k) static_cast<T*>(out)[begin + k] = stored<T>(z[k]);
      }
    });
  }
  // A tile at a time.
  static void fill(const View& out, const RandomStream& draws, const std::byte* coef) {
    double u[kPairs], turn[kPairs], z[2][kPairs];
    PhiloxColumns blocks;
    const int64_t n = out.volume();
    const Coef& of_sample = *reinterpret_cast<const Coef*>(coef);
    for (int64_t begin = 0; begin < n; begin += 2 * kPairs) {
      const int64_t elements = std::min(n - begin, 2 * kPairs), pairs = (elements + 1) / 2;
      constexpr auto kTogether = static_cast<int64_t>(kStreamsTogether);
      for (int64_t k = 0; k < pairs; ++k) {
        if (k % kTogether == 0)
          philox_run(draws, static_cast<uint64_t>(begin / 2 + k), static_cast<size_t>(std::min(pairs - k, kTogether)),
                     blocks);
        put_pair(blocks.block(static_cast<size_t>(k % kTogether)), u[k], turn[k]);
      }
      for (int half = 0; half < 2; ++half) half_of_pairs(of_sample, half, u, turn, z[half], pairs);
      dispatch(out.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        T* to = out.as<T>() + begin;
        for (int64_t i = 0; i < elements; ++i) to[i] = stored<T>(z[i & 1][i >> 1]);
      });
    }
  }
};

struct RandomNormal : RandomValues {
  PerSample<float> mean = 0.0f;
  PerSample<float> stddev = 1.0f;

  static Schema<RandomNormal> schema() {
    using Op = RandomNormal;
    return Schema<Op>("random.normal", std::string("Draws numbers from a normal distribution.") + kAbout +
                                           " Source: the Box-Muller transform in float64.")
        .arg("mean", &Op::mean, "Mean of the distribution.")
        .arg("stddev", &Op::stddev, "Standard deviation.", at_least(0))
        .arg("dtype", &Op::dtype, kType)
        .arg("shape", &Op::shape, kShape)
        .inputs(0, 1)
        .input_names({"shape_like"})
        .random()
        .float64("53 random bits make each uniform number, and float32 has no place for them")
        .oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View>, std::span<const View> out, SampleWork& to) const override {
    to.draw(out[0], stream(s), rule(), bytes_of(NormalDraw::Coef{mean[s.index], checked_deviation(stddev[s.index])}));
  }
  bool draws_scalars() const override { return !shape.given() && mean.constant() && stddev.constant(); }
  void draw_scalars(std::span<const SampleContext> samples, DType t, void* out) const override {
    draw_scalars_by(rule(), bytes_of(NormalDraw::Coef{mean.one(), stddev.one()}), samples, t, out);
  }

 private:
  static DrawRule rule() { return {NormalDraw::per_block, &NormalDraw::text, &NormalDraw::fill, &NormalDraw::scalars}; }
};
PENSTOCK_OPERATOR(RandomNormal);

}  // namespace penstock
