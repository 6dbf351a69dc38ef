// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "base/error.h"

namespace penstock {

// The extents of a sample, at most kMaxDims, without an allocation. -1 means "not known yet".
class Shape {
 public:
  static constexpr int kMaxDims = 8;
  Shape() {}  // elements after the last extent stay unwritten
  Shape(std::initializer_list<int64_t> v) : Shape(std::span(v.begin(), v.size())) {}
  explicit Shape(std::span<const int64_t> v) {
    for (int64_t e : v) push_back(e);
  }
  static Shape filled(int ndim, int64_t value) {
    Shape s;
    for (int i = 0; i < ndim; ++i) s.push_back(value);
    return s;
  }
  void push_back(int64_t e) {
    if (n_ == kMaxDims) bad_argument("a tensor has at most {} dimensions", kMaxDims);
    v_[n_++] = e;
  }
  int size() const { return n_; }
  bool empty() const { return n_ == 0; }
  int64_t& operator[](int i) { return v_[i]; }
  int64_t operator[](int i) const { return v_[i]; }
  const int64_t* begin() const { return v_.data(); }
  const int64_t* end() const { return v_.data() + n_; }
  bool known() const {
    for (int64_t e : *this)
      if (e < 0) return false;
    return true;
  }
  // The product of the extents; throws if it does not fit into 63 bits.
  int64_t volume() const {
    int64_t p = 1;
    for (int64_t e : *this)
      if (__builtin_mul_overflow(p, e, &p)) bad_argument("a shape of more than 2^63 elements: {}", text());
    return p;
  }
  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.n_ != b.n_) return false;
    for (int i = 0; i < a.n_; ++i)
      if (a.v_[i] != b.v_[i]) return false;
    return true;
  }
  std::string text() const {  // "(2, 3)"
    std::string s = "(";
    for (int i = 0; i < n_; ++i) s += (i ? ", " : "") + (v_[i] < 0 ? std::string("?") : std::to_string(v_[i]));
    return s + (n_ == 1 ? ",)" : ")");
  }

 private:
  std::array<int64_t, kMaxDims> v_;
  int n_ = 0;
};

// Row-major strides in elements.
inline Shape dense_strides(const Shape& s) {
  Shape r = s;
  int64_t step = 1;
  for (int i = s.size() - 1; i >= 0; --i) {
    r[i] = step;
    step *= s[i];
  }
  return r;
}

}  // namespace penstock
