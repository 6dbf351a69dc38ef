// SPDX-License-Identifier: Apache-2.0
// Included once for each processor target by convolution.cpp. The stages of convolution_stages.h over vectors; the two
// stages over neighboring elements, with the product of spectra between, are one pass over tiles that are transposed.

#if PENSTOCK_TARGET_FLOATS
constexpr int kWidth = PENSTOCK_TARGET_FLOATS;
#else
constexpr int kWidth = 4;
#endif
typedef float Lanes __attribute__((vector_size(4 * kWidth), aligned(4)));

struct Vectors {
  Lanes re, im;
};

PENSTOCK_INLINE Lanes loaded(const float* from) { return *reinterpret_cast<const Lanes*>(from); }
PENSTOCK_INLINE void keep(const Lanes& v, float* to) { *reinterpret_cast<Lanes*>(to) = v; }
// As Butterflies::times, each lane by its own factor.
PENSTOCK_INLINE Vectors product(const Vectors& a, const Lanes& re, const Lanes& im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}
template <bool swapped> PENSTOCK_INLINE Vectors load_pair(Planes z, int64_t at) {
  return swapped ? Vectors{loaded(z.im + at), loaded(z.re + at)} : Vectors{loaded(z.re + at), loaded(z.im + at)};
}
template <bool swapped> PENSTOCK_INLINE void keep_pair(const Vectors& v, Planes z, int64_t at) {
  keep(swapped ? v.im : v.re, z.re + at);
  keep(swapped ? v.re : v.im, z.im + at);
}

template <int radix, bool inverse>
void run_stage(Planes z, int64_t size, int64_t n, const float* __restrict factors) {
  const int64_t m = n / radix;
  for (int64_t group = 0; group < size; group += n)
    for (int64_t j = 0; j < m; j += kWidth) {
      Vectors x[radix], y[radix];
#pragma GCC unroll 4
      for (int k = 0; k < radix; ++k) {
        x[k] = load_pair<inverse>(z, group + j + m * k);
        const float* w = factors + 2 * m * (k - 1) + j;
        if (inverse && k > 0) x[k] = product(x[k], loaded(w), loaded(w + m));
      }
      if constexpr (radix == 2) convolution::Butterflies::two(x, y);
      else convolution::Butterflies::four(x, y);
#pragma GCC unroll 4
      for (int k = 0; k < radix; ++k) {
        const float* w = factors + 2 * m * (k - 1) + j;
        if (!inverse && k > 0) y[k] = product(y[k], loaded(w), loaded(w + m));
        keep_pair<inverse>(y[k], z, group + j + m * k);
      }
    }
}

// Swaps blocks of s x s elements next to the diagonal of kWidth rows.
template <int s, int... k> PENSTOCK_INLINE void swap_blocks(Lanes* rows, std::integer_sequence<int, k...>) {
#pragma GCC unroll 16
  for (int i = 0; i < kWidth; ++i) {
    if (i & s) continue;
    const Lanes a = rows[i], b = rows[i + s];
    rows[i] = __builtin_shufflevector(a, b, ((k & s) ? kWidth + k - s : k)...);
    rows[i + s] = __builtin_shufflevector(a, b, ((k & s) ? kWidth + k : k + s)...);
  }
}
PENSTOCK_INLINE void transpose(Lanes* rows) {
  constexpr std::make_integer_sequence<int, kWidth> all;
  swap_blocks<1>(rows, all), swap_blocks<2>(rows, all);
  if constexpr (kWidth > 4) swap_blocks<4>(rows, all);
  if constexpr (kWidth > 8) swap_blocks<8>(rows, all);
}

// kWidth groups of 16 neighbors: element k of each group to lanes[k].
PENSTOCK_INLINE void load_tile(const float* from, Lanes* lanes) {
#pragma GCC unroll 4
  for (int b = 0; b < 16; b += kWidth) {
    Lanes rows[kWidth];
#pragma GCC unroll 16
    for (int i = 0; i < kWidth; ++i) rows[i] = loaded(from + 16 * i + b);
    transpose(rows);
#pragma GCC unroll 16
    for (int i = 0; i < kWidth; ++i) lanes[b + i] = rows[i];
  }
}
PENSTOCK_INLINE void keep_tile(const Lanes* lanes, float* to) {
#pragma GCC unroll 4
  for (int b = 0; b < 16; b += kWidth) {
    Lanes rows[kWidth];
#pragma GCC unroll 16
    for (int i = 0; i < kWidth; ++i) rows[i] = lanes[b + i];
    transpose(rows);
#pragma GCC unroll 16
    for (int i = 0; i < kWidth; ++i) keep(rows[i], to + 16 * i + b);
  }
}

