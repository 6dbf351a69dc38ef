// SPDX-License-Identifier: Apache-2.0
// Included once per target by tile_rows.cpp. Loads from tables are loops of their own, so that the compiler makes
// vectors of the others.
constexpr int64_t kPart = 256;  // pixels between two such loops

inline void lab_of(const LightnessRule::ColorTables& t, const uint8_t* rgb, uint8_t* light, int8_t* a, int8_t* b,
                   int64_t n) {
  int32_t v[3][kPart];
  for (int64_t begin = 0; begin < n; begin += kPart, rgb += 3 * kPart) {
    const int64_t count = n - begin < kPart ? n - begin : kPart;
    for (int64_t i = 0; i < count; ++i)
      for (int k = 0; k < 3; ++k) v[k][i] = t.linear[rgb[3 * i + k]];
    for (int64_t i = 0; i < count; ++i) {
      const int32_t red = v[0][i], green = v[1][i], blue = v[2][i];
      v[0][i] = (red * 1777 + green * 1541 + blue * 778 + 2048) >> 12;
      v[1][i] = (red * 871 + green * 2929 + blue * 296 + 2048) >> 12;
      v[2][i] = (red * 73 + green * 448 + blue * 3575 + 2048) >> 12;
    }
    for (int64_t i = 0; i < count; ++i)
      for (int k = 0; k < 3; ++k) v[k][i] = t.root[v[k][i]];
    for (int64_t i = 0; i < count; ++i) {
      const LightnessRule::Roots f{v[0][i], v[1][i], v[2][i]};
      light[begin + i] = static_cast<uint8_t>(LightnessRule::lightness(f));
      a[begin + i] = static_cast<int8_t>(LightnessRule::first_color(f));
      b[begin + i] = static_cast<int8_t>(LightnessRule::second_color(f));
    }
  }
}

inline void mix_row(const uint32_t* packed, const Columns& c, const uint8_t* in, uint8_t* out, int64_t n, int shift,
                    float w) {
  uint32_t words[kPart];
  const float v = 1 - w;
  for (int64_t begin = 0; begin < n; begin += kPart) {
    const int64_t count = n - begin < kPart ? n - begin : kPart;
    const int32_t* const first = c.first.data() + begin;
    const float *const left = c.left.data() + begin, *const right = c.right.data() + begin;
    for (int64_t i = 0; i < count; ++i) words[i] = packed[first[i] + (in[begin + i] >> shift)];
    for (int64_t i = 0; i < count; ++i) {
      const auto byte = [&](int k) { return static_cast<float>(static_cast<int32_t>(words[i] >> (8 * k) & 255)); };
      const float top = byte(0) * left[i] + byte(1) * right[i], bottom = byte(2) * left[i] + byte(3) * right[i];
      const float mixed = top * v + bottom * w;  // from 0 to 255, up to rounding
      // To the nearest whole number, of two the even one: it is in the low bits of this sum.
      const float sum = mixed + 12582912.0f;
      int32_t bits;
      std::memcpy(&bits, &sum, sizeof bits);
      out[begin + i] = static_cast<uint8_t>(bits);
    }
  }
}

inline void colors_of(const LightnessRule::ColorTables& t, const uint8_t* light, const int8_t* a, const int8_t* b,
                      uint8_t* rgb, int64_t n) {
  int32_t parts[3][kPart];
  for (int64_t begin = 0; begin < n; begin += kPart, rgb += 3 * kPart) {
    const int64_t count = n - begin < kPart ? n - begin : kPart;
    for (int64_t i = 0; i < count; ++i) {
      const LightnessRule::Linear v = LightnessRule::linear_of(light[begin + i], a[begin + i], b[begin + i]);
      parts[0][i] = LightnessRule::parts_of(v.r);
      parts[1][i] = LightnessRule::parts_of(v.g);
      parts[2][i] = LightnessRule::parts_of(v.b);
    }
    for (int64_t i = 0; i < count; ++i)
      for (int k = 0; k < 3; ++k) rgb[3 * i + k] = LightnessRule::srgb(t, parts[k][i]);
  }
}
