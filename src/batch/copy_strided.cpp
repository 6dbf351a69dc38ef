// SPDX-License-Identifier: Apache-2.0
#include "batch/batch.h"
#include "batch/copy_boxes.h"

namespace penstock {

void copy_strided(const View& from, const View& to) {
  if (!(from.shape == to.shape))
    fail(ErrorKind::internal, "copy between shapes {} and {}", from.shape.text(), to.shape.text());
  const auto bytes = static_cast<int64_t>(size_of(from.dtype));
  CopyDim dims[Shape::kMaxDims];
  const int n = from.shape.size();
  for (int d = 0; d < n; ++d) dims[d] = {from.shape[d], from.strides[d] * bytes, to.strides[d] * bytes};
  copy_boxes(from.data, to.data, std::span(dims, static_cast<size_t>(n)), bytes);
}

}  // namespace penstock
