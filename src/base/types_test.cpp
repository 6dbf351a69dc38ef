// SPDX-License-Identifier: Apache-2.0
// Element types, half floats, shapes, layouts, messages.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/dtype.h"
#include "base/error.h"
#include "base/layout.h"
#include "base/shape.h"

namespace penstock {
namespace {

TEST(Half, EveryBitPatternSurvivesTheWayThroughFloat) {
  for (int bits = 0; bits < 65536; ++bits) {
    const float v = half_value(static_cast<uint16_t>(bits));
    if (std::isnan(v)) EXPECT_TRUE(std::isnan(half_value(half_bits(v))));
    else ASSERT_EQ(half_bits(v), bits);
  }
}

TEST(Half, RoundsToTheNearestAndTiesToEven) {
  for (int bits = 0; bits < 0x7bff; ++bits) {  // between neighbors a and b
    const float a = half_value(static_cast<uint16_t>(bits)), b = half_value(static_cast<uint16_t>(bits + 1));
    const float middle = static_cast<float>((static_cast<double>(a) + b) / 2);
    ASSERT_EQ(half_bits(middle), bits % 2 ? bits + 1 : bits);
    ASSERT_EQ(half_bits(std::nextafterf(middle, 0)), bits);
    ASSERT_EQ(half_bits(std::nextafterf(middle, INFINITY)), bits + 1);
  }
  EXPECT_EQ(half_bits(65519.99f), 0x7bff);
  EXPECT_EQ(half_bits(65520.0f), 0x7c00);
  EXPECT_EQ(half_bits(-INFINITY), 0xfc00);
}

TEST(BFloat16, EveryBitPatternSurvivesTheWayThroughFloat) {
  for (int bits = 0; bits < 65536; ++bits) {
    BFloat16 v;
    v.bits = static_cast<uint16_t>(bits);
    if (std::isnan(static_cast<float>(v))) EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(v))));
    else ASSERT_EQ(BFloat16(static_cast<float>(v)).bits, bits);
  }
}

TEST(BFloat16, RoundsToTheNearestAndTiesToEven) {
  for (int bits = 0; bits < 0x7f7f; ++bits) {  // between neighbors
    const float middle = std::bit_cast<float>(static_cast<uint32_t>(bits) << 16 | 0x8000u);
    ASSERT_EQ(bfloat16_bits(middle), bits % 2 ? bits + 1 : bits);
    ASSERT_EQ(bfloat16_bits(std::nextafterf(middle, 0)), bits);
    ASSERT_EQ(bfloat16_bits(-std::nextafterf(middle, INFINITY)), 0x8000 + bits + 1);
  }
  EXPECT_EQ(bfloat16_bits(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(bfloat16_bits(-INFINITY), 0xff80);
}

TEST(DType, NamesAndSizesAgree) {
  EXPECT_FALSE(is_type(12) || is_type(-1) || is_type(kTypes));
  EXPECT_THROW(dispatch(DType::bfloat16, [](auto) {}), Error);
  for (int i = 0; i < kTypes; ++i) {
    if (!is_type(i)) continue;
    const auto t = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(name_of(t)), t);
    dispatch_stored(t, [&](auto tag) {
      using T = typename decltype(tag)::type;
      EXPECT_EQ(sizeof(T), size_of(t));
      EXPECT_EQ(dtype_of<T>, t);
    });
  }
  EXPECT_THROW(dtype_from_name("unit8"), Error);
}

TEST(Shape, CountsAndRefuses) {
  EXPECT_EQ((Shape{2, 3, 4}).volume(), 24);
  EXPECT_EQ(Shape{}.volume(), 1);
  EXPECT_EQ((Shape{2, 0}).volume(), 0);
  EXPECT_EQ((Shape{2, -1}).text(), "(2, ?)");
  EXPECT_EQ(Shape{5}.text(), "(5,)");
  EXPECT_THROW((Shape{int64_t{1} << 40, int64_t{1} << 40}).volume(), Error);
  Shape s = Shape::filled(8, 1);
  EXPECT_THROW(s.push_back(1), Error);
  EXPECT_EQ(dense_strides(Shape{2, 3, 4}), (Shape{12, 4, 1}));
}

TEST(Layout, FindsLetters) {
  const Layout l("FHWC");
  EXPECT_EQ(l.find('W'), 2);
  EXPECT_EQ(l.find('D'), -1);
  EXPECT_THROW(Layout("ABCDEFGHI"), Error);
}

TEST(Error, SaysWhatWhereAndWhichLine) {
  Error e(ErrorKind::data, "premature end of file");
  e.op = "decoders.image", e.source = "a/b.jpg", e.user_line = "train.py:7";
  EXPECT_EQ(e.full_message(), "[decoders.image] premature end of file (file: a/b.jpg)\n  at train.py:7");
  EXPECT_EQ(did_you_mean("brightnes", {"contrast", "brightness"}), ", did you mean 'brightness'?");
  EXPECT_EQ(did_you_mean("xyzzy", {"contrast", "brightness"}), "");
}

}  // namespace
}  // namespace penstock
