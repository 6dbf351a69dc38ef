// SPDX-License-Identifier: Apache-2.0
// What the family's tests share: random maps, images in guarded memory, and the comparison with the twin.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "families/gather/kernels/twin.h"

namespace penstock::gather {

struct MapRule {
  struct Coef {
    const float *x, *y;
    int32_t width;
    float rest;
  };
  template <class V> static Position<V> at(int32_t, int32_t y, int32_t x, const Coef& c) {
    const int64_t i = int64_t{y} * c.width + x;
    return {V(c.x[i]), V(c.y[i]), V(c.rest), V(c.rest)};
  }
};

// Memory that ends with a page that cannot be read: a read past it is a fault.
class GuardedMemory {
 public:
  GuardedMemory() : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    all_ = static_cast<char*>(
        mmap(nullptr, kPages * page_ + 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(all_, page_, PROT_NONE);
    mprotect(all_ + (kPages + 1) * page_, page_, PROT_NONE);
  }
  ~GuardedMemory() { munmap(all_, (kPages + 2) * page_); }
  char* last(size_t bytes) const { return all_ + (kPages + 1) * page_ - bytes; }
  char* first() const { return all_ + page_; }
  size_t size() const { return kPages * page_; }

 private:
  static constexpr size_t kPages = 16;
  size_t page_;
  char* all_;
};

// Positions around the image, some of them halfway, far outside or no numbers.
inline std::vector<float> random_map(std::mt19937& random, size_t n, int extent) {
  std::uniform_real_distribution<float> near(-2.5f, static_cast<float>(extent) + 1.5f);
  std::vector<float> map(n);
  const float special[] = {NAN,        INFINITY, -INFINITY,   1e30f,      -1e30f,
                           1e9f,       -1e9f,    12345678.5f, -87654.25f, -0.0f,
                           -1e-20f,    1e-20f,   0.49999997f, -0.5f,      static_cast<float>(extent),
                           0.99999994f};
  const bool inside = random() % 3 == 0;
  for (float& v : map) {
    const auto kind = random() % 32;
    v = inside ? std::uniform_real_distribution<float>(1, std::max(static_cast<float>(extent) - 2.5f, 1.5f))(random)
        : kind == 0 ? special[random() % std::size(special)]
        : kind < 8  ? std::round(near(random) * 4) / 4
                    : near(random);
  }
  return map;
}

// A random call.
struct Call {
  explicit Call(std::mt19937& random) {
    const auto pick = [&](int n) { return static_cast<int32_t>(random() % n); };
    source.channels = std::array{1, 3, 4, 3, 1, 2, 5}[pick(7)];
    source.height = 1 + pick(12), source.width = 1 + pick(40);
    source.filter = static_cast<Filter>(pick(3)), source.border = static_cast<Border>(pick(5));
    source.fill = std::array{0.0f, 77.0f, 3.7f, -5.0f, 300.0f, 2.5f}[pick(6)];
    height = 1 + pick(6), width = 1 + pick(70);
    if (pick(8) == 0) width += 512;
    const auto outputs = static_cast<size_t>(height) * static_cast<size_t>(width);
    xs = random_map(random, outputs, source.width), ys = random_map(random, outputs, source.height);
    coef = {xs.data(), ys.data(), width, pick(2) ? -0.5f : 0.0f};
  }
  Call(const Call&) = delete;
  std::string text(DType type) const {
    return fmt::format("type {} filter {} border {} fill {} source {} x {} x {}", name_of(type),
                       static_cast<int>(source.filter), static_cast<int>(source.border), source.fill, source.height,
                       source.width, source.channels);
  }
  size_t elements() const { return static_cast<size_t>(source.height) * source.width * source.channels; }
  Source source{};
  int32_t height, width;
  std::vector<float> xs, ys;
  MapRule::Coef coef;
};
template <class T, class V> void expect_twin(const T* in, const T* got, const Call& c, const std::string& where) {
  for (int32_t y = 0; y < c.height; ++y)
    for (int32_t x = 0; x < c.width; ++x) {
      Neighbor<V> ny, nx;
      neighbors<MapRule, kLinear>(0, y, x, c.coef, ny, nx);
      for (int32_t k = 0; k < c.source.channels; ++k, ++got) {
        const T expected = sampled(in, c.source, ny, nx, k);
        if constexpr (!std::is_same_v<T, Half>)
          if (expected != expected && *got != *got) continue;  // NaN has many spellings
        ASSERT_EQ(0, std::memcmp(&expected, got, sizeof(T))) << where << " y " << y << " x " << x << " channel " << k;
      }
    }
}
template <class T> T random_element(std::mt19937& random) {
  if constexpr (std::is_same_v<T, bool>) return random() % 2;
  else if constexpr (std::is_integral_v<T>) return static_cast<T>((uint64_t{random()} << 32) | random());
  else if constexpr (std::is_same_v<T, Half>) return Half(static_cast<float>(random() % 2001) - 1000.0f);
  else return random() % 50 ? static_cast<T>(random() % 100003) / T(7) : std::numeric_limits<T>::infinity();
}

}  // namespace penstock::gather
