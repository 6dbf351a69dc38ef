// SPDX-License-Identifier: Apache-2.0
// Included once per target by reduction_rows.cpp.
constexpr int64_t kBytes = PENSTOCK_TARGET_FLOATS ? PENSTOCK_TARGET_FLOATS * 4 : 16;
template <class T, int64_t bytes = kBytes> struct VectorOf {
  typedef T type __attribute__((vector_size(bytes)));
};
template <class T> using Vector = typename VectorOf<T>::type;
template <class T> constexpr int64_t kLanes = kBytes / static_cast<int64_t>(sizeof(T));
#define PENSTOCK_ALWAYS inline __attribute__((always_inline))

template <class T> PENSTOCK_ALWAYS Vector<T> load(const T* from) {
  Vector<T> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

// Sums of integers, exact modulo 2^64. A vector is added as its even and its odd elements, of twice the bits; numbers
// with a sign as those from 0 on that begin with the least one.
template <class U> struct Integers {
  using W = std::conditional_t<sizeof(U) == 1, uint16_t, std::conditional_t<sizeof(U) == 2, uint32_t, uint64_t>>;
  static constexpr int kBits = 8 * static_cast<int>(sizeof(U));
  // That many additions leave no part too large, even with one more.
  static constexpr int64_t kAdditions = sizeof(U) == 1 ? 255 : sizeof(U) == 2 ? 65535 : int64_t{1} << 31;
  Vector<W> low, high;
  PENSTOCK_ALWAYS void clear() { low = high = Vector<W>{}; }
  PENSTOCK_ALWAYS void add(const U* from, U least) {
    const Vector<W> v = reinterpret_cast<Vector<W>>(load(from) ^ least);
    low += v & static_cast<W>(static_cast<U>(-1)), high += v >> kBits;
  }
  // Element i of the vector.
  PENSTOCK_ALWAYS void store(uint64_t* to) const {
    W parts[2][kLanes<W>];
    std::memcpy(parts[0], &low, sizeof low);
    std::memcpy(parts[1], &high, sizeof high);
    for (int64_t i = 0; i < kLanes<W>; ++i) to[2 * i] = parts[0][i], to[2 * i + 1] = parts[1][i];
  }
};

#if PENSTOCK_TARGET_FLOATS
// The bytes of a line, eight neighbors at once. The sum of all lanes is theirs.
struct AddedBytes {
  Vector<uint64_t> sum;
  PENSTOCK_ALWAYS void add(const uint8_t* from, uint8_t least) {
    const Vector<uint8_t> v = load(from) ^ least;
#if PENSTOCK_TARGET_FLOATS == 16
    sum += reinterpret_cast<Vector<uint64_t>>(_mm512_sad_epu8(reinterpret_cast<__m512i>(v), _mm512_setzero_si512()));
#else
    sum += reinterpret_cast<Vector<uint64_t>>(_mm256_sad_epu8(reinterpret_cast<__m256i>(v), _mm256_setzero_si256()));
#endif
  }
};
inline uint64_t add_bytes(const uint8_t* v, int64_t blocks, const uint8_t* rest, uint8_t least) {
  AddedBytes a[4] = {};
  int64_t b = 0;
  for (; b + 4 <= blocks; b += 4)
    for (int k = 0; k < 4; ++k) a[k].add(v + (b + k) * kBytes, least);
  for (; b < blocks; ++b) a[0].add(v + b * kBytes, least);
  if (rest) a[1].add(rest, least);
  const Vector<uint64_t> all = a[0].sum + a[1].sum + (a[2].sum + a[3].sum);
  uint64_t sum = 0;
  for (int64_t i = 0; i < kLanes<uint64_t>; ++i) sum += all[i];
  return sum;
}
#endif

#if PENSTOCK_TARGET_FLOATS
// The squares of a line's bytes: as exact as those in float64, for lines of fewer than 2^37.
inline double square_bytes(const uint8_t* v, int64_t n) {
  constexpr int64_t kAdditions = 4096;  // of two squares each, which leave no part of 32 bits too large
  typedef uint16_t Shorts __attribute__((vector_size(kBytes)));
  typedef uint32_t Parts __attribute__((vector_size(kBytes)));
  const auto pairs = [](Shorts x) __attribute__((always_inline)) {  // sums of two squares
#if PENSTOCK_TARGET_FLOATS == 16
    return reinterpret_cast<Parts>(_mm512_madd_epi16(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(x)));
#else
    return reinterpret_cast<Parts>(_mm256_madd_epi16(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(x)));
#endif
  };
  const auto add = [&](const uint8_t* from, Parts& even, Parts& odd) __attribute__((always_inline)) {
    const Shorts x = reinterpret_cast<Shorts>(load(from));
    even += pairs(x & static_cast<uint16_t>(255)), odd += pairs(x >> 8);
  };
  uint64_t sum = 0;
  int64_t i = 0;
  while (i < n) {
    const int64_t end = i + std::min((n - i) / kBytes, kAdditions) * kBytes;
    Parts a[4] = {};
    for (; i + 2 * kBytes <= end; i += 2 * kBytes) add(v + i, a[0], a[1]), add(v + i + kBytes, a[2], a[3]);
    if (i < end) add(v + i, a[0], a[1]), i += kBytes;
    for (const Parts& part : a)
      for (int64_t k = 0; k < kLanes<uint32_t>; ++k) sum += part[k];
    if (n - i >= kBytes) continue;
    for (; i < n; ++i) sum += uint64_t{v[i]} * v[i];
  }
  return static_cast<double>(sum);
}
#endif

// The same of n < 2^37 pixels of three bytes, for each channel.
inline void square_pixels(const uint8_t* v, int64_t n, double* totals) {
  constexpr int64_t kBlock = 3 * kBytes, kAdditions = 65536;  // of a square each, which leave no part too large
  constexpr int64_t kParts = kLanes<uint32_t>;
  uint64_t sums[3] = {};
  int64_t i = 0;
  while (i + kBlock <= 3 * n) {
    const int64_t end = i + std::min((3 * n - i) / kBlock, kAdditions) * kBlock;
    Vector<uint32_t> a[3][4] = {};  // of each vector's bytes 0, 1, 2, 3 of four
    for (; i < end; i += kBlock)
      for (int k = 0; k < 3; ++k) {
        const auto x = reinterpret_cast<Vector<uint16_t>>(load(v + i + k * kBytes));
        const Vector<uint16_t> even = x & static_cast<uint16_t>(255), odd = x >> 8;
        const auto evens = reinterpret_cast<Vector<uint32_t>>(even * even);
        const auto odds = reinterpret_cast<Vector<uint32_t>>(odd * odd);
        a[k][0] += evens & 65535, a[k][1] += odds & 65535, a[k][2] += evens >> 16, a[k][3] += odds >> 16;
      }
    for (int64_t k = 0; k < 3; ++k)
      for (int64_t at = 0; at < 4; ++at)
        for (int64_t p = 0; p < kParts; ++p) sums[(k * kBytes + 4 * p + at) % 3] += a[k][at][p];
  }
  for (; i < 3 * n; ++i) sums[i % 3] += uint64_t{v[i]} * v[i];
  for (int c = 0; c < 3; ++c) totals[c] = static_cast<double>(sums[c]);
}

// Pixels of w channels in blocks of so many vectors, which are whole pixels: 1, or 3 for three channels.
template <class U, int vectors> void add_pixels(const U* v, int64_t n, int64_t w, U least, uint64_t* totals) {
  using Sums = Integers<U>;
  constexpr int64_t kEach = kLanes<U>, kBlock = vectors * kEach;
  U rest[static_cast<size_t>(kBlock)] = {};
  const int64_t blocks = n * w / kBlock, tail = n * w % kBlock;
  if (tail) std::memcpy(rest, v + blocks * kBlock, static_cast<size_t>(tail) * sizeof(U));
  uint64_t sums[static_cast<size_t>(kBlock)] = {};
  bool done = false;
#if PENSTOCK_TARGET_FLOATS
  if constexpr (sizeof(U) == 1 && vectors == 1)
    if (w == 1) sums[0] = add_bytes(v, blocks, tail ? rest : nullptr, least), done = true;
#endif
  for (int64_t begin = 0; !done; begin += Sums::kAdditions) {
    const int64_t end = std::min(blocks, begin + Sums::kAdditions);
    done = end == blocks;
    Sums a[vectors];
    for (Sums& s : a) s.clear();
    for (int64_t b = begin; b < end; ++b)
      for (int k = 0; k < vectors; ++k) a[k].add(v + b * kBlock + k * kEach, least);
    if (tail && done)
      for (int k = 0; k < vectors; ++k) a[k].add(rest + k * kEach, least);
    uint64_t parts[static_cast<size_t>(kBlock)];
    for (int k = 0; k < vectors; ++k) a[k].store(parts + k * kEach);
    for (int64_t h = kBlock / 2; h >= w; h /= 2)
      for (int64_t i = 0; i < h; ++i) parts[i] += parts[i + h];
    for (int64_t k = 0; k < w; ++k) sums[k] += parts[k];
  }
  const auto added = static_cast<uint64_t>((blocks + (tail != 0)) * kBlock / w);
  for (int64_t k = 0; k < w; ++k) totals[k] = sums[k] - added * least;
}

// The number that unsigned ones of its bits begin with.
template <class T> constexpr std::make_unsigned_t<T> least_of() {
  return std::is_signed_v<T> ? std::make_unsigned_t<T>(std::make_unsigned_t<T>(1) << (8 * sizeof(T) - 1)) : 0;
}
template <class T> PENSTOCK_ALWAYS double number_of(uint64_t total) {
  if constexpr (std::is_signed_v<T>) return static_cast<double>(static_cast<int64_t>(total));
  else return static_cast<double>(total);
}

template <class T, bool as_numbers> void integer_lines(const void* v, int64_t n, int64_t w, const double*,
                                                       void* totals) {
  using U = std::make_unsigned_t<T>;
  const U* const from = static_cast<const U*>(v);
  const auto add = [w](const U* at, int64_t count, uint64_t* sums) {
    if (w == 3) add_pixels<U, 3>(at, count, w, least_of<T>(), sums);
    else add_pixels<U, 1>(at, count, w, least_of<T>(), sums);
  };
  if constexpr (!as_numbers) {
    add(from, n, static_cast<uint64_t*>(totals));
  } else {
    auto* const to = static_cast<double*>(totals);
    uint64_t sums[kMostNeighbors];
    if (sizeof(T) < 4 || n < kExactInts) {
      add(from, n, sums);
      for (int64_t k = 0; k < w; ++k) to[k] = number_of<T>(sums[k]);
      return;
    }
    double level[kPartialChunks][kMostNeighbors] = {};
    for (int64_t j = 0; j < n; j += kReductionChunk) {
      add(from + j * w, std::min<int64_t>(kReductionChunk, n - j), sums);
      for (int64_t k = 0; k < w; ++k) level[j / kReductionChunk % kPartialChunks][k] += number_of<T>(sums[k]);
    }
    for (int h = kPartialChunks / 2; h > 0; h /= 2)
      for (int i = 0; i < h; ++i)
        for (int64_t k = 0; k < w; ++k) level[i][k] += level[i + h][k];
    for (int64_t k = 0; k < w; ++k) to[k] = level[0][k];
  }
}

template <class U, int vectors> void add_columns(const U* v, int64_t n, int64_t stride, U least, uint64_t* sums) {
  using Sums = Integers<U>;
  constexpr int64_t kEach = kLanes<U>;
  std::fill_n(sums, vectors * kEach, 0 - static_cast<uint64_t>(n) * least);
  for (int64_t begin = 0; begin < n; begin += Sums::kAdditions) {
    const int64_t end = std::min(n, begin + Sums::kAdditions);
    Sums a[vectors];
    for (Sums& s : a) s.clear();
    for (int64_t j = begin; j < end; ++j)
      for (int k = 0; k < vectors; ++k) a[k].add(v + j * stride + k * kEach, least);
    uint64_t parts[static_cast<size_t>(vectors * kEach)];
    for (int k = 0; k < vectors; ++k) a[k].store(parts + k * kEach);
    for (int64_t i = 0; i < vectors * kEach; ++i) sums[i] += parts[i];
  }
}

// Calls block<vectors>(first column) so that each column is in one; the last block begins so early that it is whole.
// Columns that are fewer than a vector's: one(column).
template <int most, class Block, class One>
PENSTOCK_ALWAYS void each_block(int64_t w, int64_t lanes, const Block& block, const One& one) {
  if (w < lanes) {
    for (int64_t c = 0; c < w; ++c) one(c);
    return;
  }
  int64_t c = 0;
  for (; c + most * lanes <= w; c += most * lanes) block(std::integral_constant<int, most>{}, c);
  for (; c < w; c += lanes) block(std::integral_constant<int, 1>{}, std::min(c, w - lanes));
}

template <class T, bool as_numbers> void integer_columns(const void* in, int64_t n, int64_t stride, int64_t w,
                                                         const double*, void* totals) {
  using U = std::make_unsigned_t<T>;
  const U* const v = static_cast<const U*>(in);
  const auto put = [totals](int64_t i, uint64_t sum) {
    if constexpr (as_numbers) static_cast<double*>(totals)[i] = number_of<T>(sum);
    else static_cast<uint64_t*>(totals)[i] = sum;
  };
  each_block<4>(
      w, kLanes<U>,
      [&](auto vectors, int64_t c) {
        uint64_t sums[decltype(vectors)::value * kLanes<U>];
        add_columns<U, decltype(vectors)::value>(v + c, n, stride, least_of<T>(), sums);
        for (int64_t i = 0; i < decltype(vectors)::value * kLanes<U>; ++i) put(c + i, sums[i]);
      },
      [&](int64_t c) {
        uint64_t sum = 0;
        for (int64_t j = 0; j < n; ++j)
          sum += static_cast<uint64_t>(static_cast<int64_t>(static_cast<T>(v[j * stride + c])));
        put(c, sum);
      });
}

// Sums in float64, in the order of reduction.h.
constexpr int64_t kDoubles = kLanes<double>;
constexpr int kSums = PENSTOCK_TARGET_FLOATS == 16 ? 16 : 8;  // vectors of them that stay in registers
// The compiler makes several steps of a conversion that is one instruction.
template <class T> PENSTOCK_ALWAYS Vector<double> numbers(const T* from) {
  if constexpr (std::is_same_v<T, double>) {
    return load(from);
  } else {
#if PENSTOCK_TARGET_FLOATS == 16
    if constexpr (std::is_same_v<T, float>)
      return reinterpret_cast<Vector<double>>(_mm512_cvtps_pd(_mm256_loadu_ps(from)));
    const auto eight = [from] { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); };  // of 16 bits
    __m256i ints;
    if constexpr (sizeof(T) == 4) ints = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    else if constexpr (sizeof(T) == 2)
      ints = std::is_signed_v<T> ? _mm256_cvtepi16_epi32(eight()) : _mm256_cvtepu16_epi32(eight());
    else {
      const __m128i v = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
      ints = std::is_signed_v<T> ? _mm256_cvtepi8_epi32(v) : _mm256_cvtepu8_epi32(v);
    }
    if constexpr (std::is_same_v<T, uint32_t>) return reinterpret_cast<Vector<double>>(_mm512_cvtepu32_pd(ints));
    else return reinterpret_cast<Vector<double>>(_mm512_cvtepi32_pd(ints));
#else
#if PENSTOCK_TARGET_FLOATS == 8
    if constexpr (std::is_same_v<T, float>)
      return reinterpret_cast<Vector<double>>(_mm256_cvtps_pd(_mm_loadu_ps(from)));
    if constexpr (!std::is_same_v<T, uint32_t>) {
      __m128i ints;
      if constexpr (sizeof(T) == 4) {
        ints = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
      } else if constexpr (sizeof(T) == 2) {
        const __m128i v = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
        ints = std::is_signed_v<T> ? _mm_cvtepi16_epi32(v) : _mm_cvtepu16_epi32(v);
      } else {
        int32_t four;
        std::memcpy(&four, from, sizeof four);
        const __m128i v = _mm_cvtsi32_si128(four);
        ints = std::is_signed_v<T> ? _mm_cvtepi8_epi32(v) : _mm_cvtepu8_epi32(v);
      }
      return reinterpret_cast<Vector<double>>(_mm256_cvtepi32_pd(ints));
    }
#endif
    Vector<double> v;
    for (int64_t i = 0; i < kDoubles; ++i) v[i] = static_cast<double>(from[i]);
    return v;
#endif
  }
}
template <class V> PENSTOCK_ALWAYS V squared(V v) { return v * v; }

