// SPDX-License-Identifier: Apache-2.0
// The kernel of rules as ordinary C++, with fibers for threads, gives the bytes that the CPU gives.
#include "emulated_gpu/launch_rows.h"
//
#include "families/window/stencil.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::window {
namespace {

struct Sharpened {  // of a window of any size
  PENSTOCK_PIXEL(struct Coef {
    int32_t across;
    int32_t down;
  };);
  PENSTOCK_STENCIL(template <class V, class Near> PENSTOCK_HD static V result(const Near& near, const Coef& c) {
    const V center = near(0, 0);
    V sum{};
    for (int y = -c.down; y <= c.down; ++y)
      for (int x = -c.across; x <= c.across; ++x) sum += near(y, x) < center ? center - near(y, x) : V{};
    return center + sum * 0.1f;
  });
};
struct KernelRule : ImageRule, Sharpened::Of_scalar {  // as its text has it
  using Coef = Sharpened::Coef;
};

template <class In, class Out> void expect_hosts_bytes(const Window& w, std::mt19937& random) {
  const ImageRule::Extents& e = w.image;
  const size_t n = static_cast<size_t>(e.outer * e.height * e.width * e.inner);
  std::vector<In> in(n);
  std::vector<Out> out(n), expected(n);
  for (In& x : in) x = static_cast<In>(random() % 200);
  StencilRow<Sharpened::Coef> row{};
  int64_t count = 0;
  size_t shared_bytes = 0;
  ASSERT_TRUE(stencil_tiles(w, row, count, shared_bytes));
  ASSERT_LE(shared_bytes, kBlockBytes);
  row.in = in.data(), row.out = out.data();
  row.coef = {static_cast<int32_t>(w.x), static_cast<int32_t>(w.y)};
  whole::launch<StencilRow<Sharpened::Coef>>({row}, {count}, 2, stencil<In, Out, KernelRule>);
  const Shape shape{e.outer, e.height, e.width, e.inner};
  stencil_rows(stencil_run<Sharpened>(best_target()), &row.coef,
               {in.data(), dtype_of<In>, {}, shape, dense_strides(shape)},
               {expected.data(), dtype_of<Out>, {}, shape, dense_strides(shape)}, w, best_target(), e);
  for (size_t i = 0; i < n; ++i)
    ASSERT_EQ(std::memcmp(&out[i], &expected[i], sizeof(Out)), 0)
        << name_of(dtype_of<In>) << " border " << w.border << ", element " << i << " of " << e.height << " x "
        << e.width << " x " << e.inner << ", window " << w.height << " x " << w.width;
}

TEST(StencilKernel, GivesTheBytesOfTheHost) {
  std::mt19937 random(3);
  const auto between = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  for (int i = 0; i < 60 && !testing::Test::HasFatalFailure(); ++i) {
    Window w{{between(1, 2), 1, between(1, i % 4 ? 12 : 40), between(1, i % 4 ? 20 : 150), between(1, 4)},
             0,
             0,
             0,
             0,
             i % 5};
    w.x = between(0, 5), w.y = between(0, 5);
    w.width = 2 * w.x + 1, w.height = 2 * w.y + 1;
    if (i % 4 == 0) expect_hosts_bytes<uint8_t, uint8_t>(w, random);
    else if (i % 4 == 1) expect_hosts_bytes<float, float>(w, random);
    else if (i % 4 == 2) expect_hosts_bytes<int16_t, float>(w, random);
    else expect_hosts_bytes<Half, Half>(w, random);
  }
}

}  // namespace
}  // namespace penstock::window
