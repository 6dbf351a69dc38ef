// SPDX-License-Identifier: Apache-2.0
// Axes that a caller gives by number or by letter.
#pragma once
#include <numeric>
#include <string>
#include <vector>

#include "base/layout.h"

namespace penstock {

// An axis in [-ndim, ndim) as an index in [0, ndim).
inline int axis_index(int64_t axis, int ndim) {
  if (axis < -ndim || axis >= ndim) bad_argument("axis {} is out of range for {} dimensions", axis, ndim);
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

inline void check_axes_differ(const std::vector<int>& axes) {
  for (size_t i = 0; i < axes.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (axes[i] == axes[k]) bad_argument("axis {} is given twice", axes[i]);
}

inline std::vector<int> axes_by_number(const std::vector<int64_t>& axes, int ndim) {
  std::vector<int> out;
  for (int64_t a : axes) out.push_back(axis_index(a, ndim));
  check_axes_differ(out);
  return out;
}

inline std::vector<int> axes_by_name(const std::string& names, const Layout& layout) {
  std::vector<int> out;
  for (char c : names) {
    if (!layout.has(c)) bad_argument("axis_names has '{}', which the layout '{}' does not have", c, layout.str());
    out.push_back(layout.find(c));
  }
  check_axes_differ(out);
  return out;
}

inline std::vector<int> all_axes(int ndim) {
  std::vector<int> out(ndim);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// Entry i of a list that has one entry for all axes or one for each of n axes.
template <class T> T entry_of(const std::vector<T>& list, size_t i, size_t n, const char* name) {
  if (list.size() == n) return list[i];
  if (list.size() == 1) return list[0];
  bad_argument("{} has {} values, but there are {} axes", name, list.size(), n);
}

}  // namespace penstock
