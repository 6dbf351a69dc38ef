// SPDX-License-Identifier: Apache-2.0
// Copies of samples of any strides, against the copies of the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "batch/copy_strided_on_gpu.h"
#include "gpu_room/forwarding_driver.h"

namespace penstock {
namespace {

class CountingCopies final : public ForwardingDriver {
 public:
  using ForwardingDriver::ForwardingDriver;
  void copy(int device, void* to, const void* from, size_t bytes, StreamHandle s) override {
    ++copies;
    d_->copy(device, to, from, bytes, s);
  }
  int copies = 0;
};

// Strides of an order of the dimensions of its own, with gaps, some of them backward; and the elements that they need.
struct Strides {
  Shape steps;
  int64_t first = 0, elements = 1;
  Strides(const Shape& shape, std::mt19937& random) : steps(Shape::filled(shape.size(), 0)) {
    std::vector<int> order(static_cast<size_t>(shape.size()));
    std::iota(order.begin(), order.end(), 0);
    if (random() % 2) std::shuffle(order.begin(), order.end(), random);
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      steps[*d] = elements + static_cast<int64_t>(random() % 3);
      elements = steps[*d] * shape[*d];
    }
    for (int d = 0; d < shape.size(); ++d)
      if (random() % 4 == 0) first += steps[d] * (shape[d] - 1), steps[d] = -steps[d];
  }
};

TEST(StridedCopies, HaveTheBytesOfTheHosts) {
  std::mt19937 random(7);
  const auto driver = make_driver();
  for (int k = 0; k < 400; ++k) {
    Shape shape = Shape::filled(static_cast<int>(random() % 5), 0);
    for (int d = 0; d < shape.size(); ++d) shape[d] = 1 + static_cast<int64_t>(random() % 5);
    const DType type = std::vector{DType::uint8, DType::int16, DType::float32, DType::float64}[random() % 4];
    const size_t size = size_of(type);
    const Strides from(shape, random), to(shape, random);
    std::vector<char> source(static_cast<size_t>(from.elements) * size);
    std::vector<char> filled(static_cast<size_t>(to.elements) * size);
    for (char& c : source) c = static_cast<char>(random());
    std::vector<char> wanted = filled;
    const auto at = [&](std::vector<char>& bytes, const Strides& s) {
      return View{bytes.data() + static_cast<size_t>(s.first) * size, type, {}, shape, s.steps};
    };
    copy_strided(at(source, from), at(wanted, to));
    copy_strided_on_gpu(*driver, 0, at(source, from), at(filled, to), nullptr);
    EXPECT_EQ(filled, wanted) << k;
  }
}

// A part of a picture is one copy of rows; this stand-in for a driver makes each of them by itself.
TEST(StridedCopies, AreOfRows) {
  CountingCopies driver(make_driver());
  std::vector<char> picture(20 * 30 * 3, 1), part(5 * 7 * 3);
  copy_strided_on_gpu(driver, 0, {picture.data(), DType::uint8, {}, {5, 7, 3}, {90, 3, 1}},
                      {part.data(), DType::uint8, {}, {5, 7, 3}, {21, 3, 1}}, nullptr);
  EXPECT_EQ(driver.copies, 5);
  EXPECT_EQ(part, std::vector<char>(part.size(), 1));
  driver.copies = 0;
  std::vector<char> whole(picture.size());
  copy_strided_on_gpu(driver, 0, {picture.data(), DType::uint8, {}, {20, 30, 3}, {90, 3, 1}},
                      {whole.data(), DType::uint8, {}, {20, 30, 3}, {90, 3, 1}}, nullptr);
  EXPECT_EQ(driver.copies, 1);
  EXPECT_EQ(whole, picture);
}

}  // namespace
}  // namespace penstock
