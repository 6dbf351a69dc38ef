// SPDX-License-Identifier: Apache-2.0
// Included once per target by frame_rows.cpp: rows of bytes go through planes in the cache, in runs of kRun pixels. The
// compiler vectorizes the arithmetic; shuffles take pixels of three bytes apart and join them.
struct Planes {
  alignas(64) uint8_t at[6][kRun + 64];  // colors, or luma and chroma
  alignas(64) uint8_t more[2 * kRun + 64];
};

#include "families/frame/frame_bytes.inc.h"

inline const uint8_t* bytes_at(const Side& s, int p, int64_t y, int64_t x) {
  return static_cast<const uint8_t*>(s.plane[p]) + y * s.pitch[p] + x * s.step[p];
}
inline bool is_before(const Side& s, int a, int b) {
  return static_cast<const char*>(s.plane[a]) < static_cast<const char*>(s.plane[b]);
}
// The first byte of what lies side by side: pixels of colors, pairs of chroma, or these with luma.
inline uint8_t* first_of(const Side& s, int64_t y, int64_t x, int from, int to) {
  const uint8_t* first = bytes_at(s, from, y, x);
  for (int p = from + 1; p < to; ++p) first = std::min(first, bytes_at(s, p, y, x));
  return const_cast<uint8_t*>(first);
}

// A run of pixels of three or four bytes as planes: red, green, blue, alpha.
inline void load_colors(const Side& s, int64_t y, int64_t x, int64_t n, Planes& p) {
  uint8_t* const first = first_of(s, y, x, 0, 3);
  const bool turned = is_before(s, 2, 0);
  uint8_t *const a = p.at[turned ? 2 : 0], *const c = p.at[turned ? 0 : 2];
  uint8_t* const planes[4] = {a, p.at[1], c, p.at[3]};
  if (s.channels == 4) split_four(first, planes, n);
  else split_three(first, a, p.at[1], c, n);
}
inline void store_colors(const Side& s, int64_t y, int64_t x, int64_t n, const Planes& p) {
  uint8_t* const first = first_of(s, y, x, 0, 3);
  const bool turned = is_before(s, 2, 0);
  const uint8_t* const planes[4] = {p.at[turned ? 2 : 0], p.at[1], p.at[turned ? 0 : 2], p.at[3]};
  if (s.channels == 4) join_four(planes, first, n);
  else join_three(planes[0], planes[1], planes[2], first, n);
}

#include "families/frame/frame_colors.inc.h"
#include "families/frame/frame_hue.inc.h"
#include "families/frame/frame_lab.inc.h"
#include "families/frame/frame_luma.inc.h"

inline void to_luma(const Matrix& m, const Planes& p, uint8_t* __restrict out, int64_t n) {
  const uint8_t* __restrict red = p.at[0], * __restrict green = p.at[1], * __restrict blue = p.at[2];
  const int32_t r = m.y[0], g = m.y[1], b = m.y[2], offset = m.y_offset, bits = m.bits;
  for (int64_t i = 0; i < n; ++i) out[i] = byte_of((red[i] * r + green[i] * g + blue[i] * b + offset) >> bits);
}
// Of n samples of chroma, each for one pixel, for the first of two, or for the mean of two.
enum class Shared : uint8_t { none, first, mean };
template <Shared shared>
inline void to_chroma(const int32_t (&w)[3], const Matrix& m, const Planes& p, uint8_t* __restrict out, int64_t n) {
  const uint8_t* __restrict red = p.at[0], * __restrict green = p.at[1], * __restrict blue = p.at[2];
  constexpr int kShift = shared == Shared::mean ? 1 : 0, kStep = shared == Shared::none ? 1 : 2;
  const int32_t r = w[0], g = w[1], b = w[2], offset = m.c_offset << kShift, bits = m.bits + kShift;
  const auto value = [](const uint8_t* from, int64_t i) {
    return shared == Shared::mean ? from[2 * i] + from[2 * i + 1] : from[kStep * i] + 0;
  };
  for (int64_t i = 0; i < n; ++i)
    out[i] = byte_of((value(red, i) * r + value(green, i) * g + value(blue, i) * b + offset) >> bits);
}
inline void store_chroma(const FrameRow& r, int64_t y, int64_t x, int64_t n, Planes& p) {
  const Side& s = r.out;
  const int64_t cx = x >> s.half_x, cy = y >> s.half_y, m = n >> s.half_x;
  const bool packed = s.step[0] == 2, pairs = s.step[1] != 1;
  uint8_t* const light = packed ? p.at[3] : first_of(s, y, x, 0, 1);
  to_luma(r.matrix, p, light, n);
  if (s.half_y && y % 2) return;
  uint8_t* const u = pairs ? p.at[4] : first_of(s, cy, cx, 1, 2);
  uint8_t* const v = pairs ? p.at[5] : first_of(s, cy, cx, 2, 3);
  const auto make = [&](const int32_t (&weights)[3], uint8_t* to) {
    if (!s.half_x) to_chroma<Shared::none>(weights, r.matrix, p, to, m);
    else if (r.first_of_two) to_chroma<Shared::first>(weights, r.matrix, p, to, m);
    else to_chroma<Shared::mean>(weights, r.matrix, p, to, m);
  };
  make(r.matrix.u, u), make(r.matrix.v, v);
  if (!pairs) return;
  const bool u_first = is_before(s, 1, 2);
  uint8_t* const to = packed ? p.more : first_of(s, cy, cx, 1, 3);
  join_two(u_first ? u : v, u_first ? v : u, to, m);
  if (!packed) return;
  const bool light_first = is_before(s, 0, 1) && is_before(s, 0, 2);
  uint8_t* const first = first_of(s, y, x, 0, 1) - (light_first ? 0 : 1);
  join_two(light_first ? light : to, light_first ? to : light, first, n);
}

