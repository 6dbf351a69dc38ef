// SPDX-License-Identifier: Apache-2.0
// Weighted sums on the CPU give the bytes of a loop over the window, on every target.
#include <gtest/gtest.h>

#include <random>

#include "base/line_vector.h"
#include "families/window/taps_rows.h"

namespace penstock::window::taps_test {
namespace {

template <class In, class Out>
Out sum_at(const In* in, const Taps& w, int64_t image, int64_t y, int64_t x, int64_t channel) {
  const float* weight = w.weights;
  float sum = 0;
  for (int64_t j = 0; j < w.height; ++j)
    for (int64_t i = 0; i < w.width; ++i) {
      const int64_t row = ImageRule::bordered(y + j - w.y, w.in.height, w.border);
      const int64_t column = ImageRule::bordered(x + i - w.x, w.in.width, w.border);
      const In outside = w.fill ? *static_cast<const In*>(w.fill) : static_cast<In>(0.0f);
      const bool inside = row >= 0 && column >= 0;
      sum += *weight++ *
             static_cast<float>(inside ? in[ImageRule::offset_of(w.in, image, 0, row, column, channel)] : outside);
    }
  return stored<Out>(sum);
}

template <class In, class Out> void expect_loops_bytes(Taps w, std::mt19937& random) {
  const auto count = [](const ImageRule::Extents& e) {
    return static_cast<size_t>(e.outer * e.height * e.width * e.inner);
  };
  const std::unique_ptr<In[]> in(new In[count(w.in)]);
  LineVector<Out> out(count(w.out));  // large results are written past the caches, at whole vectors
  for (size_t i = 0; i < count(w.in); ++i) in[i] = static_cast<In>(random() % 100);
  std::vector<float> weights(static_cast<size_t>(w.width * w.height));
  for (float& x : weights) x = static_cast<float>(random() % 2000) * 0.001f - 0.9f;
  const In fill = static_cast<In>(random() % 100);
  w.weights = weights.data();
  if (random() % 2) w.fill = &fill;
  const auto view = [](auto* p, const ImageRule::Extents& e) {
    const Shape shape{e.outer, e.height, e.width, e.inner};
    return View{p, dtype_of<std::remove_reference_t<decltype(*p)>>, {}, shape, dense_strides(shape)};
  };
  for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
    taps_rows(view(in.get(), w.in), view(out.data(), w.out), w, w.weights, static_cast<Target>(t));
    size_t i = 0;
    for (int64_t image = 0; image < w.out.outer; ++image)
      for (int64_t y = 0; y < w.out.height; ++y)
        for (int64_t x = 0; x < w.out.width; ++x)
          for (int64_t c = 0; c < w.out.inner; ++c, ++i) {
            const Out expected = sum_at<In, Out>(in.get(), w, image, y, x, c);
            ASSERT_EQ(std::memcmp(&out[i], &expected, sizeof(Out)), 0)
                << name_of(dtype_of<In>) << " border " << w.border << " at " << y << ", " << x << ", " << c << " of "
                << w.out.height << " x " << w.out.width << ", window " << w.height << " x " << w.width << " at " << w.y
                << ", " << w.x << ", target " << t;
          }
  }
}

TEST(Taps, GiveTheBytesOfALoop) {
  std::mt19937 random(3);
  const auto between = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  for (int i = 0; i < 60 && !testing::Test::HasFatalFailure(); ++i) {
    Taps w{};
    w.in = {between(1, 2), 1, between(1, 20), i % 4 ? between(1, 20) : between(60, 150), between(1, 4)};
    w.out = w.in;
    w.width = between(1, 12), w.height = between(1, 9);
    w.x = between(0, w.width - 1), w.y = between(0, w.height - 1);
    w.border = i % 5;
    if (i % 7 == 0 && w.width <= w.in.width) {  // only where the window lies inside
      w.x = w.y = 0;
      w.in.height += w.height - 1, w.out.width -= w.width - 1;
    }
    if (i % 3 == 0) expect_loops_bytes<uint8_t, uint8_t>(w, random);
    else if (i % 3 == 1) expect_loops_bytes<float, float>(w, random);
    else if (i % 4) expect_loops_bytes<int16_t, float>(w, random);
    else expect_loops_bytes<Half, Half>(w, random);
  }
}

TEST(Taps, LargeResultsAreTheSame) {
  std::mt19937 random(5);
  for (const int64_t width : {512, 513}) {
    Taps w{};
    w.in = w.out = {1, 1, 171, width, 3};  // 1 MB of float32
    w.width = w.height = 3, w.x = w.y = 1;
    w.border = kBorderReflect101;
    expect_loops_bytes<float, float>(w, random);
  }
}

}  // namespace
}  // namespace penstock::window::taps_test
