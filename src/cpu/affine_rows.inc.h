// SPDX-License-Identifier: Apache-2.0
// Included once per target by affine_rows.cpp.

// The samples that a block of outputs reads: the lower neighbor of each output and the weight of the upper one, by axis
// x, y, z.
struct Positions {
  alignas(64) int32_t at[3][kBlock];
  alignas(64) float weight[3][kBlock];
  alignas(64) int32_t fraction[2][kBlock];  // instead of weights, if bytes are blended in integers
  alignas(64) double exact[3][kBlock];      // the same, if the compute type is float64
  int axes = 2;
  int32_t downward = 1;  // -1: rows of outputs that follow each other move up in the source
};

// Outputs of one run of positions, from the first of `n` on: how many follow, and how far the first is in its run.
struct PartOfRun {
  int64_t x;
  int past, count;
  PartOfRun(AffineOutputs outputs, int from, int n) {
    const int64_t at = outputs.x + outputs.step * from;
    x = std::max<int64_t>(at, 0);  // a row that ends at 0 backward: nobody reads what is beyond it
    past = static_cast<int>(x % kAffineRun);
    count = at < 0 ? n - from : std::min(outputs.step > 0 ? kAffineRun - past : past + 1, n - from);
  }
};

inline void find_positions(const AffineMap& map, AffineOutputs outputs, int64_t y, int64_t z, int n, bool nearest,
                           bool exactly, bool in_integers, Positions& p) {
  p.axes = map.dims;
  p.downward = map.m[map.dims + 2] < 0 ? -1 : 1;
  for (int a = 0; a < map.dims; ++a) {
    const int64_t forward = affine_step(map.m[a * (map.dims + 1)]), step = outputs.step * forward;
    for (int from = 0; from < n;) {
      const PartOfRun part(outputs, from, n);
      const int count = part.count;
      const int64_t begin = affine_begin(map.m, map.dims, a, part.x, y, z, nearest ? 0.0 : 0.5) + part.past * forward +
                            (in_integers ? kAffineByteHalf : 0);
      int32_t* __restrict at = p.at[a] + from;
      if (in_integers) {
        int32_t* __restrict fraction = p.fraction[a] + from;
        for (int i = 0; i < count; ++i) {
          const int64_t position = begin + i * step;
          at[i] = affine_at(position);
          fraction[i] = static_cast<int32_t>(affine_byte_fraction(position));
        }
        from += count;
        continue;
      }
      if (nearest) {
        for (int i = 0; i < count; ++i) at[i] = affine_at(begin + i * step);
        from += count;
        continue;
      }
      float* __restrict weight = p.weight[a] + from;
      double* __restrict exact = p.exact[a] + from;
      for (int i = 0; i < count; ++i) {
        const int64_t position = begin + i * step;
        at[i] = affine_at(position);
        weight[i] = affine_weight<float>(position);
      }
      if (exactly)
        for (int i = 0; i < count; ++i) exact[i] = affine_weight<double>(begin + i * step);
      from += count;
    }
  }
}

#include "operator/nearest_pixels.inc.h"

#include "cpu/affine_copies.inc.h"

// Offsets of one tap (corner: bit a set = the upper neighbor on axis a), clamped into the source; true if any output's
// tap is outside, then outside[i] says which.
inline bool tap_offsets(const AffineSource& s, const int64_t* extent, const Positions& p, int corner, int n,
                        int32_t* __restrict offset, int32_t* __restrict outside) {
  const int32_t stride[3] = {static_cast<int32_t>(s.stride_x), static_cast<int32_t>(s.stride_y),
                             static_cast<int32_t>(s.stride_z)};
  int32_t any = 0;
  for (int a = 0; a < p.axes; ++a) {
    const int32_t last = static_cast<int32_t>(extent[a]) - 1, step = stride[a], up = corner >> a & 1;
    const int32_t* __restrict at = p.at[a];
    for (int i = 0; i < n; ++i) {
      const int32_t v = at[i] + up;
      int32_t c = v < 0 ? 0 : v;
      c = c > last ? last : c;
      const int32_t out = c != v;
      offset[i] = (a ? offset[i] : 0) + c * step;
      outside[i] = (a ? outside[i] : 0) | out;
      any |= out;
    }
  }
  return any != 0;
}

