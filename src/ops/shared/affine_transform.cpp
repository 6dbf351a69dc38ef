// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/affine_transform.h"

namespace penstock {

AffineMatrix AffineMatrix::after(const AffineMatrix& b) const {
  AffineMatrix c(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= n; ++j) {
      double sum = j == n ? at(i, n) : 0;
      for (int k = 0; k < n; ++k) sum += at(i, k) * b.at(k, j);
      c.at(i, j) = sum;
    }
  return c;
}

AffineMatrix read_affine(const View& v) {
  AffineMatrix a(affine_dims(v.shape));
  for (size_t i = 0; i < a.m.size(); ++i) a.m[i] = element_as_double(v, static_cast<int64_t>(i));
  return a;
}

void write_affine(const AffineMatrix& a, const View& out) {
  std::transform(a.m.begin(), a.m.end(), out.as<float>(), [](double v) { return static_cast<float>(v); });
}

void check_affine_type(const ValueType& in) {
  if (in.dtype != DType::none && in.dtype != DType::float32)
    bad_type("matrices must be float32, got {}", name_of(in.dtype));
  const bool frames = in.ndim == 3 && (in.layout.empty() || in.layout[0] == 'F');
  if (in.ndim >= 0 && in.ndim != 2 && !frames)
    bad_type("a matrix must have two dimensions, and a leading one for frames if its layout starts with F; got {}",
             in.ndim);
}

int affine_dims(const Shape& s) {
  const int64_t rows = s[s.size() - 2], columns = s[s.size() - 1];
  if (columns != rows + 1 || rows < 1)
    bad_argument("an affine map must have n rows of n + 1 numbers, got the shape {}", s.text());
  if (rows > kMostAffineDims) bad_argument("a map must have 1 to {} dimensions, got {}", kMostAffineDims, rows);
  return static_cast<int>(rows);
}

std::vector<float> each_of(const std::vector<float>& list, int n, const char* name) {
  if (list.size() == 1) return std::vector<float>(static_cast<size_t>(n), list[0]);
  if (static_cast<int>(list.size()) != n)
    bad_argument("{} has {} numbers, but the map has {} dimensions", name, list.size(), n);
  return list;
}

}  // namespace penstock
