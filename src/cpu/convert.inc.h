// SPDX-License-Identifier: Apache-2.0
// Conversion loops, included once per target by convert.cpp.

#if PENSTOCK_TARGET_FLOATS
#include "cpu/convert_vectors.inc.h"
#include "cpu/convert_bytes.inc.h"

inline void load_half(const Half* in, float* out, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  for (; i < n; ++i) out[i] = in[i];
}
inline void store_half(const float* in, Half* out, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  for (; i < n; ++i) out[i] = Half(in[i]);
}
#endif

template <class T, class V>
void load(const void* base, int64_t step, int64_t plane_step, void* const* planes, int n_planes, int64_t n) {
  const T* in = static_cast<const T*>(base);
  if (n_planes == 3 && (step == 3 || step == -3) && plane_step == 1) {
    V* __restrict a = static_cast<V*>(planes[0]);
    V* __restrict b = static_cast<V*>(planes[1]);
    V* __restrict c = static_cast<V*>(planes[2]);
    int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
    if constexpr (std::is_same_v<T, uint8_t> && std::is_same_v<V, float>)
      i = step > 0 ? load_rgb_bytes<false>(in, a, b, c, n) : load_rgb_bytes<true>(in, a, b, c, n);
    if constexpr (std::is_same_v<T, float> && std::is_same_v<V, float>)
      for (; step > 0 && i + PENSTOCK_TARGET_FLOATS <= n; i += PENSTOCK_TARGET_FLOATS)
        split_pixels(in + 3 * i, a + i, b + i, c + i);
#endif
    for (; i < n; ++i) {
      const T* p = in + i * step;
      a[i] = to_lane<T, V>(p[0]), b[i] = to_lane<T, V>(p[1]), c[i] = to_lane<T, V>(p[2]);
    }
    return;
  }
  for (int p = 0; p < n_planes; ++p) {
    const T* q = in + p * plane_step;
    V* __restrict out = static_cast<V*>(planes[p]);
    if (step == 1) {
#if PENSTOCK_TARGET_FLOATS
      if constexpr (std::is_same_v<T, Half> && std::is_same_v<V, float>) {
        load_half(q, out, n);
        continue;
      }
#endif
      for (int64_t i = 0; i < n; ++i) out[i] = to_lane<T, V>(q[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = to_lane<T, V>(q[i * step]);
    }
  }
}

template <class T, class V>
void load_indexed(const void* base, const int32_t* index, int64_t step, int64_t plane_step, void* const* planes,
                  int n_planes, int64_t n) {
  for (int p = 0; p < n_planes; ++p) {
    const T* q = static_cast<const T*>(base) + p * plane_step;
    V* __restrict out = static_cast<V*>(planes[p]);
    for (int64_t i = 0; i < n; ++i) out[i] = to_lane<T, V>(q[index[i] * step]);
  }
}

template <class V, class T>
void store(const void* const* planes, int n_planes, int64_t n, void* base, int64_t step, int64_t plane_step,
           [[maybe_unused]] bool past_caches) {
  T* out = static_cast<T*>(base);
  if (n_planes == 3 && step == 3 && plane_step == 1) {
    const V* __restrict a = static_cast<const V*>(planes[0]);
    const V* __restrict b = static_cast<const V*>(planes[1]);
    const V* __restrict c = static_cast<const V*>(planes[2]);
    int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
    if constexpr (std::is_same_v<T, uint8_t> && std::is_same_v<V, float>) i = store_rgb_bytes(a, b, c, out, n);
    if constexpr (std::is_same_v<T, float> && std::is_same_v<V, float>)
      i = store_float_pixels(a, b, c, out, n, past_caches);
#endif
    for (; i < n; ++i)
      out[3 * i] = from_lane<V, T>(a[i]), out[3 * i + 1] = from_lane<V, T>(b[i]),
              out[3 * i + 2] = from_lane<V, T>(c[i]);
    return;
  }
  for (int p = 0; p < n_planes; ++p) {
    const V* __restrict in = static_cast<const V*>(planes[p]);
    T* __restrict q = out + p * plane_step;
    if (step == 1) {
#if PENSTOCK_TARGET_FLOATS
      if constexpr (std::is_same_v<T, Half> && std::is_same_v<V, float>) {
        store_half(in, q, n);
        continue;
      }
#endif
      int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
      if constexpr (std::is_same_v<T, uint8_t> && std::is_same_v<V, float>)
        for (; i + 16 <= n; i += 16) _mm_storeu_si128(reinterpret_cast<__m128i*>(q + i), bytes_of_floats(in + i));
      if constexpr (std::is_same_v<T, uint16_t> && std::is_same_v<V, float>)
        i = past_caches && reinterpret_cast<uintptr_t>(q) % 32 == 0 ? store_pairs<true>(in, q, n)
                                                                    : store_pairs<false>(in, q, n);
#endif
      for (; i < n; ++i) q[i] = from_lane<V, T>(in[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) q[i * step] = from_lane<V, T>(in[i]);
    }
  }
}

template <class V, class T>
void round_plane(void* plane, int64_t n) {
  V* p = static_cast<V*>(plane);
  for (int64_t i = 0; i < n; ++i) p[i] = round_to<T>(p[i]);
}

template <class A, class B>
void convert_lane(const void* from, void* to, int64_t n) {
  const A* __restrict a = static_cast<const A*>(from);
  B* __restrict b = static_cast<B*>(to);
  for (int64_t i = 0; i < n; ++i) b[i] = change_lane<A, B>(a[i]);
}

template <class T>
void lookup(const uint8_t* in, int64_t n, const void* table, void* out) {
  const T* t = static_cast<const T*>(table);
  T* o = static_cast<T*>(out);
  if constexpr (sizeof(T) == 1) {
    constexpr Target kOwn = PENSTOCK_TARGET_FLOATS == 16  ? Target::avx512
                            : PENSTOCK_TARGET_FLOATS == 8 ? Target::avx2
                                                          : Target::scalar;
    look_up_bytes(kOwn, in, o, n, t);
  } else {
    for (int64_t i = 0; i < n; ++i) o[i] = t[in[i]];
  }
}

#if PENSTOCK_TARGET_FLOATS
template <int kRegisters>
inline int64_t chain_registers(const float* in, float* out, int64_t i, int64_t n, const ChainStep* steps, int count,
                               bool past_caches) {
  constexpr int kWide = PENSTOCK_TARGET_FLOATS;
  for (; i + kWide * kRegisters <= n; i += kWide * kRegisters) {
    Floats v[kRegisters];
    for (int r = 0; r < kRegisters; ++r) v[r] = load_floats(in + i + r * kWide);
    for (int k = 0; k < count; ++k) {
      const Floats a = all_floats(steps[k].a), b = all_floats(steps[k].b);
      if (steps[k].rounds) {
        for (int r = 0; r < kRegisters; ++r) v[r] = round_floats(v[r], a, b);
      } else {
        for (int r = 0; r < kRegisters; ++r) v[r] = fma_floats(v[r], a, b);
      }
    }
    if (past_caches) {
      for (int r = 0; r < kRegisters; ++r) stream_floats(out + i + r * kWide, v[r]);
    } else {
      for (int r = 0; r < kRegisters; ++r) store_floats(out + i + r * kWide, v[r]);
    }
  }
  return i;
}
#endif

inline float chain_of(float v, const ChainStep* steps, int count) {
  for (int k = 0; k < count; ++k) {
    const ChainStep& s = steps[k];
    if (s.rounds) {
      v = round_even(v);
      v = v > s.a ? v : s.a;
      v = v < s.b ? v : s.b;
    } else {
      v = fma(v, s.a, s.b);
    }
  }
  return v;
}

#if PENSTOCK_TARGET_FLOATS
// Returns how many are done.
template <bool kPastCaches>
inline int64_t chain_word_registers(const uint16_t* in, uint16_t* out, int64_t n, const ChainStep* steps, int count) {
  constexpr int kGroups = 4, kRegisters = kGroups * kWordRegisters;
  int64_t i = 0;
  for (; i + 16 * kGroups <= n; i += 16 * kGroups) {
    Floats v[kRegisters];
    for (int g = 0; g < kGroups; ++g)
      floats_of_words(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i + 16 * g)), v + g * kWordRegisters);
    for (int k = 0; k < count; ++k) {
      const Floats a = all_floats(steps[k].a), b = all_floats(steps[k].b);
      if (steps[k].rounds) {
        for (auto& x : v) x = round_floats(x, a, b);
      } else {
        for (auto& x : v) x = fma_floats(x, a, b);
      }
    }
    for (int g = 0; g < kGroups; ++g) {
      auto* to = reinterpret_cast<__m256i*>(out + i + 16 * g);
      const __m256i words = words_of_floats(v + g * kWordRegisters);
      if constexpr (kPastCaches) _mm256_stream_si256(to, words);
      else _mm256_storeu_si256(to, words);
    }
  }
  return i;
}
#endif
inline void chain_words(const uint16_t* in, uint16_t* out, int64_t n, const ChainStep* steps, int count,
                        [[maybe_unused]] bool past_caches) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  i = past_caches && reinterpret_cast<uintptr_t>(out) % 32 == 0 ? chain_word_registers<true>(in, out, n, steps, count)
                                                                : chain_word_registers<false>(in, out, n, steps, count);
#endif
  for (; i < n; ++i) out[i] = from_lane<float, uint16_t>(chain_of(to_lane<uint16_t, float>(in[i]), steps, count));
}