template <class V>
void put_fill(const AffineRows& rows, int channels, const int32_t* outside, int n, V* const* planes) {
  for (int c = 0; c < channels; ++c) {
    const V fill = fill_in_lane<V>(AffineAccess::fill(rows, c));
    V* __restrict to = planes[c];
    for (int i = 0; i < n; ++i) to[i] = outside[i] ? fill : to[i];
  }
}

// One tap of each output for all channels, in the compute type.
template <class V>
void load_tap(const AffineRows& rows, const AffineSource& s, Lane lane, const int64_t* extent, const Positions& p,
              int corner, int n, V* const* planes) {
  int32_t offset[kBlock], outside[kBlock];
  const bool any = tap_offsets(s, extent, p, corner, n, offset, outside);
  void* to[64];
  for (int c = 0; c < s.channels; ++c) to[c] = planes[c];
  AffineAccess::convert(rows).load_indexed[static_cast<int>(s.dtype)][static_cast<int>(lane)](
      s.data, offset, 1, s.stride_c, to, s.channels, n);
  if (any && AffineAccess::fills(rows)) put_fill(rows, s.channels, outside, n, planes);
}

template <class V> const V* weights(const Positions& p, int axis) {
  if constexpr (std::is_same_v<V, float>) return p.weight[axis];
  else return p.exact[axis];
}

template <class V>
void blend(V* __restrict a, const V* __restrict b, const V* __restrict w, int n) {
  for (int i = 0; i < n; ++i) a[i] = lerp(a[i], b[i], w[i]);
}

// Blends the taps of a, b, c, d into a.
inline void blend_bytes(float* __restrict a, const float* __restrict b, const float* __restrict c,
                        const float* __restrict d, const Positions& p, int n) {
  const int32_t* __restrict x = p.fraction[0], * __restrict y = p.fraction[1];
  for (int i = 0; i < n; ++i) {
    const AffineByteWeights w = affine_byte_weights(static_cast<uint32_t>(x[i]), static_cast<uint32_t>(y[i]));
    const auto byte = [](float v) { return static_cast<uint32_t>(static_cast<int32_t>(v)); };
    a[i] = static_cast<float>(static_cast<int32_t>(affine_byte(w, byte(a[i]), byte(b[i]), byte(c[i]), byte(d[i]))));
  }
}

// Any type, any number of channels, two or three axes: taps are paired axis by axis, x first, one channel at a time.
template <class V>
void linear_block(const AffineRows& rows, const AffineSource& all, Lane lane, const int64_t* extent, const Positions& p,
                  int n, V* const* planes, int first_channel = 0) {
  V tap[3][kBlock];
  AffineSource s = all;
  s.channels = 1;
  for (int c = 0; c < all.channels; ++c) {
    s.data = static_cast<const char*>(all.data) + c * all.stride_c * static_cast<int64_t>(size_of(s.dtype));
    const auto fill = static_cast<V>(AffineAccess::fill(rows, first_channel + c));
    int32_t offset[kBlock], outside[kBlock];
    auto load = [&](int corner, V* to) {
      const bool any = tap_offsets(s, extent, p, corner, n, offset, outside);
      void* plane[1] = {to};
      AffineAccess::convert(rows).load_indexed[static_cast<int>(s.dtype)][static_cast<int>(lane)](s.data, offset, 1, 0,
                                                                                                  plane, 1, n);
      if (!any || !AffineAccess::fills(rows)) return;
      for (int i = 0; i < n; ++i) to[i] = outside[i] ? fill : to[i];
    };
    auto plane_of = [&](int z, V* low, V* high) {  // bilinear at one depth
      load(z | 0, low), load(z | 1, high);
      blend(low, high, weights<V>(p, 0), n);
    };
    auto depth = [&](int z, V* to, V* other, V* spare) {
      plane_of(z, to, spare);
      plane_of(z | 2, other, spare);
      blend(to, other, weights<V>(p, 1), n);
    };
    if constexpr (std::is_same_v<V, float>) {
      if (AffineAccess::in_integers(rows)) {
        load(0, planes[c]), load(1, tap[0]), load(2, tap[1]), load(3, tap[2]);
        blend_bytes(planes[c], tap[0], tap[1], tap[2], p, n);
        continue;
      }
    }
    if (p.axes == 2) {
      depth(0, planes[c], tap[0], tap[1]);
    } else {
      depth(0, planes[c], tap[0], tap[1]);
      depth(4, tap[2], tap[0], tap[1]);
      blend(planes[c], static_cast<const V*>(tap[2]), weights<V>(p, 2), n);
    }
  }
}

