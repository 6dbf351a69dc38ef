// SPDX-License-Identifier: Apache-2.0
#include "numerics/labeled_blobs.h"

#include <algorithm>
#include <unordered_map>

namespace penstock {

double Blob::volume() const {
  double v = 1;
  for (int d = 0; d < start.size(); ++d) v *= static_cast<double>(end[d] - start[d]);
  return v;
}

std::vector<Blob> find_blobs(const View& labels, const std::function<bool(int64_t label)>& wanted) {
  const int64_t n = labels.volume();
  const int dims = labels.shape.size();
  const Shape strides = dense_strides(labels.shape);
  std::vector<Blob> blobs;
  dispatch(labels.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* label = labels.as<const T>();
    std::vector<char> seen(static_cast<size_t>(n));
    std::unordered_map<int64_t, bool> is_wanted;
    std::vector<int64_t> open;
    for (int64_t first = 0; first < n; ++first) {
      if (seen[static_cast<size_t>(first)]) continue;
      const T own = label[first];
      const auto [known, fresh] = is_wanted.try_emplace(static_cast<int64_t>(own), false);
      if (fresh) known->second = wanted(known->first);
      if (!known->second) continue;
      Blob b{known->first, Shape::filled(dims, INT64_MAX), Shape::filled(dims, 0)};
      open.assign(1, first);
      seen[static_cast<size_t>(first)] = 1;
      while (!open.empty()) {
        const int64_t i = open.back();
        open.pop_back();
        for (int d = 0; d < dims; ++d) {
          const int64_t x = i / strides[d] % labels.shape[d];
          b.start[d] = std::min(b.start[d], x), b.end[d] = std::max(b.end[d], x + 1);
          for (int64_t step : {int64_t{-1}, int64_t{1}}) {
            if (x + step < 0 || x + step >= labels.shape[d]) continue;
            const int64_t j = i + step * strides[d];
            if (seen[static_cast<size_t>(j)] || !(label[j] == own)) continue;
            seen[static_cast<size_t>(j)] = 1;
            open.push_back(j);
          }
        }
      }
      blobs.push_back(b);
    }
  });
  return blobs;
}

}  // namespace penstock
