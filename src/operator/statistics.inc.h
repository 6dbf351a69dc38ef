// SPDX-License-Identifier: Apache-2.0
// (value - mean) * factor + shift over elements that share one result, or have results side by side; included once for
// each target by statistics.cpp.

template <class T, class U>
void affine_part(const T* in, U* out, int64_t n, const double* mean, const double* factor, bool apart, double shift) {
  if (apart) {
#pragma GCC ivdep
    for (int64_t k = 0; k < n; ++k) out[k] = stored<U>((static_cast<double>(in[k]) - mean[k]) * factor[k] + shift);
  } else {
    const double m = *mean, f = *factor;
#pragma GCC ivdep
    for (int64_t k = 0; k < n; ++k) out[k] = stored<U>((static_cast<double>(in[k]) - m) * f + shift);
  }
}

#if PENSTOCK_TARGET_FLOATS
// `to` is a multiple of 32 bytes, n of 8.
inline void store_past_caches(const float* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; i += 8) _mm256_stream_ps(to + i, _mm256_loadu_ps(from + i));
}
#endif

// past_caches: the output is too large to be read again soon, so that it is written without loading its cache lines
// first.
template <class T>
void affine_run(const T* in, float* out, int64_t n, const double* mean, const double* factor, bool apart, double shift,
                [[maybe_unused]] bool past_caches) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  constexpr int64_t kPart = 512;
  if (past_caches && n >= kPart) {
    alignas(64) float part[kPart];
    i = static_cast<int64_t>(-reinterpret_cast<intptr_t>(out) & 31) / 4;
    affine_part(in, out, i, mean, factor, apart, shift);
    for (int64_t rest; (rest = std::min(kPart, n - i) / 8 * 8) > 0; i += rest) {
      const int64_t at = apart ? i : 0;
      affine_part(in + i, part, rest, mean + at, factor + at, apart, shift);
      store_past_caches(part, out + i, rest);
    }
  }
#endif
  const int64_t at = apart ? i : 0;
  affine_part(in + i, out + i, n - i, mean + at, factor + at, apart, shift);
}

template <class T>
void affine_doubles(const T* in, double* out, int64_t n, const double* mean, const double* factor, bool apart,
                    double shift) {
  affine_part(in, out, n, mean, factor, apart, shift);
}

template <class U>
void store_doubles(const double* in, int64_t n, U* out) {
#pragma GCC ivdep
  for (int64_t k = 0; k < n; ++k) out[k] = stored<U>(in[k]);
}