#if PENSTOCK_TARGET_FLOATS
using VecF = float __attribute__((vector_size(PENSTOCK_TARGET_FLOATS * 4)));
using VecI = int32_t __attribute__((vector_size(PENSTOCK_TARGET_FLOATS * 4)));

inline __attribute__((always_inline)) VecI gather(const void* base, VecI bytes) {
#if PENSTOCK_TARGET_FLOATS == 8
  return (VecI)_mm256_i32gather_epi32(static_cast<const int*>(base), (__m256i)bytes, 1);
#else
  return (VecI)_mm512_i32gather_epi32((__m512i)bytes, base, 1);
#endif
}
inline __attribute__((always_inline)) VecI shift_right(VecI v, VecI bits) {
#if PENSTOCK_TARGET_FLOATS == 8
  return (VecI)_mm256_srlv_epi32((__m256i)v, (__m256i)bits);
#else
  return (VecI)_mm512_srlv_epi32((__m512i)v, (__m512i)bits);
#endif
}
inline __attribute__((always_inline)) VecF to_float(VecI v) { return __builtin_convertvector(v, VecF); }

inline __attribute__((always_inline)) VecF repeated(float v) { return v - VecF{}; }  // a sum would lose the sign of -0

inline __attribute__((always_inline)) VecF lerp(VecF a, VecF b, VecF weight) {
#if PENSTOCK_TARGET_FLOATS == 8
  return (VecF)_mm256_fmadd_ps((__m256)(b - a), (__m256)weight, (__m256)a);
#else
  return (VecF)_mm512_fmadd_ps((__m512)(b - a), (__m512)weight, (__m512)a);
#endif
}
inline __attribute__((always_inline)) VecF fma_of(VecF a, VecF b, VecF c) {
#if PENSTOCK_TARGET_FLOATS == 8
  return (VecF)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
  return (VecF)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#endif
}
// Weights of bytes; their sum is 1. Numbers of 16 bits and sums of their products with bytes are exact in float32.
struct ByteWeights {
  VecF a, b, c, d;
  inline __attribute__((always_inline)) void load(const Positions& p, int i) {
    using VecU = uint32_t __attribute__((vector_size(PENSTOCK_TARGET_FLOATS * 4)));
    VecI x, y;
    std::memcpy(&x, p.fraction[0] + i, sizeof x), std::memcpy(&y, p.fraction[1] + i, sizeof y);
    const VecI both = (VecI)(((VecU)x * (VecU)y + 32768u) >> 16);
    constexpr float kUnit = 1.0f / 65536.0f;
    d = to_float(both) * kUnit, b = to_float(x - both) * kUnit, c = to_float(y - both) * kUnit;
    a = to_float(65536 - x - (y - both)) * kUnit;
  }
  inline __attribute__((always_inline)) VecF blend(VecF va, VecF vb, VecF vc, VecF vd) const {
    const VecF half = VecF{} + 0.5f, sum = fma_of(va, a, fma_of(vb, b, fma_of(vc, c, fma_of(vd, d, half))));
    return to_float(__builtin_convertvector(sum, VecI));
  }
};
inline __attribute__((always_inline)) VecI clamped(VecI v, int32_t last) {
  const VecI zero = v - v;
  v = v < zero ? zero : v;
  return v > zero + last ? zero + last : v;
}
template <bool kLimited>
inline __attribute__((always_inline)) VecI fetch(const void* data, VecI offset, int32_t limit) {
  if constexpr (!kLimited) {
    return gather(data, offset);
  } else {
    const VecI safe = clamped(offset, limit);
    return shift_right(gather(data, safe), (offset - safe) * 8);
  }
}
inline __attribute__((always_inline)) void request_ahead(const AffineSource& s, VecI bytes, int32_t row_bytes) {
  alignas(64) int32_t offset[PENSTOCK_TARGET_FLOATS];
  std::memcpy(offset, &bytes, sizeof bytes);
  request_rows_ahead<pixels_of_request(4)>(static_cast<const char*>(s.data), row_bytes, offset, PENSTOCK_TARGET_FLOATS);
}
template <int kChannels>
inline __attribute__((always_inline)) VecF channel_of(VecI v, int c) {
  if constexpr (kChannels == 0) return (VecF)v;
  else return to_float((v >> (8 * c)) & 255);
}