// Every period-th vector from `v` on, `vectors` of them side by side, from 0 or, if `more`, from `partial` on. Memory
// `ahead` elements further on is requested, unless that is 0.
template <class T, bool squares, int vectors>
PENSTOCK_ALWAYS void add_periods(const T* v, int64_t n, int64_t period, const double* about, double* partial,
                                 bool more = false, int64_t ahead = 0) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  Vector<double> a[vectors], from[vectors];
  for (int k = 0; k < vectors; ++k) {
    a[k] = more ? load(partial + k * kDoubles) : Vector<double>{};
    if constexpr (squares) from[k] = load(about + k * kDoubles);
  }
  for (int64_t j = 0; j < n; ++j, v += period) {
    if (ahead)
      for (int64_t i = 0; i < vectors * kDoubles; i += kLine) __builtin_prefetch(v + ahead + i);
    for (int k = 0; k < vectors; ++k) {
      const Vector<double> x = numbers(v + k * kDoubles);
      if constexpr (squares) a[k] += squared(x - from[k]);
      else a[k] += x;
    }
  }
  std::memcpy(partial, a, sizeof a);
}

// Whole vectors of all periods; returns how many elements of a period these are. The passes take a part that the first
// cache keeps, and request their share of the next one.
template <class T, bool squares>
int64_t add_whole_vectors(const T* v, int64_t n, int64_t period, const double* about, double* partial) {
  constexpr int64_t kPartBytes = 16384, kWide = kSums * kDoubles;
  const int64_t wide = period / kWide * kWide, whole = period / kDoubles * kDoubles;
  const int64_t each = std::max<int64_t>(1, kPartBytes / (period * static_cast<int64_t>(sizeof(T))));
  const int64_t ahead = period > kWide ? each * period : 0;          // a single pass reads as the processor expects
  for (int64_t first = 0; first == 0 || first < n; first += each) {  // once without periods, too: sums become 0
    const int64_t count = std::min(each, n - first);
    const T* const from = v + first * period;
    const auto near = [about](int64_t i) { return squares ? about + i : about; };
    int64_t i = 0;
    for (; i < wide; i += kWide)
      add_periods<T, squares, kSums>(from + i, count, period, near(i), partial + i, first > 0, ahead);
    for (; i < whole; i += kDoubles)
      add_periods<T, squares, 1>(from + i, count, period, near(i), partial + i, first > 0, 0);
  }
  return whole;
}

