// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <memory>
#include <utility>

#include "base/error.h"

namespace penstock {

// Up to kMost elements without an allocation. Elements beyond the size are not constructed.
template <class T, int kMost> class FixedVector {
 public:
  FixedVector() = default;
  FixedVector(std::initializer_list<T> v) {
    for (const T& x : v) push_back(x);
  }
  FixedVector(const FixedVector& other) {
    for (const T& x : other) push_back(x);
  }
  FixedVector(FixedVector&& other) noexcept {
    for (T& x : other) emplace_back(std::move(x));
  }
  FixedVector& operator=(const FixedVector& other) {
    if (this == &other) return *this;
    clear();
    for (const T& x : other) push_back(x);
    return *this;
  }
  FixedVector& operator=(FixedVector&& other) noexcept {
    if (this == &other) return *this;
    clear();
    for (T& x : other) emplace_back(std::move(x));
    return *this;
  }
  ~FixedVector() { clear(); }

  template <class... A> T& emplace_back(A&&... a) {
    if (n_ == kMost) fail(ErrorKind::internal, "more than {} elements", kMost);
    T* p = std::construct_at(data() + n_, std::forward<A>(a)...);
    ++n_;
    return *p;
  }
  void push_back(const T& v) { emplace_back(v); }
  void push_back(T&& v) { emplace_back(std::move(v)); }
  void pop_back() { std::destroy_at(data() + --n_); }
  void clear() {
    while (n_ > 0) pop_back();
  }

  int size() const { return n_; }
  bool empty() const { return n_ == 0; }
  T* data() { return reinterpret_cast<T*>(room_); }
  const T* data() const { return reinterpret_cast<const T*>(room_); }
  T& operator[](int i) { return data()[i]; }
  const T& operator[](int i) const { return data()[i]; }
  T& back() { return data()[n_ - 1]; }
  const T& back() const { return data()[n_ - 1]; }
  T* begin() { return data(); }
  T* end() { return data() + n_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + n_; }

 private:
  alignas(T) std::byte room_[sizeof(T) * kMost];
  int n_ = 0;
};

}  // namespace penstock
