// SPDX-License-Identifier: Apache-2.0
// Upsampling and color in plain C++: the reference for the other targets.

// Chroma of pixel i of a row.
template <Upsampling kUp>
inline int chroma(const ColorRow& row, const uint8_t* near, const uint8_t* far, int32_t i) {
  constexpr bool kHorizontal = kUp != Upsampling::none && kUp != Upsampling::fancy_h1v2;
  const int32_t at = kHorizontal ? i + row.odd : i, c = kHorizontal ? at / 2 : at;
  if constexpr (kUp == Upsampling::none || kUp == Upsampling::box_h2) return near[c];
  if constexpr (kUp == Upsampling::fancy_h1v2) return (3 * near[c] + far[c] + (row.far_below ? 2 : 1)) >> 2;
  const int32_t beside = at & 1 ? std::min(c + 1, row.chroma_columns - 1) : c > 0 || row.left ? c - 1 : c;
  if constexpr (kUp == Upsampling::fancy_h2v1) return (3 * near[c] + near[beside] + (at & 1 ? 2 : 1)) >> 2;
  return (3 * (3 * near[c] + far[c]) + 3 * near[beside] + far[beside] + (at & 1 ? 7 : 8)) >> 4;
}

inline uint8_t clamp_sample(int v) { return static_cast<uint8_t>(std::clamp(v, 0, 255)); }

template <Upsampling kUp, RowOutput kOut>
static void color_row(const ColorRow& row, uint8_t* const* out) {
  for (int32_t i = 0; i < row.width; ++i) {
    const int y = row.luma[i];
    const int cb = chroma<kUp>(row, row.cb, row.cb_far, i), cr = chroma<kUp>(row, row.cr, row.cr_far, i);
    uint8_t v[3] = {static_cast<uint8_t>(y), static_cast<uint8_t>(cb), static_cast<uint8_t>(cr)};
    if constexpr (kOut != RowOutput::ycc_planar) {
      const int b = cb - 128, r = cr - 128;  // JFIF's factors times 65536, rounded: 1.402, 0.344136, 0.714136, 1.772
      v[0] = clamp_sample(y + ((91881 * r + 32768) >> 16));
      v[1] = clamp_sample(y + ((-22554 * b - 46802 * r + 32768) >> 16));
      v[2] = clamp_sample(y + ((116130 * b + 32768) >> 16));
    }
    if constexpr (kOut == RowOutput::rgb || kOut == RowOutput::bgr) {
      for (int k = 0; k < 3; ++k) out[0][3 * i + k] = v[kOut == RowOutput::bgr ? 2 - k : k];
    } else {
      for (int k = 0; k < 3; ++k) out[k][i] = v[k];
    }
  }
}

inline void gray_row(const uint8_t* luma, int32_t width, uint8_t* out) {
  for (int32_t i = 0; i < width; ++i) out[3 * i] = out[3 * i + 1] = out[3 * i + 2] = luma[i];
}
