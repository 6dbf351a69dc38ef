// SPDX-License-Identifier: Apache-2.0
// What operators compute for many samples at once equals what they compute for each.
#include <gtest/gtest.h>

#include <cstring>

#include "operator/bound_op.h"

namespace penstock {
namespace {

constexpr int kSamples = 150;

Batch numbers(double lo, double hi, DType t = DType::float32, Layout layout = {}) {
  const Shape frames{2};
  Batch b = Batch::uniform(t, layout.empty() ? Shape{} : frames, layout, kSamples);
  for (int i = 0; i < kSamples; ++i)
    for (int64_t k = 0; k < b.shape(i).volume(); ++k) {
      const double v = lo + (hi - lo) * ((i * 37 + k * 11) % kSamples) / kSamples;
      if (t == DType::float32) b.view(i).as<float>()[k] = static_cast<float>(v);
      else b.view(i).as<int32_t>()[k] = static_cast<int32_t>(v);
    }
  return b;
}

struct Given {
  std::string name;
  Value value;
  const Batch* batch = nullptr;
};
std::unique_ptr<BoundOp> bound(const char* name, const std::vector<Given>& given, const ValueType& in) {
  const OpInfo& info = get_op(name);
  std::vector<Argument> args(info.args.size());
  for (const Given& g : given) {
    Argument& a = args.at(static_cast<size_t>(info.arg(g.name) - info.args.data()));
    a.value = g.value, a.batch = g.batch;
  }
  auto op = bind_op(info, args);
  ValueType out;
  op->infer({&in, 1}, {&out, 1});
  return op;
}

std::vector<SampleContext> contexts() {
  std::vector<SampleContext> all(kSamples);
  for (int i = 0; i < kSamples; ++i) {
    all[i].index = i, all[i].seed = 5, all[i].epoch = 2, all[i].draws.node = 9;
    all[i].sample = static_cast<uint64_t>(i * 3 + (i > 100 ? int64_t{1} << 40 : 0));
    if (i == 77) all[i].seed = 6;  // a child of an expansion
  }
  return all;
}

TEST(SamplesTogether, Coefficients) {
  const Batch hue = numbers(-400, 400), factor = numbers(0, 3), whole = numbers(0, 5, DType::int32),
              frames = numbers(-90, 90, DType::float32, "F");
  for (DType t : {DType::uint8, DType::float32, DType::float64}) {
    const ValueType in{t, 3, "HWC"};
    std::vector<std::unique_ptr<BoundOp>> ops;
    ops.push_back(bound("hsv", {{"hue", {}, &hue}}, in));
    ops.push_back(bound("hsv", {{"hue", {}, &hue}, {"saturation", {}, &factor}, {"value", {}, &whole}}, in));
    ops.push_back(bound("hsv", {{"hue", {}, &frames}}, {t, 4, "FHWC"}));
    ops.push_back(bound("color_twist", {{"contrast", {}, &factor}, {"brightness", 1.5}}, in));
    ops.push_back(bound("brightness_contrast", {{"brightness", {}, &factor}, {"contrast", {}, &whole}}, in));
    ops.push_back(bound("crop_mirror_normalize", {{"mean", {}, &factor}}, in));
    for (const auto& op : ops) {
      const Lane lane = op->lane({&in.dtype, 1}, t);
      const int planes = op->traits().per_channel ? 3 : 1;
      const size_t bytes = op->coef_bytes(lane) * static_cast<size_t>(planes), stride = bytes + 24;
      ASSERT_GT(bytes, 0u);
      const auto samples = contexts();
      std::vector<std::byte> together(stride * kSamples), one(bytes);
      op->coefs(samples, lane, planes, together.data(), stride);
      for (int i = 0; i < kSamples; ++i) {
        op->coef(samples[i], lane, planes, one.data());
        ASSERT_EQ(std::memcmp(together.data() + stride * i, one.data(), bytes), 0)
            << op->info->name << ", sample " << i;
      }
    }
  }
}

TEST(SamplesTogether, WindowsOfImages) {
  const Batch kinds = numbers(0, 4, DType::int32);
  const ValueType in{DType::uint8, 3, "HWC"};
  const Value size = std::vector<int64_t>{24, 17};
  for (int64_t attempts : {1, 2, 3, 10})
    for (bool each : {false, true}) {
      std::vector<Given> given{{"size", size}, {"num_attempts", attempts}, {"antialias", attempts > 2}};
      if (each) given.push_back({"interp_type", {}, &kinds});
      const auto op = bound("random_resized_crop", given, in);
      const auto samples = contexts();
      std::vector<ImageExtent> images(kSamples);
      for (int i = 0; i < kSamples; ++i) images[i] = {1 + i * 7 % 90, 1 + i * 5 % 131};
      std::vector<ImageWindow> windows(kSamples);
      ASSERT_TRUE(op->image_windows(samples, images, windows));
      for (int i = 0; i < kSamples; ++i) {
        Placement p(Shape{images[i].height, images[i].width, 3}, "HWC");
        op->map(samples[i], p);
        EXPECT_TRUE(p[2].identity());
        const AxisWindow* of[] = {&windows[i].y, &windows[i].x};
        for (int d = 0; d < 2; ++d) {
          const AxisFilter& f = *p[d].filter;
          EXPECT_TRUE(f.lo == of[d]->lo && f.hi == of[d]->hi && f.out == of[d]->out && f.kind == of[d]->kind &&
                      f.antialias == of[d]->antialias && f.border == FilterBorder::clamp)
              << attempts << " attempts, sample " << i << ", dimension " << d;
        }
      }
    }
}

TEST(SamplesTogether, WindowsOfConvolutions) {
  const Batch sigma = numbers(0.3, 4);
  const ValueType in{DType::uint8, 3, "HWC"};
  for (int64_t size : {1, 3, 9, 71}) {
    const auto op = bound("gaussian_blur", {{"sigma", {}, &sigma}, {"window_size", size}}, in);
    const auto samples = contexts();
    AxisWindows all, one;
    ASSERT_TRUE(op->all_windows(samples, "HWC", 3, all));
    ASSERT_TRUE(all.same);
    ASSERT_EQ(all.weights.size(), static_cast<size_t>(size) * kSamples);
    for (int i = 0; i < kSamples; ++i) {
      one.clear();
      op->windows(samples[i], "HWC", 3, one);
      EXPECT_TRUE(one.same && one.first == all.first);
      EXPECT_TRUE(std::equal(one.sizes.begin(), one.sizes.end(), all.sizes.begin(), all.sizes.end()));
      const auto bytes = static_cast<size_t>(size) * sizeof(float);
      EXPECT_EQ(std::memcmp(one.weights.data(), all.weights.data() + i * size, bytes), 0);
    }
  }
  // Samples that differ in size, or that need a message, are left to windows().
  AxisWindows all;
  EXPECT_FALSE(bound("gaussian_blur", {{"sigma", {}, &sigma}}, in)->all_windows(contexts(), "HWC", 3, all));
  all.clear();
  EXPECT_FALSE(bound("gaussian_blur", {{"sigma", {}, &sigma}, {"window_size", int64_t{4}}}, in)
                   ->all_windows(contexts(), "HWC", 3, all));
  all.clear();
  const Batch wrong = numbers(-1, 1);
  EXPECT_FALSE(bound("gaussian_blur", {{"sigma", {}, &wrong}, {"window_size", int64_t{3}}}, in)
                   ->all_windows(contexts(), "HWC", 3, all));
}

}  // namespace
}  // namespace penstock