// Eight registers at a time: enough independent chains to hide the latency of fma.
inline void chain(const float* in, float* out, int64_t n, const ChainStep* steps, int count, bool past_caches) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  past_caches = past_caches && reinterpret_cast<uintptr_t>(out) % sizeof(Floats) == 0;
  i = chain_registers<8>(in, out, i, n, steps, count, past_caches);
  i = chain_registers<1>(in, out, i, n, steps, count, past_caches);
#endif
  (void)past_caches;
  for (; i < n; ++i) out[i] = chain_of(in[i], steps, count);
}

inline void turn_colors(const uint8_t* in, uint8_t* out, int64_t n, const float* m) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  for (; i + kBytePixels <= n; i += kBytePixels) {
    alignas(64) float from[3][kBytePixels], to[3][kBytePixels];
    float* const planes[3] = {from[0], from[1], from[2]};
    floats_of_pixels<false>(in + 3 * i, planes, 0);
    for (int r = 0; r < 3; ++r) {
      Floats v = all_floats(m[9 + r]);
      for (int k = 0; k < 3; ++k) v = fma_floats(load_floats(from[k]), all_floats(m[3 * r + k]), v);
      store_floats(to[r], v);
    }
    pixels_of_floats(to[0], to[1], to[2], out + 3 * i);
  }
