// SPDX-License-Identifier: Apache-2.0
// Immediate calls on one large sample: threads without work take bands of it, and the bytes stay.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "base/thread_pool.h"
#include "exec/call.h"

namespace penstock {
namespace {

using Given = std::vector<std::pair<std::string, Value>>;

std::vector<Argument> given_arguments(const OpInfo& info, const Given& given) {
  std::vector<Argument> args(info.args.size());
  for (auto& [name, value] : given)
    for (size_t i = 0; i < info.args.size(); ++i)
      if (info.args[i].name == name) args[i].value = value;
  return args;
}

Batch make_image(const Shape& shape, DType dtype, Layout layout, std::mt19937& random) {
  Batch b = Batch::uniform(dtype, shape, layout, 1);
  for (int64_t i = 0; i < shape.volume(); ++i)
    if (dtype == DType::uint8) b.view(0).as<uint8_t>()[i] = static_cast<uint8_t>(random());
    else b.view(0).as<float>()[i] = static_cast<float>(random() % 1000) / 3;
  return b;
}

struct Call {
  const char* op;
  Given given;
};

TEST(LargeSample, HasTheBytesOfOneThread) {
  using Floats = std::vector<double>;
  const std::vector<Call> calls = {
      {"resize", {{"resize_x", 701.0}, {"resize_y", 655.0}}},
      {"resize", {{"resize_x", 2100.0}, {"resize_y", 333.0}}},
      {"resize", {{"resize_y", 1500.0}, {"interp_type", int64_t{0}}}},
      {"crop_mirror_normalize", {{"mean", Floats{1, 2, 3}}, {"std", Floats{4, 5, 6}}}},
      {"gaussian_blur", {{"window_size", std::vector<int64_t>{7}}}},
      {"rotate", {{"angle", 20.0}}},
      {"rotate", {{"angle", 90.0}}},
      {"brightness_contrast", {{"brightness", 1.3}, {"contrast", 0.8}}},
      {"hsv", {{"hue", 30.0}}},
      {"flip", {{"vertical", int64_t{1}}}},
      {"crop", {{"crop", Floats{700, 650}}}},
      {"transpose", {{"perm", std::vector<int64_t>{1, 0, 2}}}},
      {"dilate", {}},
      {"erode", {{"mask_size", std::vector<int64_t>{9, 31}}}},
      {"box_blur", {}},
      {"box_blur", {{"window_size", std::vector<int64_t>{20, 41}}}},
      {"laplacian", {}},
      {"laplacian", {{"scale", Floats{0.3}}}},
      {"median_blur", {}},
      {"median_blur", {{"window_size", std::vector<int64_t>{5}}}},
      {"sphere", {}},
      {"water", {}},
      {"grid_mask", {}},
  };
  std::mt19937 random(5);
  const int rounds = std::getenv("PENSTOCK_TEST_COUNT") ? 10 : 1;  // one takes a minute under the sanitizers
  for (const Call& call : calls)
    for (const DType dtype : {DType::uint8, DType::float32})
      for (int round = 0; round < rounds; ++round) {
        const Shape shape{700 + static_cast<int>(random() % 400), 650 + static_cast<int>(random() % 400), 3};
        const Batch in = make_image(shape, dtype, "HWC", random);
        const OpInfo& info = get_op(call.op);
        set_shared_pool(std::make_shared<ThreadPool>(1));
        const auto want = call_op(info, std::span(&in, 1), given_arguments(info, call.given));
        for (const int threads : {2, 5}) {
          set_shared_pool(std::make_shared<ThreadPool>(threads));
          while (shared_pool()->crew().idle() < threads - 1) std::this_thread::yield();
          const auto got = call_op(info, std::span(&in, 1), given_arguments(info, call.given));
          ASSERT_TRUE(got[0].shape(0) == want[0].shape(0));
          const View a = got[0].view(0), b = want[0].view(0);
          ASSERT_EQ(std::memcmp(a.data, b.data, static_cast<size_t>(a.volume()) * size_of(a.dtype)), 0)
              << call.op << " of " << shape.text() << " on " << threads << " threads, " << name_of(dtype);
        }
      }
  set_shared_pool(nullptr);
}

}  // namespace
}  // namespace penstock
