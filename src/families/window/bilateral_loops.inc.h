// SPDX-License-Identifier: Apache-2.0
// Included once per target by bilateral_rows.cpp: rows of planes as float32, and their results.
constexpr int kLanes = PENSTOCK_TARGET_FLOATS ? PENSTOCK_TARGET_FLOATS : 4;
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));
typedef uint32_t Bits __attribute__((vector_size(kLanes * sizeof(float))));

inline __attribute__((always_inline)) Lanes lanes_at(const float* from) {
  Lanes v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline __attribute__((always_inline)) Lanes multiply_add(Lanes a, Lanes b, Lanes c) {
#if PENSTOCK_TARGET_FLOATS == 16
  return _mm512_fmadd_ps(a, b, c);
#elif PENSTOCK_TARGET_FLOATS == 8
  return _mm256_fmadd_ps(a, b, c);
#else
  for (int i = 0; i < kLanes; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
#endif
}
// falling_power() of kernels/bilateral.h.
inline __attribute__((always_inline)) Lanes falling_power(Lanes v) {
  const Lanes zero{}, least = zero - 126.0f;
  v = v < least ? least : v;
  const Lanes sum = v + 0x1.8p23f, f = v - (sum - 0x1.8p23f);
  Lanes p = multiply_add(f, zero + 9.5828241e-3f, zero + 5.5906422e-2f);
  p = multiply_add(p, f, zero + 2.4024099e-1f);
  p = multiply_add(p, f, zero + 6.9312418e-1f);
  p = multiply_add(p, f, zero + 1.0f);
  return (Lanes)((Bits)p + ((Bits)sum << 23));
}
// rows[(plane * high + row)]: the element of x = 0 of a row of a plane: those of the guide, then those of the image
// unless they are the same. Reads up to kLanes - 1 elements more than there are, and writes as many.
template <int guide, int image, bool joint>
void bilateral_row(float* const* out, const float* const* rows, int high, const RowTap* taps, int count, float color,
                   int64_t n) {
  for (int64_t x = 0; x < n; x += kLanes) {
    Lanes center[guide], sums[image], weights{};
    for (int c = 0; c < guide; ++c) center[c] = lanes_at(rows[c * high + high / 2] + x);
    for (int c = 0; c < image; ++c) sums[c] = Lanes{};
    for (int i = 0; i < count; ++i) {
      const float* const* const row = rows + taps[i].row;
      const int64_t at = x + taps[i].right;
      Lanes differs{}, values[guide];
      for (int c = 0; c < guide; ++c) {
        values[c] = lanes_at(row[c * high] + at);
        const Lanes apart = values[c] - center[c];  // its square has no sign
        differs = guide == 1 ? apart : differs + (Lanes)((Bits)apart & 0x7FFFFFFFu);
      }
      const Lanes weight = falling_power(multiply_add(differs * differs, Lanes{} + color, Lanes{} + taps[i].exponent));
      weights = weights + weight;
      for (int c = 0; c < image; ++c)
        sums[c] =
            multiply_add(weight, joint ? lanes_at(row[(guide + c) * high] + at) : values[c < guide ? c : 0], sums[c]);
    }
    for (int c = 0; c < image; ++c) {
      const Lanes v = sums[c] / weights;
      std::memcpy(out[c] + x, &v, sizeof v);
    }
  }
}
// An element every `step` of a row, as float32 with what is seen beside it, and back.
template <class T> void load_plane(float* to, const T* from, int64_t step, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i * step]);
}
template <class T> void store_plane(T* to, const float* from, int64_t step, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i * step] = stored<T>(from[i]);
}