#endif
  for (; i < n; ++i) {
    const uint8_t* p = in + 3 * i;
    const float red = p[0], green = p[1], blue = p[2];
    for (int r = 0; r < 3; ++r)
      out[3 * i + r] =
          from_lane<float, uint8_t>(fma(blue, m[3 * r + 2], fma(green, m[3 * r + 1], fma(red, m[3 * r], m[9 + r]))));
  }
}

// A pixel of float32 through a matrix.
inline void turn_float_pixel(const float* in, float* out, const float* m) {
  const float red = in[0], green = in[1], blue = in[2];
  for (int r = 0; r < 3; ++r) out[r] = fma(blue, m[3 * r + 2], fma(green, m[3 * r + 1], fma(red, m[3 * r], m[9 + r])));
}
#if PENSTOCK_TARGET_FLOATS
// Returns how many are done. A pixel goes from memory to memory at once: reading and writing overlap.
template <bool kPastCaches>
inline int64_t turn_float_registers(const float* in, float* out, int64_t i, int64_t n, const float* m) {
  constexpr int kWide = PENSTOCK_TARGET_FLOATS;
  for (; i + kWide <= n; i += kWide) {
    alignas(64) float from[3][kWide], to[3][kWide];
    split_pixels(in + 3 * i, from[0], from[1], from[2]);
    for (int r = 0; r < 3; ++r) {
      Floats v = all_floats(m[9 + r]);
      for (int k = 0; k < 3; ++k) v = fma_floats(load_floats(from[k]), all_floats(m[3 * r + k]), v);
      store_floats(to[r], v);
    }
    join_pixels<kPastCaches>(to[0], to[1], to[2], out + 3 * i);
  }
  return i;
}
#endif
inline void turn_float_colors(const float* in, float* out, int64_t n, const float* m,
                              [[maybe_unused]] bool past_caches) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  constexpr int64_t kWide = PENSTOCK_TARGET_FLOATS;
  if (past_caches) {
    const auto is_aligned = [&] { return reinterpret_cast<uintptr_t>(out + 3 * i) % (4 * kWide) == 0; };
    for (; i < std::min(n, kWide) && !is_aligned(); ++i) turn_float_pixel(in + 3 * i, out + 3 * i, m);
    if (is_aligned()) i = turn_float_registers<true>(in, out, i, n, m);
  }
  i = turn_float_registers<false>(in, out, i, n, m);
