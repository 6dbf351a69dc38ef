// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/frame_formats.h"

#include <algorithm>
#include <cmath>

#include "ops/shared/frame_conversion.h"

namespace penstock {

using F = ColorFormat;

static bool is_planar(F f) { return f == F::i420 || f == F::yv12; }
static bool is_side_by_side(F f) { return f == F::yuyv || f == F::uyvy || f == F::yvyu; }
static bool has_half_rows(F f) { return f == F::nv12 || f == F::nv21 || is_planar(f); }

FrameShape frame_shape(F f) {
  if (f == F::gray) return {1, 1, 1};
  if (has_alpha(f)) return {4, 1, 1};
  if (is_side_by_side(f) || f == F::bgr565 || f == F::bgr555) return {2, 1, 1};
  if (has_half_rows(f)) return {1, 3, 2};
  if (f == F::nv16) return {1, 2, 1};
  if (f == F::nv24) return {1, 3, 1};
  return {3, 1, 1};
}

Halves halves_of(F f) { return {is_frame(f) && f != F::nv24, has_half_rows(f)}; }

int plane_count(F f) { return !is_frame(f) || is_side_by_side(f) ? 1 : is_planar(f) ? 3 : 2; }

void check_extents(F f, PixelExtents e) {
  if (!is_frame(f) || f == F::nv24) return;
  if (e.width % 2 != 0) bad_argument("{} has pairs of pixels: the width must be even, got {}", name_of(f), e.width);
  if (has_half_rows(f) && e.height % 2 != 0)
    bad_argument("{} has pairs of rows: the height must be even, got {}", name_of(f), e.height);
}

PixelExtents pixels_of(F f, int64_t rows, int64_t columns) {
  const FrameShape s = frame_shape(f);
  if (rows % s.rows != 0)
    bad_argument("a sample of {} has {} rows for {} of its pixels, luma before chroma: {} rows are not a picture",
                 name_of(f), s.rows, s.of_rows, rows);
  const PixelExtents e{rows / s.rows * s.of_rows, columns};
  check_extents(f, e);
  return e;
}

namespace {

const char* moved(const void* from, int64_t elements, size_t element) {
  return static_cast<const char*>(from) + elements * static_cast<int64_t>(element);
}

frame::Side colors_side(F f, const void* base, PixelExtents e, size_t element) {
  const int channels = frame_shape(f).channels;
  frame::Side s{};
  for (int p = 0; p < 4; ++p) {
    const int at = channels == 1 ? 0 : p == 3 ? channels - 1 : is_blue_first(f) ? 2 - p : p;
    s.plane[p] = moved(base, std::min(at, channels - 1), element);
    s.pitch[p] = e.width * channels, s.step[p] = channels;
  }
  s.kind = channels == 1 ? frame::gray : frame::colors, s.channels = channels;
  return s;
}

frame::Side bits_side(F f, const void* base, PixelExtents e) {
  frame::Side s{};
  for (int p = 0; p < 4; ++p) s.plane[p] = moved(base, p == 1, 1), s.pitch[p] = 2 * e.width, s.step[p] = 2;
  s.kind = f == F::bgr565 ? frame::bits565 : frame::bits555, s.channels = 3;
  return s;
}

frame::Side packed_chroma(F f, const void* base, PixelExtents e) {
  struct Order {
    int y, u, v;
  };
  const Order o = f == F::yuyv ? Order{0, 1, 3} : f == F::uyvy ? Order{1, 0, 2} : Order{0, 3, 1};
  const int at[4] = {o.y, o.u, o.v, o.y};
  frame::Side s{};
  for (int p = 0; p < 4; ++p) {
    s.plane[p] = moved(base, at[p], 1);
    s.pitch[p] = 2 * e.width, s.step[p] = p == 0 ? 2 : 4;
  }
  return s;
}

}  // namespace

frame::Side frame_side(F f, std::array<const void*, 3> planes, int count, PixelExtents e, size_t element) {
  if (!is_frame(f))
    return f == F::bgr565 || f == F::bgr555 ? bits_side(f, planes[0], e) : colors_side(f, planes[0], e, element);
  frame::Side s{};
  if (is_side_by_side(f)) {
    s = packed_chroma(f, planes[0], e);
  } else {
    const int64_t across = e.width >> halves_of(f).x, down = e.height >> halves_of(f).y;
    s.plane[0] = s.plane[3] = planes[0], s.pitch[0] = e.width, s.step[0] = 1;
    const void* first = count > 1 ? planes[1] : moved(planes[0], e.height * e.width, 1);
    const void* second = !is_planar(f) ? moved(first, 1, 1) : count > 2 ? planes[2] : moved(first, down * across, 1);
    for (int p = 1; p < 3; ++p) s.pitch[p] = is_planar(f) ? across : 2 * across, s.step[p] = is_planar(f) ? 1 : 2;
    const bool turned = f == F::nv21 || f == F::yv12;
    s.plane[1] = turned ? second : first, s.plane[2] = turned ? first : second;
  }
  s.half_x = halves_of(f).x, s.half_y = halves_of(f).y, s.kind = frame::chroma, s.channels = 1;
  return s;
}

// OpenCV has BT.601 of limited range, with constants of few digits; for pairs of pixels, of its own.
static void use_constants_of_opencv(F f, frame::Matrix& m) {
  m.luma = 1220542, m.red_of_v = 1673527, m.green_of_u = -409993, m.green_of_v = -852492, m.blue_of_u = 2116026;
  static constexpr int32_t kWide[3][3] = {
      {269484, 528482, 102760}, {-155188, -305135, 460324}, {460324, -385875, -74448}};
  static constexpr int32_t kOfPairs[3][3] = {{4211, 8258, 1606}, {-2424, -4768, 7192}, {7192, -6030, -1164}};
  const auto& w = is_side_by_side(f) ? kOfPairs : kWide;
  std::copy_n(w[0], 3, m.y), std::copy_n(w[1], 3, m.u), std::copy_n(w[2], 3, m.v);
}

frame::Matrix frame_matrix(const ColorArguments& a, F f) {
  const LumaWeights k = luma_weights(a);
  const bool limited = is_limited(a);
  const double one = 1 << 20, y = limited ? 219.0 / 255 : 1, c = limited ? 224.0 / 255 : 1;
  const auto number = [&](double v) { return static_cast<int32_t>(std::lround(v * one)); };
  const double red = 2 * (1 - k.red), blue = 2 * (1 - k.blue), green = k.green();
  frame::Matrix m{};
  m.luma = number(1 / y), m.black = limited ? 16 : 0, m.bits = 20;
  m.red_of_v = number(red / c), m.blue_of_u = number(blue / c);
  m.green_of_u = number(-blue * k.blue / green / c), m.green_of_v = number(-red * k.red / green / c);
  const double weights[3] = {k.red, green, k.blue};
  for (int i = 0; i < 3; ++i) {
    m.y[i] = number(weights[i] * y);
    m.u[i] = number(((i == 2) - weights[i]) / blue * c), m.v[i] = number(((i == 0) - weights[i]) / red * c);
  }
  const bool known = limited && a.color_spec == "BT.601";
  if (known) use_constants_of_opencv(f, m);
  // Sums to luma and chroma of pairs have fewer bits there; those to colors do not.
  if (known && is_side_by_side(f) && a.to() == f) m.bits = 14;
  m.y_offset = (m.black << m.bits) + (1 << (m.bits - 1));
  m.c_offset = (128 << m.bits) + (1 << (m.bits - 1));
  return m;
}

// An address that distances are counted from: nothing is read.
static const char* origin() { return reinterpret_cast<const char*>(uintptr_t{1} << 20); }

frame::FrameRow FrameConversion::row(const frame::Side& in, const void* out, PixelExtents e, size_t element) const {
  frame::FrameRow r{};
  r.in = in, r.out = frame_side(to, {out}, 1, e, element);
  r.height = e.height, r.width = e.width, r.matrix = matrix;
  r.first_of_two = halves_of(to).y;
  return r;
}

FrameFormat FrameConversion::format() const {
  const frame::Side s = frame_side(from, {origin()}, 1, {2, 2}, 1);
  FrameFormat f;
  f.kind = static_cast<frame::Kind>(s.kind);
  f.half_x = s.half_x, f.half_y = s.half_y;
  f.step = s.step[0], f.chroma_step = s.step[1];
  f.channels = frame_shape(to).channels, f.blue_first = is_blue_first(to);
  f.matrix = matrix;
  return f;
}

FramePlanes FrameConversion::planes(PixelExtents e) const {
  const frame::Side s = frame_side(from, {origin()}, 1, e, 1);
  FramePlanes p{};
  for (int k = 0; k < 3; ++k) p.plane[k] = static_cast<const char*>(s.plane[k]) - origin(), p.pitch[k] = s.pitch[k];
  p.frame = rows_of(from, e.height) * e.width * frame_shape(from).channels;
  return p;
}

void FrameConversion::convert(const void* in, PixelExtents e, const FrameRegion& region, uint8_t* pixels,
                              int64_t pitch) const {
  frame::Side s = frame_side(from, {in}, 1, e, 1);
  for (int k = 0; k < 4; ++k) {
    const bool halved = s.kind == frame::chroma && (k == 1 || k == 2);
    s.plane[k] = moved(s.plane[k], (region.x >> (halved ? s.half_x : 0)) * s.step[k], 1);
  }
  frame::FrameRow r = row(s, pixels, {region.y + region.height, region.width}, 1);
  for (int k = 0; k < 4; ++k) {
    r.out.pitch[k] = pitch;
    r.out.plane[k] = moved(r.out.plane[k], -region.y * pitch, 1);
  }
  frame::frame_rows(best_target(), DType::uint8, r, region.y);
}

}  // namespace penstock