// Luma whose rows follow each other on both sides: one copy.
inline bool copies_luma(const FrameRow& r) {
  return r.in.kind == chroma && r.out.kind == gray && r.in.step[0] == 1 && r.in.pitch[0] == r.width &&
         r.out.pitch[0] == r.width;
}

// Pixels of three or four bytes in another order, or with and without alpha. False: it is something else.
inline bool moves_bytes(const FrameRow& r, int64_t first, int64_t end) {
  if (r.in.kind != colors || r.out.kind != colors) return false;
  const bool turns = is_before(r.in, 0, 2) != is_before(r.out, 0, 2), same = r.in.channels == r.out.channels;
  if (same && (r.in.channels != 4 || !turns)) return false;
  // Rows that follow each other on both sides are one.
  const bool one =
      r.in.pitch[0] == r.width * r.in.channels && r.out.pitch[0] == r.width * r.out.channels && first < end;
  const int64_t n = one ? (end - first) * r.width : r.width;
  for (int64_t y = first; y < (one ? first + 1 : end); ++y) {
    const uint8_t* const from = first_of(r.in, y, 0, 0, 3);
    uint8_t* const to = first_of(r.out, y, 0, 0, 3);
    if (same) turn_four(from, to, n);
    else change_alpha(from, to, n, r.in.channels == 3, turns);
  }
  return true;
}

inline void convert_rows(const FrameRow& r, int64_t first, int64_t end) {
  if (moves_bytes(r, first, end)) return;
  if (copies_luma(r)) {
    std::memcpy(first_of(r.out, first, 0, 0, 1), bytes_at(r.in, 0, first, 0),
                static_cast<size_t>((end - first) * r.width));
    return;
  }
  Planes p;
  if (r.in.channels != 4) std::memset(p.at[3], 255, sizeof p.at[3]);
  for (int64_t y = first; y < end; ++y)
    for (int64_t x = 0; x < r.width; x += kRun) {
      const int64_t n = std::min(kRun, r.width - x);
      if (r.in.kind == chroma && r.out.kind == gray) {
        take_luma(r.in, y, x, n, first_of(r.out, y, x, 0, 1), p);
        continue;
      }
      if (r.in.kind == chroma) {
        const Run run = load_chroma(r.in, y, x, n, p);
        to_colors(r.matrix, run, p, n);
        if (r.out.channels == 4) std::memset(p.at[3], 255, static_cast<size_t>(n));
      } else {
        load_colors(r.in, y, x, n, p);
      }
      if (r.out.kind == gray) to_gray(p, first_of(r.out, y, x, 0, 1), n);
      else if (r.out.kind == chroma) store_chroma(r, y, x, n, p);
      else store_colors(r.out, y, x, n, p);
    }
}

// Whether convert_rows() has these formats.
inline bool has_loops(const FrameRow& r) {
  const bool in = r.in.kind == chroma || (r.in.kind == colors && r.in.step[0] == r.in.channels);
  const bool out = r.out.kind == gray || (r.out.kind == chroma && r.in.kind == colors) ||
                   (r.out.kind == colors && r.out.step[0] == r.out.channels);
  return in && out;
}
