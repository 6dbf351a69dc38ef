// SPDX-License-Identifier: Apache-2.0
#include "exec/call.h"

#include <gtest/gtest.h>

#include "exec/call.h"

namespace penstock {
namespace {

std::vector<Argument> arguments(const OpInfo& info, std::vector<std::pair<std::string, Value>> given) {
  std::vector<Argument> args(info.args.size());
  for (auto& [name, value] : given)
    for (size_t i = 0; i < info.args.size(); ++i)
      if (info.args[i].name == name) args[i].value = value;
  return args;
}

Batch ramp(const Shape& s, Layout layout, int n = 2) {
  Batch b = Batch::uniform(DType::uint8, s, layout, n);
  for (int i = 0; i < n; ++i)
    for (int64_t k = 0; k < s.volume(); ++k) b.view(i).as<uint8_t>()[k] = static_cast<uint8_t>(k * 7 + i);
  return b;
}

TEST(CallOp, FlipMirrorsColumns) {
  const OpInfo& info = get_op("flip");
  const Batch in = ramp({5, 7, 3}, "HWC");
  const auto out = call_op(info, std::span(&in, 1), arguments(info, {}));
  for (int i = 0; i < 2; ++i)
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 7; ++x)
        for (int c = 0; c < 3; ++c)
          ASSERT_EQ(out[0].view(i).as<uint8_t>()[(y * 7 + x) * 3 + c],
                    in.view(i).as<uint8_t>()[(y * 7 + 6 - x) * 3 + c]);
}

TEST(CallOp, BrightnessRoundsHalfToEvenAndSaturates) {
  const OpInfo& info = get_op("brightness_contrast");
  for (const Shape& s : {Shape{3, 4, 3}, Shape{64, 65, 3}}) {  // below and above the size that uses a table
    const Batch in = ramp(s, "HWC");
    const auto out = call_op(info, std::span(&in, 1), arguments(info, {{"brightness", 1.5}}));
    for (int64_t k = 0; k < s.volume(); ++k) {
      const float v = std::nearbyint(std::min(255.0f, in.view(1).as<uint8_t>()[k] * 1.5f));
      ASSERT_EQ(out[0].view(1).as<uint8_t>()[k], static_cast<uint8_t>(v)) << k;
    }
  }
}

TEST(CallOp, TypeChangesThroughTheStore) {
  const OpInfo& info = get_op("brightness_contrast");
  const Batch in = ramp({9, 11, 3}, "HWC");
  const auto out = call_op(info, std::span(&in, 1), arguments(info, {{"dtype", int64_t(DType::float32)}}));
  ASSERT_EQ(out[0].dtype(), DType::float32);
  ASSERT_EQ(out[0].layout().str(), "HWC");
  for (int64_t k = 0; k < 9 * 11 * 3; ++k) ASSERT_EQ(out[0].view(0).as<float>()[k], in.view(0).as<uint8_t>()[k]);
}

}  // namespace
}  // namespace penstock
