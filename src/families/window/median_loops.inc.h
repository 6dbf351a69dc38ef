// SPDX-License-Identifier: Apache-2.0
// Included once per target by median_rows.cpp: medians of 3 x 3 and 5 x 5 by sorting networks on vectors of keys.
constexpr int kVectorBytes = PENSTOCK_TARGET_FLOATS ? PENSTOCK_TARGET_FLOATS * 4 : 16;
template <class K> struct VectorOf {
  typedef K type __attribute__((vector_size(kVectorBytes)));
};
template <class K> using Vector = typename VectorOf<K>::type;
template <class K> constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(K));
#define PENSTOCK_ALWAYS inline __attribute__((always_inline))

template <class K> PENSTOCK_ALWAYS Vector<K> load(const K* from) {
  Vector<K> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
// Only the first `count` elements where fewer than a vector are left.
template <class K> PENSTOCK_ALWAYS void store(K* to, Vector<K> v, int64_t count) {
  if (count >= kLanes<K>) std::memcpy(to, &v, sizeof v);
  else std::memcpy(to, &v, static_cast<size_t>(count) * sizeof(K));
}
template <class V> PENSTOCK_ALWAYS V lesser(V a, V b) { return a < b ? a : b; }
template <class V> PENSTOCK_ALWAYS V greater(V a, V b) { return a < b ? b : a; }
#if PENSTOCK_TARGET_FLOATS == 16  // of floats the compiler makes comparisons and blends
PENSTOCK_ALWAYS Vector<float> lesser(Vector<float> a, Vector<float> b) { return _mm512_min_ps(a, b); }
PENSTOCK_ALWAYS Vector<float> greater(Vector<float> a, Vector<float> b) { return _mm512_max_ps(a, b); }
PENSTOCK_ALWAYS int unordered(Vector<float> a, Vector<float> b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q); }
#elif PENSTOCK_TARGET_FLOATS
PENSTOCK_ALWAYS Vector<float> lesser(Vector<float> a, Vector<float> b) { return _mm256_min_ps(a, b); }
PENSTOCK_ALWAYS Vector<float> greater(Vector<float> a, Vector<float> b) { return _mm256_max_ps(a, b); }
PENSTOCK_ALWAYS int unordered(Vector<float> a, Vector<float> b) {
  return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q));
}
#else
PENSTOCK_ALWAYS int unordered(Vector<float> a, Vector<float> b) {
  const auto bad = (a != a) | (b != b);
  return bad[0] | bad[1] | bad[2] | bad[3];
}
#endif
// Whether elements that are compared without keys were NaN or -0: keys order these otherwise than the processor.
template <class K> struct Specials {
  PENSTOCK_ALWAYS void see(Vector<K>, Vector<K>) {}
  bool none() const { return true; }
};
template <> struct Specials<float> {
  int nan = 0;
  Vector<int32_t> least = {};
  PENSTOCK_ALWAYS void see(Vector<float> a, Vector<float> b) {
    nan |= unordered(a, b);
    least = lesser(least, lesser((Vector<int32_t>)a, (Vector<int32_t>)b));
  }
  bool none() const {
    bool zero = false;
    for (int i = 0; i < kLanes<float>; ++i) zero |= least[i] == INT32_MIN;
    return nan == 0 && !zero;
  }
};
template <class V> PENSTOCK_ALWAYS void sort(V& a, V& b) {
  const V low = lesser(a, b);
  b = greater(a, b);
  a = low;
}
// Keys of elements and elements of keys.
template <class K, class V> PENSTOCK_ALWAYS V exchanged(V v, const KeyBits& k) {
  if constexpr (std::is_floating_point_v<K>) return v;  // without keys
  else if constexpr (std::is_signed_v<K>) {
    const K flip = static_cast<K>(k.flip), fold = static_cast<K>(k.fold);
    return static_cast<V>(v ^ flip ^ ((v >> (sizeof(K) * 8 - 1)) & fold));
  } else {
    return static_cast<V>(v ^ static_cast<K>(k.flip));
  }
}

template <class K> void keys(void* to, const void* from, int64_t n, const KeyBits& k) {
  K* o = static_cast<K*>(to);
  const K* p = static_cast<const K*>(from);
  int64_t i = 0;
  for (; i + kLanes<K> <= n; i += kLanes<K>) store(o + i, exchanged<K>(load(p + i), k), kLanes<K>);
  for (; i < n; ++i) o[i] = static_cast<K>(exchanged<K>(p[i], k));
}