// The stages over 16 and 4 elements, or the same of the inverse, of a tile.
PENSTOCK_INLINE void last_stages(Vectors* x, const float* factors) {
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    Vectors in[4] = {x[j], x[j + 4], x[j + 8], x[j + 12]}, out[4];
    convolution::Butterflies::four(in, out);
    x[j] = out[0];
#pragma GCC unroll 4
    for (int k = 1; k < 4; ++k) {
      const float* w = factors + 8 * (k - 1) + j;
      x[j + 4 * k] = convolution::Butterflies::times(out[k], w[0], w[4]);
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < 16; j += 4) {
    Vectors out[4];
    convolution::Butterflies::four(x + j, out);
    x[j] = out[0], x[j + 1] = out[1], x[j + 2] = out[2], x[j + 3] = out[3];
  }
}
PENSTOCK_INLINE void first_stages_back(Vectors* x, const float* factors) {
#pragma GCC unroll 4
  for (int j = 0; j < 16; j += 4) {
    Vectors out[4];
    convolution::Butterflies::four(x + j, out);
    x[j] = out[0], x[j + 1] = out[1], x[j + 2] = out[2], x[j + 3] = out[3];
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    Vectors in[4], out[4];
    in[0] = x[j];
#pragma GCC unroll 4
    for (int k = 1; k < 4; ++k) {
      const float* w = factors + 8 * (k - 1) + j;
      in[k] = convolution::Butterflies::times(x[j + 4 * k], w[0], w[4]);
    }
    convolution::Butterflies::four(in, out);
    x[j] = out[0], x[j + 4] = out[1], x[j + 8] = out[2], x[j + 12] = out[3];
  }
}

// The spectrum of a response keeps the lanes of its tiles, which are read in this order.
void middle_of_response(Planes z, int64_t size, const float* factors) {
  for (int64_t at = 0; at < size; at += 16 * kWidth) {
    Lanes re[16], im[16];
    Vectors x[16];
    load_tile(z.re + at, re), load_tile(z.im + at, im);
    for (int k = 0; k < 16; ++k) x[k] = {re[k], im[k]};
    last_stages(x, factors);
    for (int k = 0; k < 16; ++k) keep_pair<false>(x[k], z, at + kWidth * k);
  }
}
void middle_of_signal(Planes z, Planes spectrum, int64_t size, const float* factors) {
  for (int64_t at = 0; at < size; at += 16 * kWidth) {
    Lanes re[16], im[16];
    Vectors x[16];
    load_tile(z.re + at, re), load_tile(z.im + at, im);
#pragma GCC unroll 16
    for (int k = 0; k < 16; ++k) x[k] = {re[k], im[k]};
    last_stages(x, factors);
#pragma GCC unroll 16
    for (int k = 0; k < 16; ++k) {
      const Vectors v = product(x[k], loaded(spectrum.re + at + kWidth * k), loaded(spectrum.im + at + kWidth * k));
      x[k] = {v.im, v.re};
    }
    first_stages_back(x, factors);
#pragma GCC unroll 16
    for (int k = 0; k < 16; ++k) re[k] = x[k].im, im[k] = x[k].re;
    keep_tile(re, z.re + at), keep_tile(im, z.im + at);
  }
}

// The stages over more than 16 elements; returns the factors of those over 16.
const float* outer_stages(Planes z, int64_t size, const float* factors) {
  int64_t n = size;
  if (convolution::first_radix(size) == 2) {
    run_stage<2, false>(z, size, n, factors);
    factors += n, n /= 2;
  }
  for (; n > 16; factors += 6 * (n / 4), n /= 4) run_stage<4, false>(z, size, n, factors);
  return factors;
}
void outer_stages_back(Planes z, int64_t size, const float* factors) {
  const bool two = convolution::first_radix(size) == 2;
  const int64_t most = two ? size / 2 : size;
  for (int64_t n = 64; n <= most; n *= 4) run_stage<4, true>(z, size, n, factors + (two ? size : 0) + 2 * (most - n));
  if (two) run_stage<2, true>(z, size, size, factors);
}

void response_spectrum(Planes z, int64_t size, const float* factors) {
  middle_of_response(z, size, outer_stages(z, size, factors));
}
void convolve_pair(Planes z, Planes spectrum, int64_t size, const float* factors) {
  middle_of_signal(z, spectrum, size, outer_stages(z, size, factors));
  outer_stages_back(z, size, factors);
}

// `padded` has taps - 1 elements before the first result's.
void sums(const float* __restrict padded, const float* __restrict response, int64_t taps, int64_t count,
          float* __restrict out) {
  constexpr int kTogether = 4;
  for (int64_t i = 0; i < count; i += kTogether * kWidth) {
    Lanes sum[kTogether] = {};
    for (int64_t k = 0; k < taps; ++k)
      for (int v = 0; v < kTogether; ++v) sum[v] += response[k] * loaded(padded + i + v * kWidth + taps - 1 - k);
    for (int v = 0; v < kTogether; ++v) keep(sum[v], out + i + v * kWidth);
  }
}
