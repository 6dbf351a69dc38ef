// SPDX-License-Identifier: Apache-2.0
// What the family's tests share: rules, random samples, and the comparison with the twin.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>

#include "base/dtype.h"
#include "families/field/kernels/twin.h"

namespace penstock::field {

struct SumRule {
  struct Coef {
    float mean, stddev;
  };
  template <class V> PENSTOCK_HD static V noisy(V in, V z, const Coef& c) {
    return fma(z, static_cast<V>(c.stddev), in + static_cast<V>(c.mean));
  }
};
struct CountRule {
  struct Coef {
    float factor;
  };
  template <class V> PENSTOCK_HD static V mean(V in, const Coef& c) { return in / static_cast<V>(c.factor); }
  template <class V> PENSTOCK_HD static V noisy(V, V count, const Coef& c) { return count * static_cast<V>(c.factor); }
};
struct TwoValuesRule {
  struct Coef {
    float low, high;
  };
  PENSTOCK_HD static float value(uint32_t word, const Coef& c) { return word & 1 ? c.high : c.low; }
};

template <class T> T random_element(std::mt19937& random) {
  if constexpr (std::is_same_v<T, bool>) return random() % 2;
  else if constexpr (std::is_integral_v<T>) return static_cast<T>((uint64_t{random()} << 32) | random());
  else if constexpr (std::is_same_v<T, Half>) return Half(static_cast<float>(random() % 2001) - 1000.0f);
  else if (random() % 50 == 0)
    return random() % 2 ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
  else return static_cast<T>(random() % 100003) / T(7);
}
// A vector, also of bool.
template <class T> class Memory {
 public:
  explicit Memory(size_t n) : all_(new T[n]), size_(n) { std::fill_n(all_.get(), n, T(1)); }
  T* data() const { return all_.get(); }
  T& operator[](size_t i) const { return all_[i]; }
  T back() const { return all_[size_ - 1]; }

 private:
  std::unique_ptr<T[]> all_;
  size_t size_;
};
template <class T> Memory<T> random_elements(std::mt19937& random, size_t n) {
  Memory<T> all(n);
  for (size_t i = 0; i < n; ++i) all[i] = random_element<T>(random);
  return all;
}
inline RandomStream random_stream(std::mt19937& random) {
  return {static_cast<uint32_t>(random()), static_cast<uint32_t>(random()), uint64_t{random()} << (random() % 2 * 20)};
}
template <class T> bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a && b != b) return true;  // NaN has many spellings
  return std::memcmp(&a, &b, sizeof a) == 0;
}
template <class T, class Expected>
void expect_each(const Memory<T>& got, size_t begin, size_t n, const std::string& where, const Expected& expected) {
  for (size_t i = 0; i < n; ++i) ASSERT_TRUE(same<T>(got[begin + i], expected(i))) << where << " element " << i;
}

}  // namespace penstock::field
