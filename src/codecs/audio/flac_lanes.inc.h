// SPDX-License-Identifier: Apache-2.0
// Prediction of samples, included once per target by flac_loops.cpp.

inline void unfold(int32_t* numbers, int n) {
  for (int i = 0; i < n; ++i) {
    const auto v = static_cast<uint32_t>(numbers[i]);
    numbers[i] = static_cast<int32_t>(v >> 1 ^ -(v & 1));
  }
}

#if PENSTOCK_TARGET_FLOATS == 0
template <class Sum> void predict(std::span<const FlacPrediction> channels) {
  for (const FlacPrediction& p : channels) flac_scalar::predict_part<Sum>(p, p.order, p.length);
}
constexpr FlacLoops kLoops{flac_scalar::take_rice, unfold, predict<uint32_t>, predict<uint64_t>};
#else
// With AVX2. A sample depends on the previous one, so a vector holds samples of several independent channels or frames,
// one per lane. Tiles of samples are transposed, so that a vector is one moment of all lanes, and transposed back.

// 32-bit sums: 8 lanes.
struct Lanes32 {
  static constexpr int kLanes = 8;
  using Sum = uint32_t;
  static __m256i set(const int32_t* v) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(v)); }
  static __m256i multiply_add(__m256i sum, __m256i a, __m256i b) {
    return _mm256_add_epi32(sum, _mm256_mullo_epi32(a, b));
  }
  static __m256i shift(__m256i sum, __m256i by) { return _mm256_srav_epi32(sum, by); }

  static void turn(__m256i* r) {
    __m256i a[8], b[8];
    for (int i = 0; i < 8; i += 2) {
      a[i] = _mm256_unpacklo_epi32(r[i], r[i + 1]);
      a[i + 1] = _mm256_unpackhi_epi32(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
      for (int j = 0; j < 2; ++j) {
        b[i + 2 * j] = _mm256_unpacklo_epi64(a[i + j], a[i + j + 2]);
        b[i + 2 * j + 1] = _mm256_unpackhi_epi64(a[i + j], a[i + j + 2]);
      }
    for (int i = 0; i < 4; ++i) {
      r[i] = _mm256_permute2x128_si256(b[i], b[i + 4], 0x20);
      r[i + 4] = _mm256_permute2x128_si256(b[i], b[i + 4], 0x31);
    }
  }
  static void load(int32_t* const* lanes, int at, __m256i* moments) {
    for (int l = 0; l < 8; ++l) moments[l] = set(lanes[l] + at);
    turn(moments);
  }
  static void store(const __m256i* moments, int32_t* const* lanes, int at) {
    __m256i r[8];
    for (int i = 0; i < 8; ++i) r[i] = moments[i];
    turn(r);
    for (int l = 0; l < 8; ++l) _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes[l] + at), r[l]);
  }
};

// 64-bit sums: 4 lanes. Samples are their lower halves.
struct Lanes64 {
  static constexpr int kLanes = 4;
  using Sum = uint64_t;
  static __m256i set(const int32_t* v) {
    return _mm256_cvtepi32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(v)));
  }
  static __m256i multiply_add(__m256i sum, __m256i a, __m256i b) {
    return _mm256_add_epi64(sum, _mm256_mul_epi32(a, b));
  }
  // Shifts by less than 32. Only the lower half of the result is used: the bits that come in from above do not matter.
  static __m256i shift(__m256i sum, __m256i by) { return _mm256_srlv_epi64(sum, by); }

  static void turn(__m128i* r) {
    const __m128i a = _mm_unpacklo_epi32(r[0], r[1]), b = _mm_unpackhi_epi32(r[0], r[1]);
    const __m128i c = _mm_unpacklo_epi32(r[2], r[3]), d = _mm_unpackhi_epi32(r[2], r[3]);
    r[0] = _mm_unpacklo_epi64(a, c), r[1] = _mm_unpackhi_epi64(a, c);
    r[2] = _mm_unpacklo_epi64(b, d), r[3] = _mm_unpackhi_epi64(b, d);
  }
  static void load(int32_t* const* lanes, int at, __m256i* moments) {
    __m128i r[4];
    for (int l = 0; l < 4; ++l) r[l] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(lanes[l] + at));
    turn(r);
    for (int i = 0; i < 4; ++i) moments[i] = _mm256_cvtepi32_epi64(r[i]);
  }
  static void store(const __m256i* moments, int32_t* const* lanes, int at) {
    const __m256i lower = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    __m128i r[4];
    for (int i = 0; i < 4; ++i) r[i] = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(moments[i], lower));
    turn(r);
    for (int l = 0; l < 4; ++l) _mm_storeu_si128(reinterpret_cast<__m128i*>(lanes[l] + at), r[l]);
  }
};

