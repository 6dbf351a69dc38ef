// SPDX-License-Identifier: Apache-2.0
// Rows of the nearest pixels where nothing else is done with them: copies of their bytes. Included by
// affine_rows.inc.h.

// Outputs [first, first + n) of a block. `small`: offsets in bytes fit 32 bits.
template <int kBytes>
inline void copy_group(const AffineSource& s, const Positions& p, int first, int n, const char* fill, bool small,
                       char* to) {
  const auto bytes = static_cast<int64_t>(size_of(s.dtype)), pixel = bytes * s.channels;
  const int32_t *at_x = p.at[0] + first, *at_y = p.at[1] + first;
  const auto last_x = static_cast<int32_t>(s.width) - 1, last_y = static_cast<int32_t>(s.height) - 1;
  int32_t outside = 0, before_last = s.stride_x < 0 || s.stride_y < 0 ? -1 : 0;
  for (int i = 0; i < n; ++i) {
    const int32_t x = at_x[i], y = at_y[i];
    outside |= x | y | (last_x - x) | (last_y - y);  // negative
    before_last |= last_y - 1 - y;
  }
  const char* in = static_cast<const char*>(s.data);
  if (outside >= 0 && small && kBytes != 0) {
    const auto step_x = static_cast<int32_t>(s.stride_x * bytes), step_y = static_cast<int32_t>(s.stride_y * bytes);
    alignas(64) int32_t offset[kNearestGroup];
    for (int i = 0; i < n; ++i) offset[i] = at_y[i] * step_y + at_x[i] * step_x;
    request_rows_ahead<pixels_of_request(kBytes)>(in, step_y * p.downward, offset, n);
    return copy_nearest<kBytes>(in, offset, before_last >= 0, n, to);
  }
  for (int i = 0; i < n; ++i, to += pixel) {
    const int32_t x = std::clamp(at_x[i], 0, last_x), y = std::clamp(at_y[i], 0, last_y);
    const bool filled = fill && (x != at_x[i] || y != at_y[i]);
    std::memcpy(to, filled ? fill : in + (y * s.stride_y + x * s.stride_x) * bytes, static_cast<size_t>(pixel));
  }
}
template <int kBytes>
void copy_block(const AffineSource& s, const Positions& p, int n, const char* fill, bool small, char* to) {
  const auto pixel = static_cast<int64_t>(size_of(s.dtype)) * s.channels;
  for (int i = 0; i < n; i += kNearestGroup)
    copy_group<kBytes>(s, p, i, std::min(kNearestGroup, n - i), fill, small, to + i * pixel);
}

inline void copied_row(const AffineRows& rows, const AffineSource& s, AffineOutputs outputs, int64_t y, int64_t n,
                       const char* fill, char* out) {
  const auto bytes = static_cast<int64_t>(size_of(s.dtype)), pixel = bytes * s.channels;
  const int64_t span = (s.height - 1) * std::abs(s.stride_y) + s.width * std::abs(s.stride_x);
  const bool small = span < (int64_t{1} << 31) / bytes;
  Positions p;
  for (int64_t i = 0; i < n; i += kBlock, out += kBlock * pixel) {
    const int count = static_cast<int>(std::min<int64_t>(kBlock, n - i));
    find_positions(AffineAccess::map(rows), {outputs.x + outputs.step * i, outputs.step}, y, 0, count, true, false,
                   false, p);
    switch (pixel) {
      case 1: copy_block<1>(s, p, count, fill, small, out); break;
      case 2: copy_block<2>(s, p, count, fill, small, out); break;
      case 3: copy_block<3>(s, p, count, fill, small, out); break;
      case 4: copy_block<4>(s, p, count, fill, small, out); break;
      case 6: copy_block<6>(s, p, count, fill, small, out); break;
      case 8: copy_block<8>(s, p, count, fill, small, out); break;
      case 12: copy_block<12>(s, p, count, fill, small, out); break;
      case 16: copy_block<16>(s, p, count, fill, small, out); break;
      default: copy_block<0>(s, p, count, fill, small, out);
    }
  }
}