template <class T, bool squares>
void number_lines(const void* in, int64_t n, int64_t w, const double* about, void* totals) {
  const T* v = static_cast<const T*>(in);
  if constexpr (squares && std::is_same_v<T, uint8_t>)
    if (w == 3 && n < int64_t{1} << 37 && std::all_of(about, about + w, [](double x) { return x == 0; }))
      return square_pixels(v, n, static_cast<double*>(totals));
#if PENSTOCK_TARGET_FLOATS
  if constexpr (squares && std::is_same_v<T, uint8_t>)
    if (w == 1 && about[0] == 0 && n < int64_t{1} << 37) {
      *static_cast<double*>(totals) = square_bytes(v, n);
      return;
    }
#endif
  const int64_t period = partial_sums(n, kPartialSums) * w;
  const int64_t levels = partial_sums((n - 1) / kReductionChunk + 1, kPartialChunks);
  double partial[kPartialSums * kMostNeighbors], near[squares ? kPartialSums * kMostNeighbors : 1];
  double level[kPartialChunks][kMostNeighbors] = {};
  if constexpr (squares)
    for (int64_t i = 0; i < period; ++i) near[i] = about[i % w];
  const auto add = [&](double& to, T x, int64_t i) {
    if constexpr (squares) to += squared(static_cast<double>(x) - near[i]);
    else to += static_cast<double>(x);
  };
  for (int64_t first = 0; first < n; first += kReductionChunk) {
    const int64_t elements = std::min<int64_t>(kReductionChunk, n - first) * w, periods = elements / period;
    for (int64_t i = add_whole_vectors<T, squares>(v, periods, period, near, partial); i < period; ++i) {
      partial[i] = 0;
      for (int64_t j = 0; j < periods; ++j) add(partial[i], v[j * period + i], i);
    }
    for (int64_t k = periods * period; k < elements; ++k)
      add(partial[k - periods * period], v[k], k - periods * period);
    for (int64_t h = period / 2; h >= w; h /= 2)
      for (int64_t k = 0; k < h; ++k) partial[k] += partial[k + h];
    double* const to = level[first / kReductionChunk % levels];
    for (int64_t k = 0; k < w; ++k) to[k] += partial[k];
    v += elements;
  }
  for (int64_t h = levels / 2; h > 0; h /= 2)
    for (int64_t i = 0; i < h; ++i)
      for (int64_t k = 0; k < w; ++k) level[i][k] += level[i + h][k];
  std::memcpy(totals, level[0], static_cast<size_t>(w) * sizeof(double));
}

