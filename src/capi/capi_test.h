// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the C interface.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "penstock/penstock.h"

#define EXPECT_STATUS(expected, expression)                                   \
  do {                                                                        \
    const penstock_status got = (expression);                                 \
    EXPECT_EQ(got, expected) << #expression << ": " << penstock_last_error(); \
  } while (false)
#define EXPECT_OK(expression) EXPECT_STATUS(PENSTOCK_OK, expression)
// A failure whose message contains `text`.
#define EXPECT_FAILS(expected, text, expression)                                                          \
  do {                                                                                                    \
    EXPECT_STATUS(expected, expression);                                                                  \
    EXPECT_NE(std::string(penstock_last_error()).find(text), std::string::npos) << penstock_last_error(); \
  } while (false)

namespace capi_test {

template <class T> T zeroed() {
  T t{};
  t.struct_size = sizeof t;
  return t;
}

inline std::vector<uint8_t> ramp(size_t n) {
  std::vector<uint8_t> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<uint8_t>(i * 7);
  return v;
}

// uint8 HWC images of the given heights and widths in one vector each.
struct Images {
  std::vector<std::vector<uint8_t>> bytes;
  std::vector<void*> data;
  std::vector<int64_t> shapes;

  explicit Images(const std::vector<std::pair<int, int>>& sizes, int channels = 3) {
    for (const auto& [h, w] : sizes) {
      auto& b = bytes.emplace_back(static_cast<size_t>(h) * w * channels);
      for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<uint8_t>(i * 31 + bytes.size());
      shapes.insert(shapes.end(), {h, w, channels});
    }
    for (auto& b : bytes) data.push_back(b.data());
  }
  penstock_batch_description description() {
    auto d = zeroed<penstock_batch_description>();
    d.dtype = PENSTOCK_UINT8, d.ndim = 3, d.layout = "HWC";
    d.num_samples = static_cast<int>(data.size()), d.shapes = shapes.data(), d.data = data.data();
    return d;
  }
  penstock_batch* batch() {
    const auto d = description();
    penstock_batch* b = nullptr;
    EXPECT_OK(penstock_batch_create(&d, &b));
    return b;
  }
};

inline penstock_sample sample(const penstock_batch* b, int i) {
  auto s = zeroed<penstock_sample>();
  EXPECT_OK(penstock_batch_get_sample(b, i, &s));
  return s;
}

inline std::vector<uint8_t> bytes_of(const penstock_batch* b, int i) {
  const auto s = sample(b, i);
  const auto* p = static_cast<const uint8_t*>(s.data);
  return {p, p + s.bytes};
}

}  // namespace capi_test