template <class V> PENSTOCK_ALWAYS V middle(V a, V b, V c) {
  sort(a, b);
  return greater(a, lesser(b, c));
}
// Columns become planes of ranks first, two of whose rows are shared by both rows of the output. Elements [begin, end):
// planes of short parts stay in the first-level cache. The rows that are written, and those that the next call reads,
// are fetched ahead: each pass alone has too little work to hide how long memory takes.
template <class K>
PENSTOCK_ALWAYS void part_of_three(K* const* out, const K* const* rows, K* plane, int64_t begin, int64_t end,
                                   int64_t step, const KeyBits& bits, Specials<K>& seen) {
  using V = Vector<K>;
  const int64_t n = end - begin, stride = (n + 2 * step + kLanes<K> - 1) / kLanes<K> * kLanes<K>;
  const K *r0 = rows[0] + begin, *r1 = rows[1] + begin, *r2 = rows[2] + begin, *r3 = rows[3] + begin;
  for (int64_t x = 0; x < n + 2 * step; x += kLanes<K>) {
    __builtin_prefetch(out[0] + begin + x, 1);
    __builtin_prefetch(out[1] + begin + x, 1);
    const V last = load(r3 + x);
    V a = load(r1 + x), b = load(r2 + x);
    seen.see(b, last);
    sort(a, b);
    for (int j = 0; j < 2; ++j) {
      V c = j ? last : load(r0 + x), least = a, most = b;
      sort(least, c);
      sort(c, most);
      K* const o = plane + j * 3 * stride + x;
      store(o, least, kLanes<K>), store(o + stride, c, kLanes<K>), store(o + 2 * stride, most, kLanes<K>);
    }
  }
  for (int j = 0; j < 2; ++j) {
    const K *low = plane + j * 3 * stride, *mid = low + stride, *high = mid + stride;
    K* const to = out[j] + begin;
    const K* const next = r3 + (j + 1) * (r3 - r2);
    const auto across = [&](int64_t x, int64_t count) __attribute__((always_inline)) {
      __builtin_prefetch(next + x);
      const auto column = [&](const K* from, int i)
                              __attribute__((always_inline)) { return load(from + x + i * step); };
      const V a = greater(greater(column(low, 0), column(low, 1)), column(low, 2));
      const V b = lesser(lesser(column(high, 0), column(high, 1)), column(high, 2));
      const V m = middle(column(mid, 0), column(mid, 1), column(mid, 2));
      store(to + x, exchanged<K>(middle(a, m, b), bits), count);
    };
    int64_t x = 0;
    for (; x + kLanes<K> <= n; x += kLanes<K>) across(x, kLanes<K>);
    if (x < n) across(x, n - x);
  }
}
template <class K>
bool two_rows_of_three(void* const* to, const void* const* rows, void* planes, int64_t n, int64_t step,
                       const KeyBits& k) {
  K* const out[2] = {static_cast<K*>(to[0]), static_cast<K*>(to[1])};
  const K* const from[4] = {static_cast<const K*>(rows[0]), static_cast<const K*>(rows[1]),
                            static_cast<const K*>(rows[2]), static_cast<const K*>(rows[3])};
  const KeyBits bits = k;
  const int64_t part = std::max<int64_t>(1024 / kVectorBytes * kLanes<K>, 8 * step / kLanes<K> * kLanes<K>);
  Specials<K> seen;
  for (int64_t x = 0; x < n; x += part)
    part_of_three(out, from, static_cast<K*>(planes), x, std::min(x + part, n), step, bits, seen);
  return seen.none();
}

