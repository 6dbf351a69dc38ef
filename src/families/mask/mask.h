// SPDX-License-Identifier: Apache-2.0
// The family mask: operators that keep a pixel or set it to 0, by its place. An operator gives `Coef` and
//   bool clears(double x, double y, const Coef&)
// in PENSTOCK_PIXEL, and a function for the host, which gives the same.
#pragma once
#include "families/mask/kernels/mask.h"
#include "operator/image_work.h"
#include "operator/kernel_step.h"

namespace penstock::mask {

template <class Rule> std::string rule_text() { return Rule::pixel_text; }

template <class Rule>
void keep_or_clear(const View& in, const View& out, const typename Rule::Coef& coef, SampleWork& to,
                   std::function<void()> host) {
  const ImageRule::Extents e = image_extents(in.shape, in.layout);
  const int64_t pixels = e.outer * e.depth * e.height * e.width;
  if (pixels * e.inner == 0) return;
  const size_t bytes = size_of(in.dtype);
  const DType type = bytes == 1   ? DType::uint8
                     : bytes == 2 ? DType::uint16
                     : bytes == 4 ? DType::uint32
                                  : DType::uint64;
  const MaskRow row{in.data, out.data, e.height, e.width, e.inner, {}};
  to.kernel({{"families/mask/kernels/mask.h", "mask::mask_pixels", {type}, {}, &rule_text<Rule>},
             row_bytes(row),
             pixels,
             0,
             std::make_shared<const std::vector<std::byte>>(coef_bytes_of(coef)),
             offsetof(MaskRow, coef),
             std::move(host)});
}

}  // namespace penstock::mask
