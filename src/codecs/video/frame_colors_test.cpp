// SPDX-License-Identifier: Apache-2.0
// Compares the arithmetic that GPUs use for frames with libswscale, which the CPU uses.
#include "codecs/video/frame_colors.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace penstock {
namespace {

using namespace ffmpeg;

constexpr int kRoom = 64;  // libswscale writes past the end of a row

int format_of(const std::string& name) {
  for (int f = 0; f < 400; ++f)
    if (const char* known = library().av_get_pix_fmt_name(f); known && name == known) return f;
  return -1;
}

// Planes of 8 or 16 bits with gaps between the rows.
struct Picture {
  Picture(int w, int h, int bits, uint32_t seed) : width(w), height(h), bits(bits) {
    std::mt19937 random(seed);
    const int sizes[3][2] = {{w, h}, {(w + 1) / 2, h / 2}, {(w + 1) / 2, h / 2}};
    for (int p = 0; p < 3; ++p) {
      stride[p] = sizes[p][0] + kRoom;
      plane[p].resize(static_cast<size_t>(stride[p] * sizes[p][1]));
      for (auto& v : plane[p]) v = static_cast<uint16_t>(random() & ((1u << bits) - 1));
      bytes[p].assign(plane[p].begin(), plane[p].end());
    }
  }
  int width, height, bits, stride[3];
  std::vector<uint16_t> plane[3];
  std::vector<uint8_t> bytes[3];
  int at(int p, int y, int x) const { return plane[p][static_cast<size_t>(y * stride[p] + x)]; }
};

std::vector<uint8_t> by_swscale(const Picture& in, int64_t matrix, bool full) {
  const Library& lib = library();
  const std::string name = in.bits == 8 ? "yuv420p" : "yuv420p" + std::to_string(in.bits) + "le";
  Scaler* scaler = lib.sws_getContext(in.width, in.height, format_of(name), in.width, in.height, kRgb24, kBicubic,
                                      nullptr, nullptr, nullptr);
  lib.sws_setColorspaceDetails(scaler, matrix_numbers(matrix), full, lib.sws_getCoefficients(5), 0, 0, 1 << 16,
                               1 << 16);
  const int row = in.width * 3 + kRoom;
  std::vector<uint8_t> out(static_cast<size_t>(row * in.height));
  const uint8_t* from[4]{};
  int strides[4]{};
  for (int p = 0; p < 3; ++p) {
    from[p] = in.bits == 8 ? in.bytes[p].data() : reinterpret_cast<const uint8_t*>(in.plane[p].data());
    strides[p] = in.stride[p] * (in.bits == 8 ? 1 : 2);
  }
  uint8_t* const to[4] = {out.data()};
  const int to_strides[4] = {row};
  EXPECT_EQ(lib.sws_scale(scaler, from, strides, 0, in.height, to, to_strides), in.height);
  lib.sws_freeContext(scaler);
  std::vector<uint8_t> dense;
  for (int y = 0; y < in.height; ++y)
    dense.insert(dense.end(), out.begin() + y * row, out.begin() + y * row + in.width * 3);
  return dense;
}

std::vector<uint8_t> by_ours(const Picture& in, int64_t matrix, bool full) {
  const YuvRgb m = make_yuv_rgb(matrix_numbers(matrix), full);
  std::vector<uint8_t> out;
  const int up = 15 - in.bits, rows = in.height / 2;
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      int32_t rgb[3];
      if (in.bits == 8) {
        yuv8_to_rgb(m, in.at(0, y, x), in.at(1, y / 2, x / 2), in.at(2, y / 2, x / 2), rgb);
      } else {
        const ChromaTaps taps = chroma_taps(y);
        int32_t u = 0, v = 0;
        for (int k = 0; k < 4; ++k) {
          const int row = std::clamp(taps.first + k, 0, rows - 1);
          u += taps.weight[k] * (in.at(1, row, x / 2) << up), v += taps.weight[k] * (in.at(2, row, x / 2) << up);
        }
        deep_to_rgb(m, luma_of_deep(in.at(0, y, x), in.bits), chroma_of_deep(u), chroma_of_deep(v), rgb);
      }
      for (const int32_t c : rgb) out.push_back(static_cast<uint8_t>(c));
    }
  return out;
}

struct FrameCase {
  int bits, width, height;
};
class FrameColors : public testing::TestWithParam<FrameCase> {};

TEST_P(FrameColors, AreThoseOfSwscale) {
  const FrameCase c = GetParam();
  for (const int64_t matrix : {0, 1, 2, 4, 5, 6, 7, 8, 9, 10})
    for (const bool full : {false, true}) {
      const Picture picture(c.width, c.height, c.bits, static_cast<uint32_t>(c.width * 1000 + matrix));
      EXPECT_EQ(by_ours(picture, matrix, full), by_swscale(picture, matrix, full))
          << matrix << (full ? " full" : " narrow");
    }
}
INSTANTIATE_TEST_SUITE_P(EightBits, FrameColors,
                         testing::Values(FrameCase{8, 320, 180}, FrameCase{8, 1, 2}, FrameCase{8, 97, 64},
                                         FrameCase{8, 33, 2}));
INSTANTIATE_TEST_SUITE_P(MoreBits, FrameColors,
                         testing::Values(FrameCase{10, 320, 180}, FrameCase{10, 66, 16}, FrameCase{12, 98, 64},
                                         FrameCase{10, 2, 18}));

// Every value of a sample, with chroma from end to end.
TEST(FrameColors, OfEveryByte) {
  Picture picture(512, 512, 8, 1);
  for (const bool full : {false, true})
    for (int base = 0; base < 256; base += 4) {
      for (int y = 0; y < 512; ++y)
        for (int x = 0; x < 512; ++x) {
          const int value = base + x % 2 + y % 2 * 2;
          picture.bytes[0][static_cast<size_t>(y * picture.stride[0] + x)] = static_cast<uint8_t>(value);
          picture.plane[0][static_cast<size_t>(y * picture.stride[0] + x)] = static_cast<uint16_t>(value);
          for (const int p : {1, 2}) {
            const size_t at = static_cast<size_t>(y / 2 * picture.stride[p] + x / 2);
            picture.plane[p][at] = static_cast<uint16_t>(p == 1 ? x / 2 : y / 2);
            picture.bytes[p][at] = static_cast<uint8_t>(picture.plane[p][at]);
          }
        }
      ASSERT_EQ(by_ours(picture, 1, full), by_swscale(picture, 1, full)) << base;
    }
}

}  // namespace
}  // namespace penstock
