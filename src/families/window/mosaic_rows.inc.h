// SPDX-License-Identifier: Apache-2.0
// Included once per target by mosaic_rows.cpp: colors of a row by vectors of its elements.
constexpr int kVectorBytes = PENSTOCK_TARGET_FLOATS ? PENSTOCK_TARGET_FLOATS * 4 : 16;
template <class T> struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <class T> using Vector = typename VectorOf<T>::type;
template <class T> constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(T));
#define PENSTOCK_ALWAYS inline __attribute__((always_inline))

template <class T> PENSTOCK_ALWAYS Vector<T> load(const T* from) {
  Vector<T> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
// Numbers of twice the bits, from every second element of a vector.
template <class T> using Wide = Vector<std::conditional_t<sizeof(T) == 1, uint16_t, uint32_t>>;
template <class T> PENSTOCK_ALWAYS Wide<T> even(Vector<T> v) {
  return reinterpret_cast<Wide<T>>(v) & static_cast<T>(-1);
}
template <class T> PENSTOCK_ALWAYS Wide<T> odd(Vector<T> v) { return reinterpret_cast<Wide<T>>(v) >> (8 * sizeof(T)); }
// All bits of every second element.
template <class T> PENSTOCK_ALWAYS Vector<T> checkers(bool first) {
  const auto low = static_cast<T>(-1);
  const Wide<T> all = {};
  const auto both = static_cast<std::remove_cvref_t<decltype(all[0])>>(first ? low : low << (8 * sizeof(T)));
  return reinterpret_cast<Vector<T>>(all + both);
}
// Rounded up. The compiler knows no such operation of vectors.
template <class T> PENSTOCK_ALWAYS Vector<T> average(Vector<T> a, Vector<T> b) {
#if PENSTOCK_TARGET_FLOATS == 16
  const auto x = reinterpret_cast<__m512i>(a), y = reinterpret_cast<__m512i>(b);
  return reinterpret_cast<Vector<T>>(sizeof(T) == 1 ? _mm512_avg_epu8(x, y) : _mm512_avg_epu16(x, y));
#elif PENSTOCK_TARGET_FLOATS == 8
  const auto x = reinterpret_cast<__m256i>(a), y = reinterpret_cast<__m256i>(b);
  return reinterpret_cast<Vector<T>>(sizeof(T) == 1 ? _mm256_avg_epu8(x, y) : _mm256_avg_epu16(x, y));
#else
  return (a | b) - ((a ^ b) >> 1);
#endif
}
// (a + b + c + d + 2) >> 2 of the averages of a and b, c and d: the average of these, less 1 where the roundings of
// both steps add up. `odd` has the lowest bit where a + b or c + d is odd.
template <class T> PENSTOCK_ALWAYS Vector<T> average_of_four(Vector<T> first, Vector<T> second, Vector<T> odd) {
  return average<T>(first, second) - (odd & (first ^ second) & 1);
}
template <class V> PENSTOCK_ALWAYS V chosen(V mask, V a, V b) { return (a & mask) | (b & ~mask); }
template <class V> PENSTOCK_ALWAYS V distance(V a, V b) { return (a > b ? a : b) - (a > b ? b : a); }
// own: the color of the row that is not green; other: the one of the rows beside it. Both kinds of pixels are computed.
template <class T> struct Colors {
  Vector<T> own, green, other;
};
template <class T, bool by_edges>
PENSTOCK_ALWAYS Colors<T> colors_at(const T* row, const T* above, const T* below, Vector<T> mask) {
  const Vector<T> center = load(row), left = load(row - 1), right = load(row + 1);
  const Vector<T> up = load(above), up_left = load(above - 1), up_right = load(above + 1);
  const Vector<T> down = load(below), down_left = load(below - 1), down_right = load(below + 1);
  const Vector<T> across = average<T>(left, right), along = average<T>(up, down);
  Vector<T> middle;
  if constexpr (by_edges) middle = distance(left, right) > distance(up, down) ? along : across;
  else middle = average_of_four<T>(across, along, (left ^ right) | (up ^ down));
  const Vector<T> corners = average_of_four<T>(average<T>(up_left, down_left), average<T>(up_right, down_right),
                                               (up_left ^ down_left) | (up_right ^ down_right));
  return {chosen(mask, center, across), chosen(mask, middle, center), chosen(mask, corners, along)};
}

#if PENSTOCK_TARGET_FLOATS
// Element i of channel c goes to element (3 i + c) modulo the elements of a lane, in part (3 i + c) / these: 3 has an
// inverse modulo a power of two, so each place gets one element, and the parts are blends of three registers.
struct PixelOrder {
  alignas(16) int8_t at[16];
  operator __m128i() const { return _mm_load_si128(reinterpret_cast<const __m128i*>(at)); }
};
template <class T> constexpr PixelOrder scatter_order(int channel) {
  constexpr int kSize = sizeof(T), kEach = 16 / kSize;
  PixelOrder o = {};
  for (int i = 0; i < kEach; ++i)
    for (int b = 0; b < kSize; ++b) o.at[(3 * i + channel) % kEach * kSize + b] = static_cast<int8_t>(i * kSize + b);
  return o;
}
template <class T> constexpr PixelOrder part_mask(int part, int channel) {
  constexpr int kSize = sizeof(T), kEach = 16 / kSize;
  PixelOrder o = {};
  for (int i = 0; i < 16; ++i) o.at[i] = static_cast<int8_t>((kEach * part + i / kSize) % 3 == channel ? -1 : 0);
  return o;
}
template <class T> constexpr PixelOrder kScatter[3] = {scatter_order<T>(0), scatter_order<T>(1), scatter_order<T>(2)};
template <class T> constexpr PixelOrder kPartMask[3][2] = {{part_mask<T>(0, 0), part_mask<T>(0, 1)},
                                                           {part_mask<T>(1, 0), part_mask<T>(1, 1)},
                                                           {part_mask<T>(2, 0), part_mask<T>(2, 1)}};
#endif

#if PENSTOCK_TARGET_FLOATS
// The shuffles and blends of a target that make pixels of three vectors.
template <class T> struct Join {
#if PENSTOCK_TARGET_FLOATS == 16
  __m512i order[3];
  __mmask64 of[3][2];
#else
  __m256i order[3], of[3][2];
#endif
  Join() {
    for (int k = 0; k < 3; ++k) {
#if PENSTOCK_TARGET_FLOATS == 16
      order[k] = _mm512_maskz_broadcast_i32x4(0xFFFF, kScatter<T>[k]);
      for (int j = 0; j < 2; ++j)
        of[k][j] = _mm512_movepi8_mask(_mm512_maskz_broadcast_i32x4(0xFFFF, kPartMask<T>[k][j]));
#else
      order[k] = _mm256_broadcastsi128_si256(kScatter<T>[k]);
      for (int j = 0; j < 2; ++j) of[k][j] = _mm256_broadcastsi128_si256(kPartMask<T>[k][j]);
#endif
    }
  }
  PENSTOCK_ALWAYS void operator()(Vector<T> a, Vector<T> b, Vector<T> c, T* out) const {
    auto* const to = reinterpret_cast<__m128i*>(out);
#if PENSTOCK_TARGET_FLOATS == 16
    const __m512i x = _mm512_shuffle_epi8(reinterpret_cast<__m512i>(a), order[0]);
    const __m512i y = _mm512_shuffle_epi8(reinterpret_cast<__m512i>(b), order[1]);
    const __m512i z = _mm512_shuffle_epi8(reinterpret_cast<__m512i>(c), order[2]);
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      const __m512i v = _mm512_mask_blend_epi8(of[k][0], _mm512_mask_blend_epi8(of[k][1], z, y), x);
      _mm_storeu_si128(to + k, _mm512_castsi512_si128(v));
      _mm_storeu_si128(to + 3 + k, _mm512_extracti32x4_epi32(v, 1));
      _mm_storeu_si128(to + 6 + k, _mm512_extracti32x4_epi32(v, 2));
      _mm_storeu_si128(to + 9 + k, _mm512_extracti32x4_epi32(v, 3));
    }
#else
    const __m256i x = _mm256_shuffle_epi8(reinterpret_cast<__m256i>(a), order[0]);
    const __m256i y = _mm256_shuffle_epi8(reinterpret_cast<__m256i>(b), order[1]);
    const __m256i z = _mm256_shuffle_epi8(reinterpret_cast<__m256i>(c), order[2]);
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      const __m256i v = _mm256_blendv_epi8(_mm256_blendv_epi8(z, y, of[k][1]), x, of[k][0]);
      _mm_storeu_si128(to + k, _mm256_castsi256_si128(v));
      _mm_storeu_si128(to + 3 + k, _mm256_extracti128_si256(v, 1));
    }
#endif
  }
};
#else
template <class T> struct Join {
  void operator()(Vector<T> a, Vector<T> b, Vector<T> c, T* out) const {
    for (int i = 0; i < kLanes<T>; ++i) out[3 * i] = a[i], out[3 * i + 1] = b[i], out[3 * i + 2] = c[i];
  }
};
#endif

