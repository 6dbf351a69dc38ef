// SPDX-License-Identifier: Apache-2.0
// Operators that transform blocks of 8 x 8 samples: what JPEG preserves of an image at a quality, without the bit
// stream, that is, what libjpeg-turbo would decode from its own encoding (integer transforms, chroma halved both ways).
#pragma once
#include "families/blocks/kernels/jpeg.h"
#include "operator/kernel_step.h"

namespace penstock::blocks {

// `planes` of so many bytes in a frame.
inline int64_t plane_bytes(const JpegRow& r) { return int64_t{r.columns} * r.rows * 384; }
// Two steps of `frames` images that follow each other. On the host `compress` makes the planes, `decode` the pixels.
inline void preserve(const JpegRow& row, int64_t frames, SampleWork& to, std::function<void()> compress,
                     std::function<void()> decode) {
  constexpr const char* kHeader = "families/blocks/kernels/jpeg.h";
  to.kernel({{kHeader, "blocks::jpeg_blocks", {}, {}, nullptr, kJpegGroups},
             row_bytes(row),
             frames * row.columns * row.rows,
             static_cast<size_t>(kJpegBytes),
             nullptr,
             0,
             std::move(compress)});
  to.then();
  to.kernel({{kHeader, "blocks::jpeg_colors", {}, {}, nullptr, kThreads, 6},
             row_bytes(row),
             frames * row.height * ((row.width + 7) / 8),
             static_cast<size_t>(kColorBytes),
             nullptr,
             0,
             std::move(decode)});
}

}  // namespace penstock::blocks
