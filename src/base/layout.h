// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"

namespace penstock {

// One letter per dimension: N batch, F frames, D depth, H height, W width, C channels; empty = unknown.
class Layout {
 public:
  Layout() = default;
  Layout(std::string_view s) {
    if (s.size() > 8) bad_argument("a layout has at most 8 letters, got '{}'", std::string(s));
    n_ = static_cast<uint8_t>(s.size());
    std::memcpy(v_, s.data(), s.size());
  }
  Layout(const char* s) : Layout(std::string_view(s)) {}
  Layout(const std::string& s) : Layout(std::string_view(s)) {}
  int size() const { return n_; }
  bool empty() const { return n_ == 0; }
  char operator[](int i) const { return v_[i]; }
  int find(char c) const {
    for (int i = 0; i < n_; ++i)
      if (v_[i] == c) return i;
    return -1;
  }
  bool has(char c) const { return find(c) >= 0; }
  std::string_view view() const { return {v_, n_}; }
  std::string str() const { return std::string(view()); }
  friend bool operator==(const Layout& a, const Layout& b) { return a.view() == b.view(); }

 private:
  char v_[8] = {};
  uint8_t n_ = 0;
};

}  // namespace penstock
