// SPDX-License-Identifier: Apache-2.0
#include "batch/memory_reuse.h"

#include <gtest/gtest.h>

#include <cstring>

namespace penstock {
namespace {

using Alone = std::vector<char>;

Batch three() {
  Batch b(DType::float32, 1, {}, 3);
  for (int i = 0; i < 3; ++i) b.sample(i).shape = Shape{i + 2};
  b.allocate();
  for (int i = 0; i < 3; ++i) std::fill_n(static_cast<float*>(b.sample(i).data), i + 2, static_cast<float>(i));
  return b;
}

TEST(MemoryReuse, ABatchHoldsItsBlockAloneUntilItIsCopied) {
  Batch b = three();
  EXPECT_EQ(held_alone(b), (Alone{1, 1, 1}));
  {
    const Batch other = b;
    EXPECT_EQ(held_alone(b), (Alone{0, 0, 0}));
  }
  EXPECT_EQ(held_alone(b), (Alone{1, 1, 1}));
}

TEST(MemoryReuse, SamplesThatHavePartedAreSeenOneByOne) {
  Batch b = three();
  part_samples(b);
  EXPECT_FALSE(b.block);
  EXPECT_EQ(held_alone(b), (Alone{1, 1, 1}));
  const Batch::Sample kept = b.sample(1);
  EXPECT_EQ(held_alone(b), (Alone{1, 0, 1}));
  part_samples(b);  // has no effect
  EXPECT_EQ(held_alone(b), (Alone{1, 0, 1}));
}

TEST(MemoryReuse, WhoHoldsTheWholeBlockHoldsEachSample) {
  Batch b = three();
  Batch other = b;
  part_samples(b);
  EXPECT_EQ(held_alone(b), (Alone{0, 0, 0}));
  part_samples(other);  // both have separated
  EXPECT_EQ(held_alone(b), (Alone{0, 0, 0}));
  other = Batch();
  EXPECT_EQ(held_alone(b), (Alone{1, 1, 1}));
}

TEST(MemoryReuse, OneSampleInTwoPlacesIsNotAlone) {
  Batch b = three();
  b.sample(2) = b.sample(0);
  EXPECT_EQ(held_alone(b), (Alone{0, 1, 0}));
}

TEST(MemoryReuse, AProgramsMemoryIsNeverTaken) {
  float values[2] = {1, 2};
  Batch b(DType::float32, 1, {}, 1);
  b.sample(0) = {values, Shape{2}, {}, std::shared_ptr<void>(values, [](void*) {}), ""};
  EXPECT_EQ(held_alone(b), Alone{0});
  part_samples(b);
  EXPECT_EQ(held_alone(b), Alone{0});
}

TEST(MemoryReuse, SamplesWithHolesAreNotTaken) {
  Batch b = three();
  b.sample(2).shape = Shape{2}, b.sample(2).strides = Shape{2};
  EXPECT_EQ(held_alone(b), (Alone{1, 1, 0}));
}

TEST(MemoryReuse, TheOthersGetMemoryOfTheirOwn) {
  for (const Alone& take : {Alone{1, 0, 1}, Alone{1, 1, 1}, Alone{0, 0, 0}}) {
    Batch from = three();
    Batch out(DType::float32, 1, {}, 3);
    for (int i = 0; i < 3; ++i) out.sample(i).shape = from.shape(i);
    allocate_others(out, from, take, default_memory(), nullptr);
    EXPECT_EQ(bytes_of_others(from, take), 4u * ((take[0] ? 0 : 2) + (take[1] ? 0 : 3) + (take[2] ? 0 : 4)));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(out.sample(i).data == from.sample(i).data, take[static_cast<size_t>(i)] != 0);
    from = Batch();
    for (int i = 0; i < 3; ++i) {
      auto* p = static_cast<float*>(out.sample(i).data);
      if (take[static_cast<size_t>(i)]) {
        EXPECT_EQ(p[i + 1], static_cast<float>(i));
      }
      p[i + 1] = 9;
    }
    EXPECT_EQ(held_alone(out), (Alone{1, 1, 1}));
  }
}

}  // namespace
}  // namespace penstock
