// SPDX-License-Identifier: Apache-2.0
#include "families/gather/gather.h"

#include <limits>

namespace penstock::gather {

Images images_of(const Shape& shape, const Layout& layout) {
  const ImageRule::Extents e = image_extents(shape, layout);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  for (const int64_t n : {e.outer * e.depth, e.height, e.width, e.inner})
    if (n > kMost) bad_argument("images of {} are too large: extents end at {}", shape.text(), kMost);
  return {static_cast<int32_t>(e.outer * e.depth), static_cast<int32_t>(e.height), static_cast<int32_t>(e.width),
          static_cast<int32_t>(e.inner)};
}

Source source_of(const Images& in, const Sampling& sampling) {
  const bool empty = in.height == 0 || in.width == 0;  // nothing but the border
  return {in.height, in.width, in.channels, sampling.filter, empty ? kConstant : sampling.border, sampling.fill};
}

void* image_at(const View& v, const Images& images, int32_t i) {
  const int64_t elements = int64_t{i} * images.height * images.width * images.channels;
  return v.as<char>() + elements * static_cast<int64_t>(size_of(v.dtype));
}

FamilyKernel kernel_for(DType dtype, const Source& source, std::string (*rule)()) {
  const int channels = source.channels == 1 || source.channels == 3 || source.channels == 4 ? source.channels : 0;
  FamilyKernel kernel;
  kernel.header = "families/gather/kernels/sample.h", kernel.name = "gather::sample_pixels";
  kernel.types = {dtype}, kernel.numbers = {channels, source.filter};
  kernel.rule = rule;
  return kernel;
}

Columns columns_of(const FamilyKernel& kernel, DType dtype, const Images& made) {
  const int rows = rows_together(static_cast<int>(size_of(dtype)), kernel.numbers[0], kernel.numbers[1]);
  return {made.height, made.width, rows};
}

}  // namespace penstock::gather