constexpr int64_t kColumnsTogether = 512;  // whose bytes of a row are enough for the processor to read ahead

// Every `period`-th row, for `width` columns, which are at least a vector's.
template <class T, bool squares>
void add_rows(const T* v, int64_t n, int64_t period, int64_t width, const double* about, double* to) {
  int64_t c = 0;
  for (; c + kSums * kDoubles <= width; c += kSums * kDoubles)
    add_periods<T, squares, kSums>(v + c, n, period, about + c, to + c);
  for (; c < width; c += kDoubles) {
    const int64_t at = std::min(c, width - kDoubles);
    add_periods<T, squares, 1>(v + at, n, period, about + at, to + at);
  }
}

// Partial sums of columns are made one after the other, in the order in which halves meet: that of their numbers with
// the bits reversed. A stack keeps those that wait for their half.
template <class T, bool squares>
void number_block(const T* v, int64_t n, int64_t stride, int64_t width, const double* about, double* totals) {
  const int64_t sums = partial_sums(n, kPartialSums), chunks = (n - 1) / kReductionChunk + 1;
  const int64_t levels = partial_sums(chunks, kPartialChunks);
  const int bits = std::countr_zero(static_cast<uint64_t>(sums));
  const auto each = static_cast<size_t>(width);
  std::vector<double> level(static_cast<size_t>(levels) * each), waiting(static_cast<size_t>(bits + 1) * each);
  const auto join = [width](double* to, const double* other) {
    for (int64_t k = 0; k < width; ++k) to[k] += other[k];
  };
  for (int64_t chunk = 0; chunk < chunks; ++chunk, v += kReductionChunk * stride) {
    const int64_t rows = std::min<int64_t>(kReductionChunk, n - chunk * kReductionChunk);
    double* top = waiting.data();
    for (int64_t t = 0; t < sums; ++t, top += width) {
      int64_t p = 0;
      for (int b = 0; b < bits; ++b) p |= (t >> b & 1) << (bits - 1 - b);
      add_rows<T, squares>(v + p * stride, p < rows ? (rows - p - 1) / sums + 1 : 0, sums * stride, width, about, top);
      for (int64_t s = t; s & 1; s >>= 1, top -= width) join(top - width, top);
    }
    join(level.data() + chunk % levels * width, waiting.data());
  }
  for (int64_t h = levels / 2; h > 0; h /= 2)
    for (int64_t i = 0; i < h; ++i) join(level.data() + i * width, level.data() + (i + h) * width);
  std::copy_n(level.data(), width, totals);
}

