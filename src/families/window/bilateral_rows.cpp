// SPDX-License-Identifier: Apache-2.0
#include "families/window/bilateral_rows.h"

#include <type_traits>
#include <vector>

#include "base/crew.h"
#include "base/intrinsics.h"

namespace penstock::window {
namespace {

constexpr int64_t kSpare = 16;  // elements of a vector

struct RowTap {
  int64_t row, right;  // row 0 is the uppermost one that is seen
  float exponent;
};

#define PENSTOCK_LOOPS bilateral_loops
#define PENSTOCK_LOOPS_TEXT "families/window/bilateral_loops.inc.h"
#include "base/foreach_target.h"

using RowLoop = void (*)(float* const*, const float* const*, int, const RowTap*, int, float, int64_t);
template <int guide, int image, bool joint> RowLoop loop_for(Target target) {
  return PENSTOCK_FOR_TARGET(target, bilateral_loops, bilateral_row<guide, image, joint>);
}
// f(1), f(3) or f(4), as constants.
template <class F> RowLoop by_channels(int64_t channels, const F& f) {
  if (channels == 4) return f(std::integral_constant<int, 4>());
  return channels == 3 ? f(std::integral_constant<int, 3>()) : f(std::integral_constant<int, 1>());
}
RowLoop row_loop(Target target, const BilateralRow& r) {
  return by_channels(r.image.channels, [&](auto image) {
    if (!r.joint) return loop_for<image, image, false>(target);
    return by_channels(r.guide.channels, [&](auto guide) { return loop_for<guide, image, true>(target); });
  });
}

// Rows of one image after the other.
template <class T> class BilateralStrip {
 public:
  BilateralStrip(Target target, const BilateralRow& r, std::span<const BilateralTap> taps, int reach)
      : target_(target), r_(r), reach_(reach), high_(2 * reach + 1), loop_(row_loop(target, r)) {
    for (const BilateralTap& t : taps) taps_.push_back({t.down + reach, t.right, t.exponent});
    planes_ = static_cast<int>(r.joint ? r.guide.channels + r.image.channels : r.image.channels);
    length_ = (r.width + 2 * reach + kSpare + 15) / 16 * 16;
    memory_.resize(static_cast<size_t>((planes_ * high_ + r.image.channels) * length_));
    rows_.resize(static_cast<size_t>(planes_ * high_));
  }
  // Rows [first, end) of all images.
  void run(int64_t first, int64_t end) {
    for (int64_t y = first; y < end;) {
      const int64_t image = y / r_.height, bottom = std::min(end - image * r_.height, r_.height);
      rows_of_image(image, y - image * r_.height, bottom);
      y = image * r_.height + bottom;
    }
  }

 private:
  float* slot(int64_t plane, int64_t y) {
    return memory_.data() + (plane * high_ + (y % high_ + high_) % high_) * length_;
  }
  void rows_of_image(int64_t image, int64_t top, int64_t bottom) {
    for (int64_t y = top - reach_; y < bottom + reach_; ++y) {
      int plane = 0;
      if (r_.joint) load(r_.guide, image, y, plane);
      load(r_.image, image, y, plane);
      if (y - reach_ >= top) make(image, y - reach_);
    }
  }
  // The rows of all channels at y, which may be outside.
  void load(const BilateralPlanes& p, int64_t image, int64_t y, int& plane) {
    const int64_t row = ImageRule::bordered(y, r_.height, r_.border), n = r_.width;
    const T* const first = static_cast<const T*>(p.data) + image * r_.height * n * p.channels;
    for (int64_t c = 0; c < p.channels; ++c, ++plane) {
      float* const to = slot(plane, y);
      if (row < 0) {
        std::fill_n(to, n + 2 * reach_, 0.0f);
        continue;
      }
      const T* const from = first + row * n * p.pixel + c * p.channel;
      PENSTOCK_FOR_TARGET(target_, bilateral_loops, load_plane<T>(to + reach_, from, p.pixel, n));
      for (int64_t x = 0; x < reach_; ++x) {
        const int64_t before = ImageRule::bordered(x - reach_, n, r_.border);
        const int64_t after = ImageRule::bordered(n + x, n, r_.border);
        to[x] = before < 0 ? 0.0f : to[reach_ + before];
        to[reach_ + n + x] = after < 0 ? 0.0f : to[reach_ + after];
      }
    }
  }
  void make(int64_t image, int64_t y) {
    for (int plane = 0; plane < planes_; ++plane)
      for (int k = 0; k < high_; ++k)
        rows_[static_cast<size_t>(plane * high_ + k)] = slot(plane, y - reach_ + k) + reach_;
    const BilateralPlanes& p = r_.image;
    float* made[kBilateralChannels];
    for (int64_t c = 0; c < p.channels; ++c) made[c] = memory_.data() + (planes_ * high_ + c) * length_;
    loop_(made, rows_.data(), high_, taps_.data(), static_cast<int>(taps_.size()), r_.color, r_.width);
    T* const to = static_cast<T*>(r_.out) + image * r_.height * r_.width * p.channels + y * r_.width * p.pixel;
    for (int64_t c = 0; c < p.channels; ++c)
      PENSTOCK_FOR_TARGET(target_, bilateral_loops, store_plane<T>(to + c * p.channel, made[c], p.pixel, r_.width));
  }

  const Target target_;
  const BilateralRow& r_;
  const int reach_, high_;
  const RowLoop loop_;
  int planes_;
  int64_t length_;  // of a row of a plane
  std::vector<RowTap> taps_;
  std::vector<float> memory_;
  std::vector<const float*> rows_;
};

}  // namespace

void bilateral_rows(Target target, DType dtype, const BilateralRow& row, std::span<const BilateralTap> taps, int reach,
                    int64_t images) {
  const int64_t rows = images * row.height;
  // As many bytes as take the time of a copy.
  const int64_t bytes = rows * row.width * static_cast<int64_t>(taps.size()) * row.image.channels;
  dispatch(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (sizeof(T) <= 2 || std::is_same_v<T, float>)
      Crew::share(rows, bytes,
                  [&](int64_t first, int64_t end) { BilateralStrip<T>(target, row, taps, reach).run(first, end); });
  });
}

}  // namespace penstock::window
