// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/canny_edges.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/target.h"
#include "families/team/kernels/edges.h"
#include "operator/image_work.h"
#include "ops/shared/byte_derivatives.h"

namespace penstock {
namespace {

#define PENSTOCK_LOOPS canny
#define PENSTOCK_LOOPS_TEXT "ops/shared/canny_edges.inc.h"
#define PENSTOCK_LOOPS_UP_TO_AVX2
#include "base/foreach_target.h"

// A row of gradients, with a 0 at both ends.
struct GradientRow {
  std::vector<int32_t> dx, dy, size;
  explicit GradientRow(const CannyRule& r)
      : dx(static_cast<size_t>(r.width * r.channels)),
        dy(dx.size()),
        size(static_cast<size_t>(r.width * r.channels + 2)) {}
};

class Edges {
 public:
  Edges(const uint8_t* image, const CannyRule& rule)
      : r_(rule),
        x_(image, rule.height, rule.width, rule.channels, kBorderClamp, sobel_taps(rule.window_size, 0),
           sobel_taps(rule.window_size, 1)),
        y_(image, rule.height, rule.width, rule.channels, kBorderClamp, sobel_taps(rule.window_size, 1),
           sobel_taps(rule.window_size, 0)),
        stride_(rule.width + 2),
        marks_(static_cast<size_t>(stride_ * (rule.height + 2)), kNone),
        rows_(3, GradientRow(rule)),
        found_(static_cast<size_t>(rule.width)) {}

  void mark() {
    const std::vector<int32_t> outside(static_cast<size_t>(r_.width + 2));
    for (int64_t y = 0; y <= r_.height; ++y) {
      if (y < r_.height) gradients(y, rows_[static_cast<size_t>(y % 3)]);
      if (y == 0) continue;
      const auto size_at = [&](int64_t at) {
        const bool inside = at >= 0 && at < r_.height;
        return (inside ? rows_[static_cast<size_t>(at % 3)].size.data() : outside.data()) + 1;
      };
      thin_row(y - 1, rows_[static_cast<size_t>((y - 1) % 3)], size_at(y - 2), size_at(y));
    }
  }
  // What is connected with a begun edge is an edge.
  void follow() {
    while (!begun_.empty()) {
      uint8_t* const at = begun_.back();
      begun_.pop_back();
      for (int64_t y = -1; y <= 1; ++y)
        for (int64_t x = -1; x <= 1; ++x)
          if (uint8_t* const near = at + y * stride_ + x; *near == kMaybe) *near = kEdge, begun_.push_back(near);
    }
  }
  void write(uint8_t* to) const {
    for (int64_t y = 0; y < r_.height; ++y) {
      const uint8_t* const marks = &marks_[static_cast<size_t>((y + 1) * stride_ + 1)];
      for (int64_t x = 0; x < r_.width; ++x) *to++ = marks[x] == kEdge ? 255 : 0;
    }
  }

 private:
  enum : uint8_t { kNone, kMaybe, kEdge };

  static void derive(ByteDerivatives& of, int64_t y, std::vector<int32_t>& to) {
    of.row(y, to.data());
    if (!of.wide()) return;
    for (int32_t& v : to) v = static_cast<int32_t>(std::nearbyint(static_cast<float>(v) / 16));
  }
  void gradients(int64_t y, GradientRow& g) {
    derive(x_, y, g.dx);
    derive(y_, y, g.dy);
    const int64_t n = r_.width * r_.channels;
    PENSTOCK_FOR_TARGET(best_target(), canny, sizes(g.dx.data(), g.dy.data(), r_.squared, n, g.size.data() + 1));
    if (r_.channels > 1) choose_channels(g);
    g.size[static_cast<size_t>(r_.width) + 1] = 0;
  }
  void choose_channels(GradientRow& g) const {
    int32_t* const size = g.size.data() + 1;
    for (int64_t x = 0; x < r_.width; ++x) {
      int64_t best = x * r_.channels;
      for (int64_t k = best + 1; k < (x + 1) * r_.channels; ++k)
        if (size[k] > size[best]) best = k;
      size[x] = size[best];
      g.dx[static_cast<size_t>(x)] = g.dx[static_cast<size_t>(best)];
      g.dy[static_cast<size_t>(x)] = g.dy[static_cast<size_t>(best)];
    }
  }
  // Marks the largest gradients of a row along their direction.
  void thin_row(int64_t y, const GradientRow& g, const int32_t* above, const int32_t* below) {
    uint8_t* at = &marks_[static_cast<size_t>((y + 1) * stride_ + 1)];
    PENSTOCK_FOR_TARGET(
        best_target(), canny,
        thin(g.dx.data(), g.dy.data(), g.size.data() + 1, above, below, r_.low, r_.high, r_.width, found_.data()));
    for (int64_t x = 0; x < r_.width; ++x) at[x] = static_cast<uint8_t>(found_[static_cast<size_t>(x)]);
    const uint8_t* const end = at + r_.width;
    const auto next = [&] { return at = static_cast<uint8_t*>(std::memchr(at, kEdge, static_cast<size_t>(end - at))); };
    for (; at < end && next(); ++at) begun_.push_back(at);
  }

  const CannyRule r_;
  ByteDerivatives x_, y_;
  const int64_t stride_;
  std::vector<uint8_t> marks_;  // with a pixel around the image
  std::vector<GradientRow> rows_;
  std::vector<int32_t> found_;   // marks of a row
  std::vector<uint8_t*> begun_;  // edges whose neighbors are not followed yet
};

}  // namespace

void canny_edges(const uint8_t* image, uint8_t* edges, const CannyRule& rule) {
  Edges e(image, rule);
  e.mark();
  e.follow();
  e.write(edges);
}

}  // namespace penstock
