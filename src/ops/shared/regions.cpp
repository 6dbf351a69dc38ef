// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/regions.h"

#include <algorithm>

namespace penstock {
namespace {

// Pixels of a row that belong together. A region is a tree of runs: its first run is the root.
struct Run {
  int32_t row, begin, end;
  int32_t parent;
};

int32_t root_of(std::vector<Run>& runs, int32_t k) {
  while (runs[static_cast<size_t>(k)].parent != k) {
    Run& r = runs[static_cast<size_t>(k)];
    r.parent = runs[static_cast<size_t>(r.parent)].parent;
    k = r.parent;
  }
  return k;
}
void unite(std::vector<Run>& runs, int32_t a, int32_t b) {
  a = root_of(runs, a), b = root_of(runs, b);
  runs[static_cast<size_t>(std::max(a, b))].parent = std::min(a, b);
}

template <class T> std::vector<Run> runs_of(const T* mask, const RegionCoef& c) {
  std::vector<Run> runs;
  size_t above = 0;  // the runs of the row above, from this one to before `first`
  for (int64_t y = 0; y < c.height; ++y) {
    const T* const row = mask + y * c.width;
    const size_t first = runs.size();
    const auto is_background = [&](int64_t x) { return static_cast<int64_t>(row[x]) == c.background; };
    size_t next = above;
    for (int64_t x = 0; x < c.width;) {
      if (is_background(x)) {
        ++x;
        continue;
      }
      int64_t end = x + 1;
      while (end < c.width && (c.by_value ? row[end] == row[x] : !is_background(end))) ++end;
      const auto own = static_cast<int32_t>(runs.size());
      runs.push_back({static_cast<int32_t>(y), static_cast<int32_t>(x), static_cast<int32_t>(end), own});
      const int64_t reach = c.diagonal ? 1 : 0;
      while (next < first && runs[next].end + reach <= x) ++next;
      for (size_t k = next; k < first && runs[k].begin < end + reach; ++k)
        if (!c.by_value || mask[(y - 1) * c.width + runs[k].begin] == row[x]) unite(runs, own, static_cast<int32_t>(k));
      x = end;
    }
    above = first;
  }
  return runs;
}

}  // namespace

int64_t label_regions(const View& mask, const RegionCoef& c, int32_t* labels, int32_t* statistics) {
  std::vector<Run> runs;
  dispatch(mask.dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) runs = runs_of(mask.as<const T>(), c);
  });
  std::vector<int64_t> area(runs.size(), 0);
  for (size_t k = 0; k < runs.size(); ++k)
    area[static_cast<size_t>(root_of(runs, static_cast<int32_t>(k)))] += runs[k].end - runs[k].begin;
  int32_t count = 0;
  std::vector<int32_t> number(runs.size(), 0);
  for (size_t k = 0; k < runs.size(); ++k)
    if (area[k] >= std::max<int64_t>(1, c.least)) number[k] = ++count;
  if (labels) std::fill_n(labels, c.height * c.width, 0);
  for (size_t k = 0; k < runs.size() && (labels || statistics); ++k) {
    const Run& r = runs[k];
    const auto root = static_cast<size_t>(root_of(runs, static_cast<int32_t>(k)));
    if (number[root] == 0) continue;
    if (labels) std::fill_n(labels + r.row * c.width + r.begin, r.end - r.begin, number[root]);
    if (!statistics) continue;
    int32_t* const row = statistics + 5 * (number[root] - 1);
    if (root == k) {
      const int32_t first[5] = {r.begin, r.row, r.end - r.begin, 1, static_cast<int32_t>(area[root])};
      std::copy(std::begin(first), std::end(first), row);
      continue;
    }
    const int32_t left = std::min(row[0], r.begin), right = std::max(row[0] + row[2], r.end);
    row[0] = left, row[2] = right - left, row[3] = r.row + 1 - row[1];
  }
  return count;
}

}  // namespace penstock