#if PENSTOCK_TARGET_FLOATS
#if PENSTOCK_TARGET_FLOATS == 16
using Bytes = __m512i;
// The bytes of a and b, without the first ones of a.
template <int bytes> PENSTOCK_ALWAYS Bytes from_byte(Bytes a, Bytes b) {
  if constexpr (bytes % 4 == 0) {
    return _mm512_alignr_epi32(b, a, bytes / 4);
  } else {
    constexpr int kUnits = bytes / 16 * 4;
    const Bytes low = kUnits ? _mm512_alignr_epi32(b, a, kUnits) : a;
    const Bytes high = kUnits < 12 ? _mm512_alignr_epi32(b, a, (kUnits + 4) % 16) : b;
    return _mm512_alignr_epi8(high, low, bytes % 16);
  }
}
#else
using Bytes = __m256i;
template <int bytes> PENSTOCK_ALWAYS Bytes from_byte(Bytes a, Bytes b) {
  if constexpr (bytes == 32) return b;
  const Bytes between = _mm256_permute2x128_si256(a, b, 0x21);
  if constexpr (bytes < 16) return _mm256_alignr_epi8(between, a, bytes);
  else if constexpr (bytes == 16) return between;
  else return _mm256_alignr_epi8(b, between, bytes % 16);
}
#endif
template <int lanes, class V> PENSTOCK_ALWAYS V from_lane(V a, V b) {
  return (V)from_byte<lanes* static_cast<int>(sizeof a[0])>((Bytes)a, (Bytes)b);
}

// The sorted columns of a vector, for two rows of the output: their ranks.
template <class K> struct SortedColumns {
  Vector<K> low[2], mid[2], high[2];
};
// Two whole rows of the output. Columns are sorted once, where the windows of the first elements begin, and what
// windows see beside them comes from the vector after by shifts: loads across lines of the cache cost more. to[1] may
// be to[0], which then has the first row. At least kLeastWhole bytes in a row.
template <class K, int step> bool two_whole_rows(void* const* to, const void* const* rows, int64_t n) {
  using V = Vector<K>;
  constexpr int kBeside = kLanes<K> - step;
  const K *r0 = static_cast<const K*>(rows[0]), *r1 = static_cast<const K*>(rows[1]);
  const K *r2 = static_cast<const K*>(rows[2]), *r3 = static_cast<const K*>(rows[3]);
  K *const out0 = static_cast<K*>(to[0]), *const out1 = static_cast<K*>(to[1]);
  const int64_t row = r3 - r2;
  Specials<K> seen;
  using Columns = SortedColumns<K>;
  const auto sorted = [&](V above, V a, V b, V below) __attribute__((always_inline)) {
    seen.see(b, below);
    sort(a, b);
    Columns c{{a, a}, {above, below}, {b, b}};
    for (int j = 0; j < 2; ++j) sort(c.low[j], c.mid[j]), sort(c.mid[j], c.high[j]);
    return c;
  };
  const auto columns = [&](int64_t x) __attribute__((always_inline)) {
    return sorted(load(r0 + x), load(r1 + x), load(r2 + x), load(r3 + x));
  };
  const auto first = [&](const K* r) __attribute__((always_inline)) {
    const V v = load(r);
    return from_lane<kBeside>(from_lane<step>(v, v), v);
  };
  const auto last = [&](const K* r) __attribute__((always_inline)) {
    const V v = load(r + n - kLanes<K>);
    return from_lane<kBeside>(v, from_lane<kBeside>(v, v));
  };
  const auto across = [&](int64_t x, const Columns& c, const Columns& next) __attribute__((always_inline)) {
    for (int j = 1; j >= 0; --j) {
      const auto one = [&](const V(&a)[2], const V(&b)[2])
                           __attribute__((always_inline)) { return from_lane<step>(a[j], b[j]); };
      const auto two = [&](const V(&a)[2], const V(&b)[2])
                           __attribute__((always_inline)) { return from_lane<2 * step>(a[j], b[j]); };
      const V a = greater(greater(c.low[j], one(c.low, next.low)), two(c.low, next.low));
      const V b = lesser(lesser(c.high[j], one(c.high, next.high)), two(c.high, next.high));
      const V m = middle(c.mid[j], one(c.mid, next.mid), two(c.mid, next.mid));
      store((j ? out1 : out0) + x, middle(a, m, b), kLanes<K>);
    }
  };
  Columns now = sorted(first(r0), first(r1), first(r2), first(r3));
  int64_t x = 0;
  for (; x + kLanes<K> + kBeside <= n; x += kLanes<K>) {
    __builtin_prefetch(out0 + x, 1);
    __builtin_prefetch(out1 + x, 1);
    __builtin_prefetch(r3 + row + x);
    __builtin_prefetch(r3 + 2 * row + x);
    const Columns next = columns(x + kBeside);
    across(x, now, next);
    now = next;
  }
  // The last two vectors begin where the row ends two and one vectors later.
  const Columns end = columns(n - kLanes<K> - step);
  if (x < n - kLanes<K>) across(n - 2 * kLanes<K>, columns(n - 2 * kLanes<K> - step), end);
  across(n - kLanes<K>, end, sorted(last(r0), last(r1), last(r2), last(r3)));
  return seen.none();
}
template <class K, int step> constexpr WholeRows whole_rows() {
  if constexpr (sizeof(K) <= 4) return &two_whole_rows<K, step>;
  else return nullptr;
}
#else
template <class K, int step> constexpr WholeRows whole_rows() { return nullptr; }
#endif

