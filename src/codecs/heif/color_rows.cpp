// SPDX-License-Identifier: Apache-2.0
#include "codecs/heif/color_rows.h"

#include <algorithm>

namespace penstock::heif {

namespace {

enum Matrix {
  kIdentity = 0,
  kBt709 = 1,
  kUnspecified = 2,
  kFcc = 4,
  kBt601a = 5,
  kBt601b = 6,
  kSmpte240 = 7,
  kYCgCo = 8,
  kBt2020 = 9
};

// Copies samples low to high of a row of chroma, or adds a second row to 3 times these.
template <class T>
void mix_rows(const Plane& p, int64_t near, int64_t far, bool both, int64_t low, int64_t high, int32_t* to) {
  const T* a = reinterpret_cast<const T*>(p.data + near * p.row_bytes);
  const T* b = reinterpret_cast<const T*>(p.data + far * p.row_bytes);
  for (int64_t x = low; x <= high; ++x) to[x - low] = both ? 3 * a[x * p.step] + b[x * p.step] : a[x * p.step];
}

template <class T> T rounded(float v, float top) { return static_cast<T>(std::min(std::max(v, 0.0f), top) + 0.5f); }

}  // namespace

ColorRows::ColorRows(const DecodedPart& color, const DecodedPart* alpha, const Region& region)
    : color_(color),
      alpha_(alpha),
      region_(region),
      channels_((color.chroma == Chroma::none ? 1 : 3) + (alpha ? 1 : 0)) {
  switch (color.colors.matrix) {
    case kBt709: kr_ = 0.2126f, kb_ = 0.0722f; break;
    case kUnspecified:
    case kBt601a:
    case kBt601b: break;
    case kFcc: kr_ = 0.30f, kb_ = 0.11f; break;
    case kSmpte240: kr_ = 0.212f, kb_ = 0.087f; break;
    case kBt2020: kr_ = 0.2627f, kb_ = 0.0593f; break;
    case kIdentity:
    case kYCgCo: break;
    default:
      if (color.chroma != Chroma::none) bad_data("HEIF: the color matrix {} is not supported", color.colors.matrix);
  }
  if (color.colors.matrix == kIdentity && color.chroma != Chroma::none && color.chroma != Chroma::full)
    bad_data("HEIF: the RGB planes differ in size");
}

const uint16_t* ColorRows::samples(const DecodedPart& p, int plane, int64_t y, std::vector<uint16_t>& to) {
  const uint8_t* row = p.planes[plane].data + (y - p.part.y) * p.planes[plane].row_bytes;
  const int64_t x = region_.x - p.part.x;
  to.resize(region_.width);
  if (p.bits > 8) std::copy_n(reinterpret_cast<const uint16_t*>(row) + x, region_.width, to.data());
  else std::copy_n(row + x, region_.width, to.data());
  return to.data();
}

const uint16_t* ColorRows::upsampled(int plane, int64_t y, std::vector<uint16_t>& to) {
  const DecodedPart& p = color_;
  if (p.chroma == Chroma::full) return samples(p, plane, y, to);
  const Plane& from = p.planes[plane];
  const bool wide = p.bits > 8, both = p.chroma == Chroma::half_both;
  const int64_t first = region_.x - p.part.x, last = first + region_.width - 1;  // columns of the part
  const int64_t low = std::max<int64_t>(first / 2 - 1, 0), high = std::min(last / 2 + 1, from.width - 1);
  mixed_.resize(high - low + 3);
  const auto mixed = [&](int64_t x) -> int32_t& {
    return mixed_[x - low + 1];
  };  // by column, with one more at both ends
  const int64_t row = y - p.part.y, near = both ? row / 2 : row;
  const int64_t far = both ? std::clamp<int64_t>(row & 1 ? near + 1 : near - 1, 0, from.height - 1) : near;
  (wide ? mix_rows<uint16_t> : mix_rows<uint8_t>)(from, near, far, both, low, high, &mixed(low));
  mixed(low - 1) = mixed(low), mixed(high + 1) = mixed(high);
  const int shift = both ? 4 : 2, half = both ? 8 : 2;
  to.resize(region_.width);
  for (int64_t x = first; x <= last; ++x)
    to[x - first] = static_cast<uint16_t>((3 * mixed(x / 2) + mixed(x / 2 + (x & 1 ? 1 : -1)) + half) >> shift);
  return to.data();
}

template <class T>
void ColorRows::convert(int64_t y) {
  const DecodedPart& p = color_;
  const int64_t width = region_.width;
  row_.resize((width * channels_ * sizeof(T) + 1) / 2);
  T* out = reinterpret_cast<T*>(row_.data());
  const float top = sizeof(T) == 1 ? 255 : 65535, most = static_cast<float>((1 << p.bits) - 1),
              step = static_cast<float>(1 << (p.bits - 8));
  const bool full = p.colors.full_range;
  const float low = full ? 0 : 16 * step, scale = top / (full ? most : 219 * step);
  const float middle = 128 * step, chroma_scale = top / (full ? most : 224 * step);
  const uint16_t* l = samples(p, 0, y, luma_);
  const int n = channels_;
  if (p.chroma == Chroma::none) {
    for (int64_t i = 0; i < width; ++i) out[i * n] = rounded<T>((l[i] - low) * scale, top);
  } else {
    const uint16_t *b = upsampled(1, y, chroma_[0]), *r = upsampled(2, y, chroma_[1]);
    if (p.colors.matrix == kIdentity) {
      for (int64_t i = 0; i < width; ++i) {
        out[i * n] = rounded<T>((r[i] - low) * scale, top);
        out[i * n + 1] = rounded<T>((l[i] - low) * scale, top);
        out[i * n + 2] = rounded<T>((b[i] - low) * scale, top);
      }
    } else if (p.colors.matrix == kYCgCo) {
      for (int64_t i = 0; i < width; ++i) {
        const float luma = (l[i] - low) * scale, green = (b[i] - middle) * chroma_scale,
                    orange = (r[i] - middle) * chroma_scale;
        out[i * n] = rounded<T>(luma - green + orange, top);
        out[i * n + 1] = rounded<T>(luma + green, top);
        out[i * n + 2] = rounded<T>(luma - green - orange, top);
      }
    } else {
      const float to_red = 2 * (1 - kr_), to_blue = 2 * (1 - kb_), kg = 1 - kr_ - kb_;
      const float blue_to_green = to_blue * kb_ / kg, red_to_green = to_red * kr_ / kg;
      for (int64_t i = 0; i < width; ++i) {
        const float luma = (l[i] - low) * scale, blue = (b[i] - middle) * chroma_scale,
                    red = (r[i] - middle) * chroma_scale;
        out[i * n] = rounded<T>(luma + to_red * red, top);
        out[i * n + 1] = rounded<T>(luma - blue_to_green * blue - red_to_green * red, top);
        out[i * n + 2] = rounded<T>(luma + to_blue * blue, top);
      }
    }
  }
  if (!alpha_) return;
  const uint16_t* a = samples(*alpha_, 0, y, opacity_);
  const bool all = alpha_->colors.full_range;
  const float unit = static_cast<float>(1 << (alpha_->bits - 8)), from = all ? 0 : 16 * unit;
  const float to_top = top / (all ? static_cast<float>((1 << alpha_->bits) - 1) : 219 * unit);
  for (int64_t i = 0; i < width; ++i) out[i * n + n - 1] = rounded<T>((a[i] - from) * to_top, top);
}

const void* ColorRows::row(int64_t y) {
  if (color_.bits > 8) convert<uint16_t>(y);
  else convert<uint8_t>(y);
  return row_.data();
}

}  // namespace penstock::heif