// Interleaved bytes of one, three or four channels (kChannels), or floats of one channel (0). A gather fetches four
// bytes: all channels of a pixel. `limit` is the last offset where four bytes may be read; pixels after it are read
// from there and shifted down. Outputs [first, n).
template <int kChannels, bool kNearest, bool kInIntegers = false>
void gather_block(const AffineRows& rows, const AffineSource& s, const Positions& p, int first, int n, int32_t limit,
                  float* const* planes, int channel) {
  constexpr int kWidth = PENSTOCK_TARGET_FLOATS, kPlanes = kChannels ? kChannels : 1, kBytes = kChannels ? 1 : 4;
  const bool fills = AffineAccess::fills(rows);
  float fill[kPlanes];
  for (int c = 0; c < kPlanes; ++c) fill[c] = AffineAccess::fill(rows, channel + c);
  const auto last_x = static_cast<int32_t>(s.width) - 1, last_y = static_cast<int32_t>(s.height) - 1;
  const auto step_x = static_cast<int32_t>(s.stride_x) * kBytes, step_y = static_cast<int32_t>(s.stride_y) * kBytes;
  for (int i = first; i < n; i += kWidth) {
    VecI x0, y0;
    [[maybe_unused]] VecF wx, wy;
    std::memcpy(&x0, p.at[0] + i, sizeof x0), std::memcpy(&y0, p.at[1] + i, sizeof y0);
    if constexpr (!kInIntegers)
      std::memcpy(&wx, p.weight[0] + i, sizeof wx), std::memcpy(&wy, p.weight[1] + i, sizeof wy);
    constexpr bool kLimited = kChannels == 1 || kChannels == 3;
    if constexpr (kNearest) {
      const VecI cx = clamped(x0, last_x), cy = clamped(y0, last_y), bad = (x0 != cx) | (y0 != cy);
      const VecI at = cy * step_y + cx * step_x;
      request_ahead(s, at, step_y * p.downward);
      const VecI pixel = fetch<kLimited>(s.data, at, limit);
      for (int c = 0; c < kPlanes; ++c) {
        VecF v = channel_of<kChannels>(pixel, c);
        if (fills) v = bad ? repeated(fill[c]) : v;
        std::memcpy(planes[c] + i, &v, sizeof v);
      }
      continue;
    }
    ByteWeights weights;
    if constexpr (kInIntegers) weights.load(p, i);
    const VecI x1 = x0 + 1, y1 = y0 + 1;
    const VecI cx0 = clamped(x0, last_x), cx1 = clamped(x1, last_x);
    const VecI cy0 = clamped(y0, last_y), cy1 = clamped(y1, last_y);
    const VecI ox0 = cx0 * step_x, ox1 = cx1 * step_x, oy0 = cy0 * step_y, oy1 = cy1 * step_y;
    request_ahead(s, oy0 + ox0, step_y * p.downward);
    const VecI a = fetch<kLimited>(s.data, oy0 + ox0, limit), b = fetch<kLimited>(s.data, oy0 + ox1, limit);
    const VecI d = fetch<kLimited>(s.data, oy1 + ox0, limit), e = fetch<kLimited>(s.data, oy1 + ox1, limit);
    const VecI bad_x0 = x0 != cx0, bad_x1 = x1 != cx1, bad_y0 = y0 != cy0, bad_y1 = y1 != cy1;
    VecI bad = bad_x0 | bad_x1 | bad_y0 | bad_y1;
    bool any = false;
    if (fills)
      for (int k = 0; k < kWidth; ++k) any |= bad[k] != 0;
    for (int c = 0; c < kPlanes; ++c) {
      VecF va = channel_of<kChannels>(a, c), vb = channel_of<kChannels>(b, c);
      VecF vd = channel_of<kChannels>(d, c), ve = channel_of<kChannels>(e, c);
      if (any) {
        const VecF f = repeated(fill[c]);
        va = (bad_x0 | bad_y0) ? f : va, vb = (bad_x1 | bad_y0) ? f : vb;
        vd = (bad_x0 | bad_y1) ? f : vd, ve = (bad_x1 | bad_y1) ? f : ve;
      }
      VecF out;
      if constexpr (kInIntegers) out = weights.blend(va, vb, vd, ve);
      else out = lerp(lerp(va, vb, wx), lerp(vd, ve, wx), wy);
      std::memcpy(planes[c] + i, &out, sizeof out);
    }
  }
}

