// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/resize_size.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "ops/shared/random_window.h"

namespace penstock {
namespace {

ResizeRequest request(double h, double w, ResizeMode mode = ResizeMode::default_) {
  ResizeRequest q;
  q.mode = mode;
  q.wanted[0] = h, q.wanted[1] = w;
  return q;
}

void expect_size(const ResizeRequest& q, int64_t h, int64_t w, int64_t out_h, int64_t out_w) {
  const int64_t extents[] = {h, w};
  ResizedAxis r[kMaxResized];
  resized_axes(q, extents, r);
  EXPECT_EQ(r[0].out, out_h);
  EXPECT_EQ(r[1].out, out_w);
}

TEST(ResizeSize, AMissingAxisFollowsTheOther) {
  expect_size(request(0, 224), 375, 500, 168, 224);
  expect_size(request(0, 224, ResizeMode::stretch), 375, 500, 375, 224);
  expect_size(request(0, 0), 375, 500, 375, 500);
}

TEST(ResizeSize, ShorterAndLongerSides) {
  expect_size(request(256, 256, ResizeMode::not_smaller), 375, 500, 256, 341);
  expect_size(request(256, 256, ResizeMode::not_larger), 375, 500, 192, 256);
  ResizeRequest q = request(256, 256, ResizeMode::not_smaller);
  q.limit[0] = q.limit[1] = 300;
  expect_size(q, 375, 500, 225, 300);
}

TEST(ResizeSize, RatiosAreFloat32) {  // 31 / 14 * 21 is 46.5, but the ratio is a little less in float32
  expect_size(request(31, 0), 14, 21, 31, 46);
}

TEST(ResizeSize, TheScaleStaysExactWhereTheSizeIsRounded) {
  const int64_t extents[] = {100, 10};
  ResizedAxis r[kMaxResized];
  ResizeRequest q = request(0, 3);
  q.wanted[0] = 33.4;
  resized_axes(q, extents, r);
  EXPECT_EQ(r[0].out, 33);
  EXPECT_NEAR((r[0].hi - r[0].lo) / 33, 100 / 33.4, 1e-5);
  EXPECT_NEAR(r[0].hi + r[0].lo, 100, 1e-9);
  q.subpixel = false;
  resized_axes(q, extents, r);
  EXPECT_EQ(r[0].lo, 0);
  EXPECT_EQ(r[0].hi, 100);
}

TEST(ResizeSize, NegativeSizesAndReversedRegionsMirror) {
  const int64_t extents[] = {100, 10};
  ResizedAxis r[kMaxResized];
  ResizeRequest q = request(-50, 5);
  q.region = true;
  q.lo[0] = 10, q.hi[0] = 60, q.lo[1] = 10, q.hi[1] = 0;
  resized_axes(q, extents, r);
  EXPECT_GT(r[0].lo, r[0].hi);
  EXPECT_GT(r[1].lo, r[1].hi);
  EXPECT_EQ(r[0].out, 50);
  EXPECT_EQ(r[1].out, 5);
}

TEST(ResizeSize, ARegionFarOutsideIsCut) {
  const int64_t extents[] = {100, 10};
  ResizedAxis r[kMaxResized];
  ResizeRequest q = request(50, 5);
  q.region = true;
  q.lo[0] = -1e6, q.hi[0] = 1e6, q.lo[1] = 1e30, q.hi[1] = -1e30;
  resized_axes(q, extents, r);
  EXPECT_EQ(r[0].lo, -1e6);
  EXPECT_EQ(r[0].hi, 1e6);
  EXPECT_EQ(r[1].lo, (1 << 20) + 10);
  EXPECT_EQ(r[1].hi, -(1 << 20));
  q.lo[0] = 1e9, q.hi[0] = 2e9;
  resized_axes(q, extents, r);
  EXPECT_EQ(r[0].hi, r[0].lo + 1);
}

TEST(ResizeSize, SizesAreKnownEarlyWhereTheyAreSaid) {
  EXPECT_EQ(resized_extent(request(50, 0), 0), 50);
  EXPECT_EQ(resized_extent(request(50, 0), 1), -1);
  EXPECT_EQ(resized_extent(request(50, 60, ResizeMode::not_larger), 0), -1);
}

TEST(ResizeSize, ImpossibleSizesAreErrors) {
  const int64_t extents[] = {100, 10};
  ResizedAxis r[kMaxResized];
  EXPECT_THROW(resized_axes(request(1e12, 5), extents, r), Error);
  EXPECT_THROW(resized_axes(request(std::nan(""), 5), extents, r), Error);
  EXPECT_THROW(resized_axes(request(INFINITY, 5), extents, r), Error);
}

TEST(RandomWindow, LiesInTheImageForAnyShape) {
  RandomWindow rule;
  for (auto [h, w] : {std::pair<int64_t, int64_t>{1, 1}, {1, 10000}, {10000, 1}, {3, 7}, {375, 500}})
    for (uint64_t sample = 0; sample < 500; ++sample) {
      SampleContext s;
      s.sample = sample;
      const auto v = rule.draw(s, h, w);
      ASSERT_GE(v.y, 0);
      ASSERT_GE(v.x, 0);
      ASSERT_GE(v.height, 1);
      ASSERT_GE(v.width, 1);
      ASSERT_LE(v.y + v.height, h);
      ASSERT_LE(v.x + v.width, w);
    }
}

TEST(RandomWindow, DependsOnSampleEpochNodeAndSeedAlone) {
  RandomWindow rule;
  SampleContext a;
  a.seed = 1, a.epoch = 2, a.sample = 3, a.draws.node = 4;
  SampleContext b = a;
  b.index = 17;  // the place in the batch does not matter
  const auto v = rule.draw(a, 300, 400), w = rule.draw(b, 300, 400);
  EXPECT_TRUE(v.y == w.y && v.x == w.x && v.height == w.height && v.width == w.width);
  b.epoch = 3;
  const auto u = rule.draw(b, 300, 400);
  EXPECT_FALSE(v.y == u.y && v.x == u.x && v.height == u.height && v.width == u.width);
}

}  // namespace
}  // namespace penstock
