// SPDX-License-Identifier: Apache-2.0
#include "cpu/frame_source.h"

#include <algorithm>

#include "operator/pixel_source.h"
#include "stage/frame_pixels.h"
#include "stage/source_range.h"

namespace penstock {

FrameSource::FrameSource(const StageCode& code, const View& frames, const Shape& shape, const Placement& placement)
    : source_(*pixel_source(*code.program.nodes[0].op)), frames_(frames), h_(pixel_type(code).layout.find('H')) {
  const SourceRange rows = source_range(placement, h_), columns = source_range(placement, h_ + 1);
  // Chroma may be for two pixels.
  const int64_t end = std::min((columns.hi + 1) / 2 * 2, shape[h_ + 1]);
  y_ = rows.lo, x_ = columns.lo / 2 * 2;
  pixels_ = {nullptr, DType::uint8, pixel_type(code).layout, shape, {}};
  pixels_.shape[h_] = rows.hi - rows.lo, pixels_.shape[h_ + 1] = end - x_;
  pixels_.strides = dense_strides(pixels_.shape);
}

void FrameSource::set_origin(int64_t* origin) const { origin[h_] = y_, origin[h_ + 1] = x_; }

void* FrameSource::convert(std::vector<uint8_t>& memory) const {
  constexpr size_t kPast = 64;  // vectors may read so far past the last pixel
  const size_t bytes = checked_bytes(pixels_.shape.volume(), 1);
  if (memory.size() < bytes + kPast) memory.resize(bytes + kPast);
  Tensor dense;
  View from = frames_;
  if (!from.dense()) {
    dense = Tensor::empty(from.dtype, from.shape, from.layout);
    copy_strided(from, dense.view);
    from = dense.view;
  }
  const int64_t pitch = pixels_.strides[h_], height = pixels_.shape[h_];
  for (int64_t f = 0; f < (h_ > 0 ? pixels_.shape[0] : 1); ++f)
    source_.frame_pixels(from, {f, y_, x_, height, pixels_.shape[h_ + 1]}, memory.data() + f * height * pitch, pitch);
  return memory.data();
}

}  // namespace penstock
