// SPDX-License-Identifier: Apache-2.0
// Upsampling and color, V::kBytes pixels per step. Even and odd pixels stay apart: lane element j of "even" is pixel 2
// j.

template <class V>
struct EvenOdd {
  typename V::Reg even, odd;
};

// sums[1 + j] = weighted vertical sum of chroma column `first` + j, for j from -1 to `count`; outside the picture its
// first or last column repeats. May read up to a register past the end.
template <class V, Upsampling kUp>
inline void column_sums(const ColorRow& row, const uint8_t* near, const uint8_t* far, int32_t first, int32_t count,
                        int16_t* sums) {
  constexpr bool kRows = kUp == Upsampling::fancy_h2v2;
  near += first;
  if (kRows) far += first;
  for (int32_t j = 0; j <= count; j += V::kBytes / 2) {
    typename V::Reg v = V::widen(near + j);
    if constexpr (kRows) v = V::add16(V::add16(v, V::add16(v, v)), V::widen(far + j));
    V::store(sums + 1 + j, v);
  }
  if (first > 0 || row.left) {
    sums[0] = static_cast<int16_t>(kRows ? 3 * near[-1] + far[-1] : near[-1]);
  } else {
    sums[0] = sums[1];
  }
  const int32_t columns = row.chroma_columns - first;
  if (columns <= count) sums[1 + columns] = sums[columns];
}

// Chroma of the step's pixels, minus 128.
template <class V, Upsampling kUp>
inline EvenOdd<V> chroma_step(const ColorRow& row, const uint8_t* near, const uint8_t* far, const int16_t* sums,
                              int32_t at, int32_t in_chunk) {
  if constexpr (kUp == Upsampling::none) {
    const typename V::Reg v = V::load(near + at), center = V::all16(128);
    return {V::sub16(V::both(v, V::all16(255)), center), V::sub16(V::template right_unsigned16<8>(v), center)};
  } else if constexpr (kUp == Upsampling::box_h2) {
    const typename V::Reg v = V::sub16(V::widen(near + at / 2), V::all16(128));
    return {v, v};
  } else if constexpr (kUp == Upsampling::fancy_h1v2) {
    const typename V::Reg n = V::load(near + at), f = V::load(far + at), low = V::all16(255);
    const typename V::Reg bias = V::all16((row.far_below ? 2 : 1) - 4 * 128);
    const auto weigh = [&](typename V::Reg a, typename V::Reg b) {
      return V::template right16<2>(V::add16(V::add16(V::add16(a, a), a), V::add16(b, bias)));
    };
    return {weigh(V::both(n, low), V::both(f, low)),
            weigh(V::template right_unsigned16<8>(n), V::template right_unsigned16<8>(f))};
  } else {
    constexpr int kShift = kUp == Upsampling::fancy_h2v2 ? 4 : 2, kCenter = 128 << kShift;
    const int16_t* s = sums + in_chunk / 2;
    const typename V::Reg before = V::load(s), own = V::load(s + 1), after = V::load(s + 2);
    const typename V::Reg weighed = V::add16(own, V::add16(own, own));
    const typename V::Reg even_bias = V::all16((kShift == 4 ? 8 : 1) - kCenter);
    const typename V::Reg odd_bias = V::all16((kShift == 4 ? 7 : 2) - kCenter);
    return {V::template right16<kShift>(V::add16(V::add16(weighed, even_bias), before)),
            V::template right16<kShift>(V::add16(V::add16(weighed, odd_bias), after))};
  }
}

template <class V>
struct Channels {
  typename V::Reg v[3];
};

// Exactly the scalar formula: 13173 instead of 26345 / 2 changes none of the 256 values, the other factors are halves.
template <class V>
inline Channels<V> to_rgb(typename V::Reg y, typename V::Reg cb, typename V::Reg cr) {
  const typename V::Reg factors = V::all32(pair_of_factors(-11277, -23401));
  const typename V::Reg half = V::all32(1 << 14);
  const typename V::Reg red = V::add16(cr, V::multiply_rounded16(cr, V::all16(13173)));
  const typename V::Reg blue = V::add16(V::add16(cb, cb), V::multiply_rounded16(cb, V::all16(-7471)));
  const auto weigh = [&](typename V::Reg pairs) {
    return V::template right32<15>(V::add32(V::multiply_pairs(pairs, factors), half));
  };
  const typename V::Reg low = weigh(V::unpack_low16(cb, cr)), high = weigh(V::unpack_high16(cb, cr));
  return {{V::add16(y, red), V::add16(y, V::pack_signed32(low, high)), V::add16(y, blue)}};
}