template <class T, bool squares>
void number_columns(const void* in, int64_t n, int64_t stride, int64_t w, const double* about, void* totals) {
  const T* const v = static_cast<const T*>(in);
  for (int64_t first = 0; first < w; first += kColumnsTogether) {
    const int64_t c = std::min(first, w - kDoubles);  // w is at least kLeastColumns
    number_block<T, squares>(v + c, n, stride, std::min(kColumnsTogether, w - c), squares ? about + c : nullptr,
                             static_cast<double*>(totals) + c);
  }
}

// The least or greatest element.
template <class T> constexpr T first_extreme(bool greatest) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) return greatest ? -Limits::infinity() : Limits::infinity();
  else return greatest ? Limits::lowest() : Limits::max();
}
template <bool greatest, class V> PENSTOCK_ALWAYS V extreme(V a, V b) { return (greatest ? b > a : b < a) ? b : a; }

// Pixels of w channels in blocks of so many vectors, which are whole pixels: 4, or 6 for three channels.
template <class T, bool greatest, int vectors> void extreme_pixels(const T* v, int64_t elements, int64_t w, T* totals) {
  constexpr int64_t kEach = kLanes<T>, kBlock = vectors * kEach;
  Vector<T> a[vectors];
  for (Vector<T>& x : a) x = Vector<T>{} + first_extreme<T>(greatest);
  int64_t i = 0;
  for (; i + kBlock <= elements; i += kBlock)
    for (int k = 0; k < vectors; ++k) a[k] = extreme<greatest>(a[k], load(v + i + k * kEach));
  T parts[static_cast<size_t>(kBlock)];
  std::memcpy(parts, a, sizeof parts);
  for (int64_t k = 0; i + k < elements; ++k) parts[k] = extreme<greatest>(parts[k], v[i + k]);
  for (int64_t h = kBlock / 2; h >= w; h /= 2)
    for (int64_t k = 0; k < h; ++k) parts[k] = extreme<greatest>(parts[k], parts[k + h]);
  for (int k = 0; k < w; ++k) totals[k] = static_cast<T>(parts[k] + T(0));  // -0 becomes 0: the order does not matter
}
template <class T, bool greatest>
void extreme_lines(const void* in, int64_t n, int64_t w, const double*, void* totals) {
  const T* const v = static_cast<const T*>(in);
  T* const to = static_cast<T*>(totals);
  if (w == 3) extreme_pixels<T, greatest, 6>(v, n * w, w, to);
  else extreme_pixels<T, greatest, 4>(v, n * w, w, to);
}

