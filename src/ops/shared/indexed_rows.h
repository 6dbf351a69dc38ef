// SPDX-License-Identifier: Apache-2.0
// The rows of an array that a boolean mask or a list of indices selects: shared by the operators of x[mask] and x[[0,
// 2]].
#pragma once
#include <cstring>
#include <vector>

#include "operator/broadcast.h"

namespace penstock {

// Row numbers where the mask is true; a row has those axes of x that the mask does not have.
inline std::vector<int64_t> rows_where(const View& mask) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < mask.volume(); ++i)
    if (element_as_int(mask, i)) rows.push_back(i);
  return rows;
}

inline std::vector<int64_t> rows_listed(const View& list, int64_t n) {
  std::vector<int64_t> rows;
  for (int64_t k = 0; k < list.volume(); ++k) {
    const int64_t i = element_as_int(list, k);
    if (i < -n || i >= n) bad_argument("index {} is out of bounds for dimension 0 with {} elements", i, n);
    rows.push_back(i < 0 ? i + n : i);
  }
  return rows;
}

inline void check_mask(const Shape& mask, const Shape& x) {
  bool fits = mask.size() <= x.size();
  for (int d = 0; fits && d < mask.size(); ++d) fits = mask[d] == x[d];
  if (!fits) bad_argument("a mask of shape {} does not fit a value of shape {}", mask.text(), x.text());
}

// Axes `from` and later of x's shape, after `front`.
inline Shape with_rest(Shape front, const Shape& x, int from) {
  for (int d = from; d < x.size(); ++d) front.push_back(x[d]);
  return front;
}

// Dense bytes of a row.
inline size_t row_bytes(const View& x, int from) {
  size_t bytes = size_of(x.dtype);
  for (int d = from; d < x.shape.size(); ++d) bytes *= static_cast<size_t>(x.shape[d]);
  return bytes;
}

inline void take_rows(const View& x, int from, const std::vector<int64_t>& rows, const View& out) {
  const size_t bytes = row_bytes(x, from);
  for (size_t k = 0; k < rows.size(); ++k)
    if (bytes) std::memcpy(out.as<char>() + k * bytes, x.as<char>() + static_cast<size_t>(rows[k]) * bytes, bytes);
}

// `picked`: the shape of the part that is assigned to; the value is broadcast to it.
inline void assign_rows(const View& x, const View& value, int from, const std::vector<int64_t>& rows,
                        const Shape& picked, const View& out) {
  if (x.data != out.data) copy_strided(x, out);  // otherwise the operator works in place
  std::vector<std::byte> values(static_cast<size_t>(picked.volume()) * size_of(x.dtype));
  assign(value, {values.data(), x.dtype, {}, picked, dense_strides(picked)});
  const size_t bytes = row_bytes(x, from);
  for (size_t k = 0; k < rows.size(); ++k)
    if (bytes) std::memcpy(out.as<char>() + static_cast<size_t>(rows[k]) * bytes, values.data() + k * bytes, bytes);
}

}  // namespace penstock