// Writes V::kBytes pixels.
template <class V, Upsampling kUp, RowOutput kOut>
inline void color_step(const ColorRow& row, const int16_t (*sums)[V::kBytes * 8 + 64], int32_t at, int32_t in_chunk,
                       uint8_t* const* out) {
  const typename V::Reg y = V::load(row.luma + at);
  const EvenOdd<V> cb = chroma_step<V, kUp>(row, row.cb, row.cb_far, sums[0], at, in_chunk);
  const EvenOdd<V> cr = chroma_step<V, kUp>(row, row.cr, row.cr_far, sums[1], at, in_chunk);
  if constexpr (kOut == RowOutput::ycc_planar) {
    const typename V::Reg center = V::all8(-128);
    V::store(out[0], y);
    V::store_samples(out[1], V::differ(V::pack_signed16(cb.even, cb.odd), center));
    V::store_samples(out[2], V::differ(V::pack_signed16(cr.even, cr.odd), center));
  } else {
    const Channels<V> even = to_rgb<V>(V::both(y, V::all16(255)), cb.even, cr.even);
    const Channels<V> odd = to_rgb<V>(V::template right_unsigned16<8>(y), cb.odd, cr.odd);
    typename V::Reg c[3];
    for (int k = 0; k < 3; ++k) c[k] = V::pack_unsigned16(even.v[k], odd.v[k]);
    if constexpr (kOut == RowOutput::rgb_planar) {
      for (int k = 0; k < 3; ++k) V::store_samples(out[k], c[k]);
    } else {
      constexpr bool kReversed = kOut == RowOutput::bgr;
      V::store_interleaved(out[0], c[kReversed ? 2 : 0], c[1], c[kReversed ? 0 : 2]);
    }
  }
}

// The row from its `pixels`-th pixel on, which is `columns` chroma columns after its first.
inline ColorRow from_column(ColorRow row, int32_t columns, int32_t pixels, bool rows) {
  row.luma += pixels;
  row.width -= pixels;
  row.cb += columns, row.cr += columns;
  if (rows) row.cb_far += columns, row.cr_far += columns;
  row.chroma_columns -= columns;
  row.left |= columns > 0;
  return row;
}

template <class V, Upsampling kUp, RowOutput kOut>
static void color_row_vector(const ColorRow& whole, uint8_t* const* out) {
  constexpr bool kSums = kUp == Upsampling::fancy_h2v1 || kUp == Upsampling::fancy_h2v2;
  constexpr bool kColumns = kSums || kUp == Upsampling::box_h2;
  constexpr bool kRows = kUp == Upsampling::fancy_h2v2 || kUp == Upsampling::fancy_h1v2;
  constexpr bool kPlanar = kOut == RowOutput::rgb_planar || kOut == RowOutput::ycc_planar;
  constexpr int kPlanes = kPlanar ? 3 : 1, kPixelBytes = kPlanar ? 1 : 3;
  constexpr int32_t kChunk = V::kBytes * 16;
  alignas(64) int16_t sums[2][kChunk / 2 + 64];
  ColorRow row = whole;
  uint8_t* to[3];
  for (int k = 0; k < kPlanes; ++k) to[k] = out[k];
  if (kColumns && row.odd) {  // from here on, pixels start at their chroma column
    ColorRow first = row;
    first.width = 1;
    kernels_scalar::color_row<kUp, kOut>(first, out);
    for (int k = 0; k < kPlanes; ++k) to[k] += kPixelBytes;
    row = from_column(row, 1, 1, kRows);
    row.odd = false;
  }
  if (kColumns && row.width % 2) {  // and end with it
    const int32_t last = --row.width;
    ColorRow rest = from_column(row, last / 2, last, kRows);
    rest.width = 1;
    uint8_t* ends[3];
    for (int k = 0; k < kPlanes; ++k) ends[k] = to[k] + ptrdiff_t{kPixelBytes} * last;
    kernels_scalar::color_row<kUp, kOut>(rest, ends);
  }
  for (int32_t at = 0; at < row.width;) {
    const int32_t n = std::min(kChunk, row.width - at);
    if constexpr (kSums) {
      column_sums<V, kUp>(row, row.cb, row.cb_far, at / 2, (n + 1) / 2, sums[0]);
      column_sums<V, kUp>(row, row.cr, row.cr_far, at / 2, (n + 1) / 2, sums[1]);
    }
    if (n >= V::kBytes) {
      for (int32_t i = 0;; i = std::min(i + V::kBytes, n - V::kBytes)) {  // the last step repeats some pixels
        uint8_t* parts[3];
        for (int k = 0; k < kPlanes; ++k) parts[k] = to[k] + ptrdiff_t{kPixelBytes} * (at + i);
        color_step<V, kUp, kOut>(row, sums, at + i, i, parts);
        if (i == n - V::kBytes) break;
      }
    } else {
      alignas(64) uint8_t rest[kPlanes][kPixelBytes * V::kBytes];
      uint8_t* parts[3];
      for (int k = 0; k < kPlanes; ++k) parts[k] = rest[k];
      color_step<V, kUp, kOut>(row, sums, at, 0, parts);
      for (int k = 0; k < kPlanes; ++k)
        std::memcpy(to[k] + ptrdiff_t{kPixelBytes} * at, rest[k], static_cast<size_t>(kPixelBytes * n));
    }
    at += n;
  }
}

template <class V>
static void gray_row_vector(const uint8_t* luma, int32_t width, uint8_t* out) {
  const auto step = [](const uint8_t* from, uint8_t* to) {
    const typename V::Reg y = V::load(from);
    const typename V::Reg v = V::pack_unsigned16(V::both(y, V::all16(255)), V::template right_unsigned16<8>(y));
    V::store_interleaved(to, v, v, v);
  };
  if (width >= V::kBytes) {
    for (int32_t i = 0;; i = std::min(i + V::kBytes, width - V::kBytes)) {
      step(luma + i, out + ptrdiff_t{3} * i);
      if (i == width - V::kBytes) break;
    }
  } else {
    alignas(64) uint8_t rest[3 * V::kBytes];
    step(luma, rest);
    std::memcpy(out, rest, static_cast<size_t>(3 * width));
  }
}