template <class T, bool greatest>
void extreme_columns(const void* in, int64_t n, int64_t stride, int64_t w, const double*, void* totals) {
  const T* const v = static_cast<const T*>(in);
  T* const to = static_cast<T*>(totals);
  std::fill_n(to, w, first_extreme<T>(greatest));
  constexpr int64_t kRows = 16;  // that the processor reads ahead side by side
  for (int64_t j = 0; j < n; j += kRows) {
    const int64_t rows = std::min(kRows, n - j);
    const T* const from = v + j * stride;
    for (int64_t first = 0; first < w && w >= kLanes<T>; first += kLanes<T>) {
      const int64_t c = std::min(first, w - kLanes<T>);
      Vector<T> a = load(to + c);
      for (int64_t k = 0; k < rows; ++k) a = extreme<greatest>(a, load(from + k * stride + c));
      std::memcpy(to + c, &a, sizeof a);
    }
    for (int64_t c = 0; c < w && w < kLanes<T>; ++c)
      for (int64_t k = 0; k < rows; ++k) to[c] = extreme<greatest>(to[c], from[k * stride + c]);
  }
  for (int64_t c = 0; c < w; ++c) to[c] = static_cast<T>(to[c] + T(0));
}
#undef PENSTOCK_ALWAYS

template <class T, Fold fold> constexpr RowFolds folds_of() {
  if constexpr (fold == Fold::least || fold == Fold::greatest)
    return {&extreme_lines<T, fold == Fold::greatest>, &extreme_columns<T, fold == Fold::greatest>};
  else if constexpr (fold == Fold::integers) return {&integer_lines<T, false>, &integer_columns<T, false>};
  else if constexpr (fold == Fold::numbers && std::is_integral_v<T> && sizeof(T) <= 4)
    return {&integer_lines<T, true>, &integer_columns<T, true>};
  else return {&number_lines<T, fold == Fold::squares>, &number_columns<T, fold == Fold::squares>};
}
template <class T, Fold fold> constexpr RowFolds kFolds = folds_of<T, fold>();