#include "cpu/affine_pixels.inc.h"

// The vector path if the source's type and strides allow it.
template <bool kNearest, bool kInIntegers = false>
bool gather_rows(const AffineRows& rows, const AffineSource& s, const Positions& p, int n, void* const* planes) {
  float* to[64];
  for (int c = 0; c < s.channels; ++c) to[c] = static_cast<float*>(planes[c]);
  if (p.axes != 2 || s.stride_x < 0 || s.stride_y < 0 || s.stride_c < 0) return false;
  const int64_t last = (s.height - 1) * s.stride_y + (s.width - 1) * s.stride_x;  // offset of the last pixel
  if constexpr (!kInIntegers) {
    if (s.dtype == DType::uint16 && pixel_rows<uint16_t, kNearest>(rows, s, p, n, to)) return true;
    if (s.dtype == DType::int16 && pixel_rows<int16_t, kNearest>(rows, s, p, n, to)) return true;
  }
  if (!kInIntegers && s.dtype == DType::float32 && last < (int64_t{1} << 29)) {
    constexpr bool kLoads = PENSTOCK_TARGET_FLOATS == 8 || !kNearest;  // where gathers are slower than loads
    if (kLoads && pixel_rows<float, kNearest>(rows, s, p, n, to)) return true;
    for (int c = 0; c < s.channels; ++c) {
      AffineSource one = s;
      one.data = static_cast<const float*>(s.data) + c * s.stride_c;
      gather_block<0, kNearest>(rows, one, p, 0, n, 0, to + c, c);
    }
    return true;
  }
  if (s.dtype != DType::uint8) return false;
  const bool together = s.stride_c == 1 && s.stride_x >= s.channels && (s.channels == 3 || s.channels == 4);
  const int64_t limit = last + (together ? s.channels : 1) - 4;
  if (limit < 0) return false;
  const auto end = static_cast<int32_t>(limit);
  if (together && s.channels == 3) gather_block<3, kNearest, kInIntegers>(rows, s, p, 0, n, end, to, 0);
  else if (together) gather_block<4, kNearest, kInIntegers>(rows, s, p, 0, n, end, to, 0);
  else
    for (int c = 0; c < s.channels; ++c) {
      AffineSource one = s;
      one.data = static_cast<const uint8_t*>(s.data) + c * s.stride_c;
      gather_block<1, kNearest, kInIntegers>(rows, one, p, 0, n, end, to + c, c);
    }
  return true;
}
#endif

