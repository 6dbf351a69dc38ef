// SPDX-License-Identifier: Apache-2.0
#include "codecs/orientation.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "codecs/pixel_rows.h"

namespace penstock {

namespace {

thread_local std::vector<uint8_t> turn_buffer;
constexpr size_t kKeptBytes = size_t{32} << 20;

// Which stored axis runs backward along the upright axes. 5 transposes, 6 rotates clockwise, 7 transposes along the
// other diagonal, 8 rotates counterclockwise (the operation to apply to the stored picture).
bool rows_reversed(int o) { return o == 3 || o == 4 || o == 6 || o == 7; }
bool columns_reversed(int o) { return o == 2 || o == 3 || o == 7 || o == 8; }

template <int kBytes>
void transpose_block(const uint8_t* from, int64_t row_step, int64_t height, int64_t width, int64_t pixel_bytes,
                     uint8_t* to, int64_t to_row, int64_t to_pixel) {
  constexpr int64_t kBlock = 32;  // both sides stay in L1
  const int64_t bytes = kBytes ? kBytes : pixel_bytes;
  for (int64_t y0 = 0; y0 < height; y0 += kBlock)
    for (int64_t x0 = 0; x0 < width; x0 += kBlock)
      for (int64_t x = x0; x < std::min(width, x0 + kBlock); ++x)
        for (int64_t y = y0; y < std::min(height, y0 + kBlock); ++y)
          std::memcpy(to + x * to_row + y * to_pixel, from + y * row_step + x * bytes, bytes);
}

}  // namespace

Region stored_region(int o, int64_t height, int64_t width, const Region& r) {
  Region s = r;
  int64_t stored_height = height, stored_width = width;
  if (transposes(o)) {
    s = {r.x, r.y, r.width, r.height};
    std::swap(stored_height, stored_width);
  }
  if (rows_reversed(o)) s.y = stored_height - s.y - s.height;
  if (columns_reversed(o)) s.x = stored_width - s.x - s.width;
  return s;
}

void transpose_upright(int o, const uint8_t* from, int64_t height, int64_t width, int64_t pixel_bytes,
                       const PixelSink& sink) {
  auto* to = static_cast<uint8_t*>(sink.data);
  int64_t row = sink.row_bytes, pixel = pixel_bytes;
  if (columns_reversed(o)) to += (width - 1) * row, row = -row;
  if (rows_reversed(o)) to += (height - 1) * pixel, pixel = -pixel;
  const int64_t step = width * pixel_bytes;
  switch (pixel_bytes) {
    case 1: return transpose_block<1>(from, step, height, width, 1, to, row, pixel);
    case 3: return transpose_block<3>(from, step, height, width, 3, to, row, pixel);
    default: return transpose_block<0>(from, step, height, width, pixel_bytes, to, row, pixel);
  }
}

uint8_t* orientation_buffer(int64_t bytes) {
  if (turn_buffer.size() < static_cast<size_t>(bytes)) turn_buffer.resize(bytes);
  return turn_buffer.data();
}

void release_orientation_buffer() {
  if (turn_buffer.size() <= kKeptBytes) return;
  turn_buffer.clear();
  turn_buffer.shrink_to_fit();
}

void reverse_rows(const PixelSink& sink, int64_t height, int64_t width, int64_t pixel_bytes) {
  for (int64_t y = 0; y < height; ++y)
    reverse_row(static_cast<uint8_t*>(sink.data) + y * sink.row_bytes, width, pixel_bytes);
}

}  // namespace penstock