constexpr int kMostOrder = 32;

// Predicts as many whole tiles of samples as fit in [from, until); returns the position after them. Coefficients: the
// first ones of all lanes, then the second ones, and so on.
template <class Lanes, int kOrder>
int predict_tiles(int32_t* const* lanes, const __m256i* coefficients, __m256i shift, int from, int until) {
  constexpr int kTile = Lanes::kLanes, kTiles = 8;
  __m256i c[kOrder], before[kOrder + kTile * kTiles];  // moments: those that predict, then the new ones
  for (int j = 0; j < kOrder; ++j) c[j] = coefficients[j];
  int32_t past[kOrder][kTile];
  for (int j = 0; j < kOrder; ++j)
    for (int l = 0; l < kTile; ++l) past[j][l] = from - kOrder + j < 0 ? 0 : lanes[l][from - kOrder + j];
  for (int j = 0; j < kOrder; ++j) before[j] = Lanes::set(past[j]);
  __m256i last = before[kOrder - 1];
  __m256i* now = before + kOrder;
  for (; until - from >= kTile; from += kTile) {
    __m256i moments[kTile];
    Lanes::load(lanes, from, moments);
    for (int i = 0; i < kTile; ++i, ++now) {
      __m256i sum = _mm256_setzero_si256();
      for (int j = kOrder - 1; j > 0; --j) sum = Lanes::multiply_add(sum, c[j], now[-1 - j]);
      sum = Lanes::multiply_add(sum, c[0], last);  // the only term that has to wait
      last = _mm256_add_epi32(Lanes::shift(sum, shift), moments[i]);
      *now = last;
    }
    Lanes::store(now - kTile, lanes, from);
    if (now == before + kOrder + kTile * kTiles) {
      for (int j = 0; j < kOrder; ++j) before[j] = now[j - kOrder];
      now = before + kOrder;
    }
  }
  return from;
}

template <class Lanes, int... kFourth>
int predict_tiles_of(int order, int32_t* const* lanes, const __m256i* coefficients, __m256i shift, int from, int until,
                     std::integer_sequence<int, kFourth...>) {
  static constexpr int (*kLoops[])(int32_t* const*, const __m256i*, __m256i, int,
                                   int) = {predict_tiles<Lanes, 2 * kFourth + 2>...};
  return kLoops[(order - 1) / 2](lanes, coefficients, shift, from, until);
}

// As many channels as there are lanes, or fewer: the last channel then fills several lanes.
template <class Lanes> void predict_side_by_side(std::span<const FlacPrediction> channels) {
  constexpr int kLanes = Lanes::kLanes;
  using Sum = typename Lanes::Sum;
  int32_t* lanes[kLanes];
  int32_t shifts[kLanes], values[kMostOrder][kLanes];
  int order = 0, until = channels[0].length;
  for (const FlacPrediction& p : channels) order = std::max(order, p.order), until = std::min(until, p.length);
  for (int l = 0; l < kLanes; ++l) {
    const FlacPrediction& p = channels[std::min<size_t>(l, channels.size() - 1)];
    lanes[l] = p.samples, shifts[l] = p.shift;
    for (int j = 0; j < order; ++j) values[j][l] = p.coefficients[j];
    for (int j = order; j < kMostOrder; ++j) values[j][l] = 0;
  }
  __m256i coefficients[kMostOrder];
  for (int j = 0; j < kMostOrder; ++j) coefficients[j] = Lanes::set(values[j]);
  // Each lane starts after its own order; all together start after the largest order.
  for (const FlacPrediction& p : channels) flac_avx2::predict_part<Sum>(p, p.order, std::min(order, p.length));
  int at = order;
  if (until > order)
    at = predict_tiles_of<Lanes>(order, lanes, coefficients, Lanes::set(shifts), order, until,
                                 std::make_integer_sequence<int, kMostOrder / 2>());
  for (const FlacPrediction& p : channels)
    if (p.length > at) flac_avx2::predict_part<Sum>(p, at, p.length);
}

template <class Lanes> void predict(std::span<const FlacPrediction> channels) {
  constexpr size_t kWorthIt = Lanes::kLanes == 8 ? 3 : 2;
  for (size_t some; !channels.empty(); channels = channels.subspan(some)) {
    some = std::min<size_t>(channels.size(), Lanes::kLanes);
    if (some >= kWorthIt) predict_side_by_side<Lanes>(channels.first(some));
    else
      for (const FlacPrediction& p : channels) flac_avx2::predict_part<typename Lanes::Sum>(p, p.order, p.length);
  }
}

constexpr FlacLoops kLoops{flac_avx2::take_rice, unfold, predict<Lanes32>, predict<Lanes64>};
#endif