#endif
  for (; i < n; ++i) turn_float_pixel(in + 3 * i, out + 3 * i, m);
}

template <class T, class V>
void fill_type(Conversions& c, DType t, Lane l) {
  const int i = static_cast<int>(t), j = static_cast<int>(l);
  c.load[i][j] = &load<T, V>;
  c.load_indexed[i][j] = &load_indexed<T, V>;
  c.store[i][j] = &store<V, T>;
  c.round[i][j] = std::is_same_v<T, V> ? nullptr : &round_plane<V, T>;
}
template <class V>
void fill_lane(Conversions& c, Lane l) {
  for (int t = 0; t <= static_cast<int>(DType::bool_); ++t)
    dispatch(static_cast<DType>(t),
             [&](auto tag) { fill_type<typename decltype(tag)::type, V>(c, static_cast<DType>(t), l); });
  LaneFn* row = c.lane[static_cast<int>(l)];
  row[0] = &convert_lane<V, float>, row[1] = &convert_lane<V, double>, row[2] = &convert_lane<V, int32_t>;
  row[3] = &convert_lane<V, int64_t>, row[4] = &convert_lane<V, uint64_t>;
}
// `plain`: the table of the target without vectors.
inline Conversions make_table([[maybe_unused]] const Conversions* plain) {
  Conversions c{};
  fill_lane<float>(c, Lane::f32);
  fill_lane<double>(c, Lane::f64);
  fill_lane<int32_t>(c, Lane::i32);
  fill_lane<int64_t>(c, Lane::i64);
  fill_lane<uint64_t>(c, Lane::u64);
  fill_type<BFloat16, float>(c, DType::bfloat16, Lane::f32);
#if PENSTOCK_TARGET_FLOATS
  for (int l = 1, t = static_cast<int>(DType::bfloat16); l < kLanes; ++l) {  // so rare that one loop serves all targets
    c.load[t][l] = plain->load[t][l], c.load_indexed[t][l] = plain->load_indexed[t][l];
    c.store[t][l] = plain->store[t][l], c.round[t][l] = plain->round[t][l];
  }
#else
  fill_type<BFloat16, double>(c, DType::bfloat16, Lane::f64);
  fill_type<BFloat16, int32_t>(c, DType::bfloat16, Lane::i32);
  fill_type<BFloat16, int64_t>(c, DType::bfloat16, Lane::i64);
  fill_type<BFloat16, uint64_t>(c, DType::bfloat16, Lane::u64);
#endif
  c.chain = &chain, c.chain_words = &chain_words, c.turn_colors = &turn_colors;
  c.turn_float_colors = &turn_float_colors;
  c.lookup[1] = &lookup<uint8_t>, c.lookup[2] = &lookup<uint16_t>;
  c.lookup[4] = &lookup<uint32_t>, c.lookup[8] = &lookup<uint64_t>;
  return c;
}

// Compiled for its own target: request only the tables of targets that the processor has.
inline const Conversions& table(const Conversions* plain) {
  static const Conversions c = make_table(plain);
  return c;
}
