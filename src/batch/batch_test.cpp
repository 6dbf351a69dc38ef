// SPDX-License-Identifier: Apache-2.0
#include "batch/batch.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "batch/joined_samples.h"

namespace penstock {
namespace {

TEST(Batch, UniformIsOneDenseTensorWithoutACopy) {
  Batch b = Batch::uniform(DType::float32, Shape{2, 3}, "HW", 4);
  const Tensor t = b.as_tensor();
  EXPECT_EQ(t.view.data, b.view(0).data);
  EXPECT_EQ(t.view.shape, (Shape{4, 2, 3}));
  EXPECT_EQ(t.view.layout.str(), "NHW");
}

TEST(Batch, RaggedIsNoTensorAndSaysWhichSample) {
  Batch b(DType::uint8, 1, {}, 2);
  b.sample(0).shape = Shape{3};
  b.sample(1).shape = Shape{5};
  b.allocate();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b.view(1).data) % 64, 0u);
  try {
    b.as_tensor();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::type);
    EXPECT_NE(std::string(e.what()).find("(5,) at sample 1"), std::string::npos);
  }
}

TEST(Batch, SamplesOfDifferentOwnersBecomeATensorByACopy) {
  std::vector<Tensor> samples;
  for (int i = 0; i < 3; ++i) {
    samples.push_back(Tensor::empty(DType::int32, Shape{2, 2}));
    std::iota(samples[i].view.as<int32_t>(), samples[i].view.as<int32_t>() + 4, 10 * i);
  }
  const Batch b = Batch::from_tensors(samples);
  const Tensor t = b.as_tensor();
  for (int i = 0; i < 12; ++i) EXPECT_EQ(t.view.as<int32_t>()[i], 10 * (i / 4) + i % 4);
}

TEST(Batch, SamplesInARowAreJoinedWithoutACopy) {
  Batch b(DType::float32, 2, {}, 3);
  for (int i = 0; i < 3; ++i) b.sample(i).shape = Shape{i + 1, 16};  // each a multiple of 64 bytes
  b.allocate();
  const Tensor t = joined_samples(b);
  EXPECT_EQ(t.view.data, b.view(0).data);
  EXPECT_EQ(t.view.shape, (Shape{6, 16}));
  EXPECT_THROW(b.as_tensor(), Error);
}

TEST(Batch, SamplesWithGapsAreJoinedByACopy) {
  Batch b(DType::int32, 2, {}, 3);
  for (int i = 0; i < 3; ++i) b.sample(i).shape = Shape{2 * i, 3};  // the first one is empty
  b.allocate();
  for (int i = 0; i < 3; ++i) std::iota(b.view(i).as<int32_t>(), b.view(i).as<int32_t>() + 6 * i, 100 * i);
  const Tensor t = joined_samples(b);
  EXPECT_EQ(t.view.shape, (Shape{6, 3}));
  for (int k = 0; k < 18; ++k) EXPECT_EQ(t.view.as<int32_t>()[k], k < 6 ? 100 + k : 200 + k - 6);
  b.sample(2).shape = Shape{4, 2};
  EXPECT_THROW(joined_samples(b), Error);
  EXPECT_THROW(joined_samples(Batch(DType::int32, 1, {}, 0)), Error);
  EXPECT_THROW(joined_samples(Batch::uniform(DType::int32, Shape{}, {}, 2)), Error);
}

TEST(Batch, PackedSamplesHaveOffsetsAndPositions) {
  Batch b(DType::int32, 1, {}, 4);
  for (const auto& [i, n] : {std::pair{0, 3}, {1, 0}, {2, 1}, {3, 2}}) b.sample(i).shape = Shape{n};
  b.allocate();
  for (int i = 0; i < 4; ++i) std::iota(b.view(i).as<int32_t>(), b.view(i).as<int32_t>() + b.shape(i)[0], 10 * i);
  const PackedSamples p = packed_samples(b);
  const auto numbers = [](const Tensor& t) {
    return std::vector<int32_t>(t.view.as<int32_t>(), t.view.as<int32_t>() + t.view.volume());
  };
  EXPECT_EQ(numbers(p.values), (std::vector<int32_t>{0, 1, 2, 20, 30, 31}));
  EXPECT_EQ(numbers(p.offsets), (std::vector<int32_t>{0, 3, 3, 4, 6}));
  EXPECT_EQ(numbers(p.positions), (std::vector<int32_t>{0, 1, 2, 0, 0, 1}));
  EXPECT_EQ(p.longest, 3);
  EXPECT_THROW(packed_samples(Batch(DType::int32, 1, {}, 0)), Error);
  Batch long_row(DType::uint8, 1, {}, 2);  // refused before memory is allocated
  for (int i = 0; i < 2; ++i) long_row.sample(i).shape = Shape{INT32_MAX};
  EXPECT_THROW(packed_samples(long_row), Error);
}

TEST(Batch, MixedTypesOrRanksAreRefused) {
  std::vector<Tensor> a{Tensor::empty(DType::uint8, Shape{2}), Tensor::empty(DType::int8, Shape{2})};
  EXPECT_THROW(Batch::from_tensors(a), Error);
  std::vector<Tensor> b{Tensor::empty(DType::uint8, Shape{2}), Tensor::empty(DType::uint8, Shape{2, 1})};
  EXPECT_THROW(Batch::from_tensors(b), Error);
  EXPECT_THROW(Batch::from_tensors({}), Error);
}

TEST(View, CopiesThroughAnyStrides) {
  for (const DType t : {DType::uint8, DType::int16, DType::float32, DType::float64}) {
    Tensor from = Tensor::empty(t, Shape{4, 5, 3});
    for (int i = 0; i < 60; ++i)
      dispatch(t, [&](auto tag) { from.view.as<typename decltype(tag)::type>()[i] = typename decltype(tag)::type(i); });
    View turned = from.view;  // swaps the last two dimensions
    turned.shape = Shape{4, 3, 5};
    turned.strides = Shape{15, 1, 3};
    EXPECT_FALSE(turned.dense());
    Tensor to = Tensor::empty(t, turned.shape);
    copy_strided(turned, to.view);
    for (int64_t i = 0; i < 60; ++i) {
      const int64_t expected = i / 15 * 15 + i % 5 * 3 + i / 5 % 3;
      EXPECT_EQ(element_as_double(to.view, i), static_cast<double>(expected));
      EXPECT_EQ(element_as_int(turned, i), expected);
    }
  }
}

}  // namespace
}  // namespace penstock
