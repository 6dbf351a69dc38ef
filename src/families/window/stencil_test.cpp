// SPDX-License-Identifier: Apache-2.0
// Rules on the CPU give the bytes of a loop over the elements, on every target.
#include "families/window/stencil.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::window::stencil_test {
namespace {

// Depends on all neighbors, on their order and on conditions.
struct Rule {
  PENSTOCK_PIXEL(struct Coef {
    int32_t left;
    int32_t right;
    int32_t above;
    int32_t below;
    float factor;
    int32_t unused;
  };);
  PENSTOCK_STENCIL(template <class V, class Near> PENSTOCK_HD static V result(const Near& near, const Coef& c) {
    const V center = near(0, 0);
    V sum{};
    for (int y = -c.above; y <= c.below; ++y)
      for (int x = -c.left; x <= c.right; ++x) {
        const V v = near(y, x);
        sum = sum * c.factor + (v < center ? v / (center + 300.0f) : v);
      }
    return sum;
  });
};

// An image with its border, element by element.
struct Neighbors {
  const std::vector<float>& image;
  const Window& w;
  int64_t outer, y, x, channel;
  float operator()(int dy, int dx) const {
    const int64_t row = ImageRule::bordered(y + dy, w.image.height, w.border);
    const int64_t column = ImageRule::bordered(x + dx, w.image.width, w.border);
    if (row < 0 || column < 0) return 0;
    return image[static_cast<size_t>(ImageRule::offset_of(w.image, outer, 0, row, column, channel))];
  }
};

template <class In, class Out> void expect_loops_bytes(const Window& w, std::mt19937& random) {
  const ImageRule::Extents& e = w.image;
  const size_t n = static_cast<size_t>(e.outer * e.height * e.width * e.inner);
  const std::unique_ptr<In[]> in(new In[n]);
  const std::unique_ptr<Out[]> out(new Out[n]);
  std::vector<float> numbers(n);
  for (size_t i = 0; i < n; ++i) numbers[i] = static_cast<float>(in[i] = static_cast<In>(random() % 120));
  const Rule::Coef c{static_cast<int32_t>(w.x),
                     static_cast<int32_t>(w.width - 1 - w.x),
                     static_cast<int32_t>(w.y),
                     static_cast<int32_t>(w.height - 1 - w.y),
                     0.7f,
                     0};
  const Shape shape{e.outer, e.height, e.width, e.inner};
  for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
    stencil_rows(stencil_run<Rule>(static_cast<Target>(t)), &c,
                 {in.get(), dtype_of<In>, {}, shape, dense_strides(shape)},
                 {out.get(), dtype_of<Out>, {}, shape, dense_strides(shape)}, w, static_cast<Target>(t), e);
    size_t i = 0;
    for (int64_t outer = 0; outer < e.outer; ++outer)
      for (int64_t y = 0; y < e.height; ++y)
        for (int64_t x = 0; x < e.width; ++x)
          for (int64_t channel = 0; channel < e.inner; ++channel, ++i) {
            const Out expected =
                stored<Out>(Rule::Of_scalar::result<float>(Neighbors{numbers, w, outer, y, x, channel}, c));
            ASSERT_EQ(std::memcmp(&out[i], &expected, sizeof(Out)), 0)
                << name_of(dtype_of<In>) << " " << e.outer << " x " << e.height << " x " << e.width << " x " << e.inner
                << ", window " << w.height << " x " << w.width << " at " << w.y << ", " << w.x << ", border "
                << w.border << ", element " << i << ", target " << t;
          }
  }
}

TEST(Stencil, GivesTheBytesOfALoop) {
  std::mt19937 random(3);
  const auto between = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  for (int i = 0; i < 60 && !testing::Test::HasFatalFailure(); ++i) {
    Window w{{between(1, 2), 1, between(1, 20), between(1, i % 4 ? 30 : 90), between(1, 4)},
             between(1, 9),
             between(1, 9),
             0,
             0,
             i % 5};
    w.x = between(0, w.width - 1), w.y = between(0, w.height - 1);
    if (i % 4 == 0) expect_loops_bytes<uint8_t, uint8_t>(w, random);
    else if (i % 4 == 1) expect_loops_bytes<float, float>(w, random);
    else if (i % 4 == 2) expect_loops_bytes<int16_t, float>(w, random);
    else expect_loops_bytes<Half, Half>(w, random);
  }
  expect_loops_bytes<float, float>({{1, 1, 3, 9001, 3}, 3, 7, 1, 3, kBorderWrap}, random);  // several strips
}

}  // namespace
}  // namespace penstock::window::stencil_test
