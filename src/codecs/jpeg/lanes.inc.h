// SPDX-License-Identifier: Apache-2.0
// Byte orders in a lane of 16 samples that has the eight even ones and then the eight odd ones.

struct Order {
  alignas(16) int8_t at[16];
  operator __m128i() const { return _mm_load_si128(reinterpret_cast<const __m128i*>(at)); }
};
constexpr Order zip_order() {  // back to 0 1 2 ...
  Order o = {};
  for (int i = 0; i < 16; ++i) o.at[i] = static_cast<int8_t>(i / 2 + i % 2 * 8);
  return o;
}
// 16 of a lane's 48 interleaved bytes, from 16 * part on: those of channel `channel`; zero elsewhere.
constexpr Order interleave_order(int part, int channel) {
  Order o = {};
  for (int i = 0; i < 16; ++i) {
    const int byte = 16 * part + i, sample = byte / 3;
    o.at[i] = static_cast<int8_t>(byte % 3 == channel ? sample / 2 + sample % 2 * 8 : -1);
  }
  return o;
}
constexpr Order kZip = zip_order();
constexpr Order kInterleave[3][3] = {{interleave_order(0, 0), interleave_order(0, 1), interleave_order(0, 2)},
                                     {interleave_order(1, 0), interleave_order(1, 1), interleave_order(1, 2)},
                                     {interleave_order(2, 0), interleave_order(2, 1), interleave_order(2, 2)}};

// The same with one shuffle per channel: sample i of channel c goes to byte (3 i + c) modulo 16, in part (3 i + c) /
// 16. 3 has an inverse modulo 16, so that each byte gets one sample, and the parts are blends of three registers.
constexpr Order scatter_order(int channel) {
  Order o = {};
  for (int i = 0; i < 16; ++i) o.at[(3 * i + channel) % 16] = static_cast<int8_t>(i / 2 + i % 2 * 8);
  return o;
}
constexpr Order part_mask(int part, int channel) {
  Order o = {};
  for (int i = 0; i < 16; ++i) o.at[i] = static_cast<int8_t>((16 * part + i) % 3 == channel ? -1 : 0);
  return o;
}
constexpr Order kScatter[3] = {scatter_order(0), scatter_order(1), scatter_order(2)};
constexpr Order kPartMask[3][2] = {
    {part_mask(0, 0), part_mask(0, 1)}, {part_mask(1, 0), part_mask(1, 1)}, {part_mask(2, 0), part_mask(2, 1)}};