// Calls make(row, above, below, out) for every vector of a row; the last one begins so early that it is whole. Fewer
// elements than a vector are copied to where there is a whole one.
template <class T, int channels, class Make> PENSTOCK_ALWAYS void each_vector(const MosaicPart& p, const Make& make) {
  const T* const rows[3] = {static_cast<const T*>(p.in), static_cast<const T*>(p.above),
                            static_cast<const T*>(p.below)};
  T* const out = static_cast<T*>(p.out);
  if (p.n < kLanes<T>) {
    T copies[3][kLanes<T> + 2] = {}, result[kLanes<T> * channels];
    for (int k = 0; k < 3; ++k) std::memcpy(copies[k], rows[k] - 1, static_cast<size_t>(p.n + 2) * sizeof(T));
    make(copies[0] + 1, copies[1] + 1, copies[2] + 1, result);
    std::memcpy(out, result, static_cast<size_t>(p.n * channels) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < p.n; i += kLanes<T>) {
    if (i > p.n - kLanes<T>) i = p.n - kLanes<T>;  // an even number, as all are
    make(rows[0] + i, rows[1] + i, rows[2] + i, out + channels * i);
  }
}

template <class T, bool by_edges> void color_row(const MosaicPart& p) {
  const Vector<T> mask = checkers<T>(p.own);
  const Join<T> join;
  const bool blue = p.blue_row;
  const auto run = [&](auto first, auto last) {
    each_vector<T, 3>(p, [&](const T* row, const T* above, const T* below, T* out) __attribute__((always_inline)) {
      const Colors<T> c = colors_at<T, by_edges>(row, above, below, mask);
      join(c.*first, c.green, c.*last, out);
    });
  };
  if (blue) run(&Colors<T>::other, &Colors<T>::own);
  else run(&Colors<T>::own, &Colors<T>::other);
}

using Words = Vector<uint32_t>;

// (a * weights[0] + b * weights[1] + c * weights[2] + 2^15) >> 16, which is at most 65,535.
PENSTOCK_ALWAYS Words weighted(Words a, Words b, Words c, const uint32_t (&w)[3]) {
  return (a * w[0] + b * w[1] + c * w[2] + 32768u) >> 16;
}
// Weights and numbers have 15 bits: an instruction adds two of their products.
PENSTOCK_ALWAYS Vector<uint16_t> weighted(Vector<uint16_t> a, Vector<uint16_t> b, Vector<uint16_t> c,
                                          const uint32_t (&w)[3]) {
#if PENSTOCK_TARGET_FLOATS
#if PENSTOCK_TARGET_FLOATS == 16
#define PENSTOCK_VECTORS(operation) _mm512_##operation
  using Reg = __m512i;
#else
#define PENSTOCK_VECTORS(operation) _mm256_##operation
  using Reg = __m256i;
#endif
  const auto x = reinterpret_cast<Reg>(a), y = reinterpret_cast<Reg>(b), z = reinterpret_cast<Reg>(c);
  const Reg two = PENSTOCK_VECTORS(set1_epi16)(2);  // and 2^14: half of the result's unit
  const Reg xy = PENSTOCK_VECTORS(set1_epi32)(static_cast<int>(w[0] | w[1] << 16));
  const Reg zt = PENSTOCK_VECTORS(set1_epi32)(static_cast<int>(w[2] | 1 << 30));
  const auto sum = [&](Reg p, Reg q) __attribute__((always_inline)) {
    const Reg all =
        PENSTOCK_VECTORS(add_epi32)(PENSTOCK_VECTORS(madd_epi16)(p, xy), PENSTOCK_VECTORS(madd_epi16)(q, zt));
    return PENSTOCK_VECTORS(srli_epi32)(all, 16);
  };
  const Reg low = sum(PENSTOCK_VECTORS(unpacklo_epi16)(x, y), PENSTOCK_VECTORS(unpacklo_epi16)(z, two));
  const Reg high = sum(PENSTOCK_VECTORS(unpackhi_epi16)(x, y), PENSTOCK_VECTORS(unpackhi_epi16)(z, two));
  return reinterpret_cast<Vector<uint16_t>>(PENSTOCK_VECTORS(packus_epi32)(low, high));
#undef PENSTOCK_VECTORS
#else
  const Words low = weighted(even<uint16_t>(a), even<uint16_t>(b), even<uint16_t>(c), w);
  const Words high = weighted(odd<uint16_t>(a), odd<uint16_t>(b), odd<uint16_t>(c), w);
  return reinterpret_cast<Vector<uint16_t>>(low | high << 16);
#endif
}

template <class T> void gray_row(const MosaicPart& p) {
  const uint32_t own = p.blue_row ? kBlueInGray : kRedInGray, other = p.blue_row ? kRedInGray : kBlueInGray;
  const uint32_t of_own[3] = {4 * own, other, kGreenInGray}, of_green[3] = {2 * own, 2 * other, 2 * kGreenInGray};
  const auto run = [&](auto first_is_own) {
    each_vector<T, 1>(p, [&](const T* row, const T* above, const T* below, T* out) __attribute__((always_inline)) {
      const Vector<T> center = load(row);
      const Wide<T> e = even<T>(center), o = odd<T>(center);
      const Wide<T> beside_e = even<T>(load(row - 1)) + o, beside_o = e + odd<T>(load(row + 1));
      const Wide<T> along_e = even<T>(load(above)) + even<T>(load(below));
      const Wide<T> along_o = odd<T>(load(above)) + odd<T>(load(below));
      const Wide<T> diagonal_e = even<T>(load(above - 1)) + even<T>(load(below - 1)) + along_o;
      const Wide<T> diagonal_o = odd<T>(load(above + 1)) + odd<T>(load(below + 1)) + along_e;
      Wide<T> low, high;
      if constexpr (decltype(first_is_own)::value) {
        low = weighted(e, diagonal_e, beside_e + along_e, of_own);
        high = weighted(beside_o, along_o, o + o, of_green);
      } else {
        low = weighted(beside_e, along_e, e + e, of_green);
        high = weighted(o, diagonal_o, beside_o + along_o, of_own);
      }
      const Wide<T> both = low | high << (8 * sizeof(T));
      std::memcpy(out, &both, sizeof both);
    });
  };
  if (p.own) run(std::true_type{});
  else run(std::false_type{});
}
#undef PENSTOCK_ALWAYS

template <class T> constexpr MosaicLoops kLoops{{&color_row<T, false>, &color_row<T, true>, &gray_row<T>}};
