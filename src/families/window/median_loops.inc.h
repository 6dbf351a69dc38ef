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
template <class V> PENSTOCK_ALWAYS void sort(V& a, V& b) {
  const V low = lesser(a, b);
  b = greater(a, b);
  a = low;
}
// Keys of elements and elements of keys.
template <class K, class V> PENSTOCK_ALWAYS V exchanged(V v, const KeyBits& k) {
  const K flip = static_cast<K>(k.flip), fold = static_cast<K>(k.fold);
  if constexpr (std::is_signed_v<K>) return static_cast<V>(v ^ flip ^ ((v >> (sizeof(K) * 8 - 1)) & fold));
  else return static_cast<V>(v ^ flip);
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
// Of three columns, of which two rows are shared by the windows of both rows of the output.
template <class K>
void two_rows_of_three(void* const* to, const void* const* rows, void*, int64_t n, int64_t step, const KeyBits& k) {
  using V = Vector<K>;
  const K *r0 = static_cast<const K*>(rows[0]), *r1 = static_cast<const K*>(rows[1]);
  const K *r2 = static_cast<const K*>(rows[2]), *r3 = static_cast<const K*>(rows[3]);
  K* out[2] = {static_cast<K*>(to[0]), static_cast<K*>(to[1])};
  const KeyBits bits = k;
  const auto both = [&](int64_t x, int64_t count) __attribute__((always_inline)) {
    V low[2][3], mid[2][3], high[2][3];
    for (int i = 0; i < 3; ++i) {
      V a = load(r1 + x + i * step), b = load(r2 + x + i * step);
      sort(a, b);
      for (int j = 0; j < 2; ++j) {
        V c = load((j ? r3 : r0) + x + i * step), least = a, most = b;
        sort(least, c);
        sort(c, most);
        low[j][i] = least, mid[j][i] = c, high[j][i] = most;
      }
    }
    for (int j = 0; j < 2; ++j) {
      const V a = greater(greater(low[j][0], low[j][1]), low[j][2]);
      const V b = lesser(lesser(high[j][0], high[j][1]), high[j][2]);
      store(out[j] + x, exchanged<K>(middle(a, middle(mid[j][0], mid[j][1], mid[j][2]), b), bits), count);
    }
  };
  int64_t x = 0;
  for (; x + kLanes<K> <= n; x += kLanes<K>) both(x, kLanes<K>);
  if (x < n) both(x, n - x);
}

template <class V> PENSTOCK_ALWAYS V middle_of_columns(V* w) {
#define PENSTOCK_SORT(a, b) sort(w[a], w[b]);
  PENSTOCK_MEDIAN_OF_COLUMNS(PENSTOCK_SORT)
#undef PENSTOCK_SORT
  return w[16];
}
// Columns become planes of ranks first; four of their rows are shared by both rows of the output.
template <class K>
void two_rows_of_five(void* const* to, const void* const* rows, void* planes, int64_t n, int64_t step,
                      const KeyBits& k) {
  using V = Vector<K>;
  const int64_t columns = n + 4 * step, stride = columns + kLanes<K>;
  const K *r0 = static_cast<const K*>(rows[0]), *r1 = static_cast<const K*>(rows[1]);
  const K *r2 = static_cast<const K*>(rows[2]), *r3 = static_cast<const K*>(rows[3]);
  const K *r4 = static_cast<const K*>(rows[4]), *r5 = static_cast<const K*>(rows[5]);
  K* const plane = static_cast<K*>(planes);
  for (int64_t x = 0; x < columns; x += kLanes<K>) {
    V a = load(r1 + x), b = load(r2 + x), c = load(r3 + x), d = load(r4 + x);
    sort(a, b), sort(c, d), sort(a, c), sort(b, d), sort(b, c);
    for (int j = 0; j < 2; ++j) {
      V e = load((j ? r5 : r0) + x), rank[4] = {a, b, c, d};
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
    K* const out = static_cast<K*>(to[j]);
    const auto across = [&](int64_t x, int64_t count) __attribute__((always_inline)) {
      V w[25];
      for (int i = 0; i < 5; ++i)
        for (int c = 0; c < 5; ++c) w[5 * i + c] = load(from + i * stride + x + c * step);
      store(out + x, exchanged<K>(middle_of_columns(w), bits), count);
    };
    int64_t x = 0;
    for (; x + kLanes<K> <= n; x += kLanes<K>) across(x, kLanes<K>);
    if (x < n) across(x, n - x);
  }
}

template <class K> inline constexpr NetworkLoops kLoops{&keys<K>, {&two_rows_of_three<K>, &two_rows_of_five<K>}};
#undef PENSTOCK_ALWAYS