template <class V> PENSTOCK_ALWAYS V middle_of_columns(V* w) {
#define PENSTOCK_SORT(a, b) sort(w[a], w[b]);
  PENSTOCK_MEDIAN_OF_COLUMNS(PENSTOCK_SORT)
#undef PENSTOCK_SORT
  return w[16];
}
// Columns become planes of ranks first; four of their rows are shared by both rows of the output. Memory is fetched
// ahead, as for 3 x 3.
template <class K>
bool two_rows_of_five(void* const* to, const void* const* rows, void* planes, int64_t n, int64_t step,
                      const KeyBits& k) {
  using V = Vector<K>;
  const int64_t columns = n + 4 * step, stride = (columns + 2 * kLanes<K> - 1) / kLanes<K> * kLanes<K>;
  const K *r0 = static_cast<const K*>(rows[0]), *r1 = static_cast<const K*>(rows[1]);
  const K *r2 = static_cast<const K*>(rows[2]), *r3 = static_cast<const K*>(rows[3]);
  const K *r4 = static_cast<const K*>(rows[4]), *r5 = static_cast<const K*>(rows[5]);
  K* const plane = static_cast<K*>(planes);
  Specials<K> seen;
  K *const out0 = static_cast<K*>(to[0]), *const out1 = static_cast<K*>(to[1]);
  for (int64_t x = 0; x < columns; x += kLanes<K>) {
    __builtin_prefetch(out0 + x, 1);
    __builtin_prefetch(out1 + x, 1);
    const V last = load(r5 + x);
    V a = load(r1 + x), b = load(r2 + x), c = load(r3 + x), d = load(r4 + x);
    seen.see(d, last);
    sort(a, b), sort(c, d), sort(a, c), sort(b, d), sort(b, c);
    for (int j = 0; j < 2; ++j) {
      V e = j ? last : load(r0 + x), rank[4] = {a, b, c, d};
      K* o = plane + j * 5 * stride + x;
      for (int i = 0; i < 4; ++i, o += stride) {
        sort(rank[i], e);
        store(o, rank[i], kLanes<K>);
      }
      store(o, e, kLanes<K>);
    }
  }
  const KeyBits bits = k;
  for (int j = 0; j < 2; ++j) {
    const K* const from = plane + j * 5 * stride;
    K* const out = j ? out1 : out0;
    const K* const next = r5 + (j + 1) * (r5 - r4);
    const auto across = [&](int64_t x, int64_t count) __attribute__((always_inline)) {
      __builtin_prefetch(next + x);
      V w[25];
      for (int i = 0; i < 5; ++i)
        for (int c = 0; c < 5; ++c) w[5 * i + c] = load(from + i * stride + x + c * step);
      store(out + x, exchanged<K>(middle_of_columns(w), bits), count);
    };
    int64_t x = 0;
    for (; x + kLanes<K> <= n; x += kLanes<K>) across(x, kLanes<K>);
    if (x < n) across(x, n - x);
  }
  return seen.none();
}

inline bool plain_floats(const void* from, int64_t n) {
  const float* p = static_cast<const float*>(from);
  Specials<float> seen;
  int64_t i = 0;
  for (; i + kLanes<float> <= n; i += kLanes<float>) {
    const Vector<float> v = load(p + i);
    seen.see(v, v);
  }
  Vector<float> rest = {};
  std::memcpy(&rest, p + i, static_cast<size_t>(n - i) * sizeof(float));
  seen.see(rest, rest);
  return seen.none();
}

template <class K>
inline constexpr NetworkLoops kLoops{std::is_same_v<K, float> ? &plain_floats : nullptr,
                                     &keys<K>,
                                     {&two_rows_of_three<K>, &two_rows_of_five<K>},
                                     {whole_rows<K, 1>(), whole_rows<K, 2>(), whole_rows<K, 3>(), whole_rows<K, 4>()}};
#undef PENSTOCK_ALWAYS