inline void nearest_block(const AffineRows& rows, const AffineSource& s, const int64_t* extent, const Positions& p,
                          int n, void* const* planes) {
  auto load = [&](auto tag) {
    using V = typename decltype(tag)::type;
    V* to[64];
    for (int c = 0; c < s.channels; ++c) to[c] = static_cast<V*>(planes[c]);
    load_tap<V>(rows, s, AffineAccess::lane(rows), extent, p, 0, n, to);
  };
  switch (AffineAccess::lane(rows)) {
    case Lane::f32: return load(TypeTag<float>{});
    case Lane::f64: return load(TypeTag<double>{});
    case Lane::i32: return load(TypeTag<int32_t>{});
    case Lane::i64: return load(TypeTag<int64_t>{});
    case Lane::u64: return load(TypeTag<uint64_t>{});
  }
}

// An infinite fill, or NaN, is the result wherever it has a share: a blend would make NaN of it.
template <class V>
void cover(const AffineRows& rows, const AffineSource& s, const int64_t* extent, const Positions& p, int n,
           V* const* planes) {
  int32_t outside[kBlock] = {};
  for (int a = 0; a < p.axes; ++a) {
    const V* weight = weights<V>(p, a);
    for (int i = 0; i < n; ++i) {
      const int64_t at = p.at[a][i];
      outside[i] |= at < 0 || at + (weight[i] != 0) >= extent[a];
    }
  }
  put_fill(rows, s.channels, outside, n, planes);
}

inline void row(const AffineRows& rows, const AffineSource& s, AffineOutputs outputs, int64_t y, int64_t z, int64_t n,
                void* const* planes) {
  const AffineMap& map = AffineAccess::map(rows);
  const Lane lane = AffineAccess::lane(rows);
  const int64_t extent[3] = {s.width, s.height, s.depth};
  const bool nearest = map.kind == FilterKind::nearest, in_integers = AffineAccess::in_integers(rows);
  Positions p;
  for (int64_t i = 0; i < n; i += kBlock) {
    const int count = static_cast<int>(std::min<int64_t>(kBlock, n - i));
    void* to[64];
    for (int c = 0; c < s.channels; ++c)
      to[c] = static_cast<char*>(planes[c]) + i * static_cast<int64_t>(lane_size(lane));
    // Whole vectors: positions past the end are also computed, and their values go to the spare room of the planes.
    find_positions(map, {outputs.x + outputs.step * i, outputs.step}, y, z, std::min(kBlock, (count + 15) / 16 * 16),
                   nearest, lane != Lane::f32, in_integers, p);
    if (nearest) {
#if PENSTOCK_TARGET_FLOATS
      if (lane == Lane::f32 && gather_rows<true>(rows, s, p, count, to)) continue;
#endif
      nearest_block(rows, s, extent, p, count, to);
    } else if (lane == Lane::f32) {
      bool done = false;
#if PENSTOCK_TARGET_FLOATS
      done = in_integers ? gather_rows<false, true>(rows, s, p, count, to) : gather_rows<false>(rows, s, p, count, to);
#endif
      float* f[64];
      for (int c = 0; c < s.channels; ++c) f[c] = static_cast<float*>(to[c]);
      if (!done) linear_block<float>(rows, s, Lane::f32, extent, p, count, f);
      if (AffineAccess::covers(rows)) cover<float>(rows, s, extent, p, count, f);
    } else if (lane == Lane::f64) {
      double* f[64];
      for (int c = 0; c < s.channels; ++c) f[c] = static_cast<double*>(to[c]);
      linear_block<double>(rows, s, Lane::f64, extent, p, count, f);
      if (AffineAccess::covers(rows)) cover<double>(rows, s, extent, p, count, f);
    } else {  // wide integers: in double, then rounded
      double room[kBlock];
      AffineSource one = s;
      one.channels = 1;
      for (int c = 0; c < s.channels; ++c) {
        double* f[1] = {room};
        one.data = static_cast<const char*>(s.data) + c * s.stride_c * static_cast<int64_t>(size_of(s.dtype));
        linear_block<double>(rows, one, Lane::f64, extent, p, count, f, c);
        AffineAccess::convert(rows).lane[static_cast<int>(Lane::f64)][static_cast<int>(lane)](room, to[c], count);
      }
    }
  }
}
