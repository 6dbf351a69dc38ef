// SPDX-License-Identifier: Apache-2.0
#include "batch/encoded_bytes.h"

#include "base/error.h"

namespace penstock {

std::span<const uint8_t> encoded_bytes(const View& v) {
  if (v.dtype != DType::uint8 || v.shape.size() != 1)
    bad_type("decodes the bytes of a file, a uint8 sample with one dimension; got {} with {}", name_of(v.dtype),
             v.shape.size());
  if (v.volume() == 0) return {};  // NumPy's strides of an empty array mean nothing
  if (!v.dense()) bad_type("the bytes of a file are not contiguous");
  return {v.as<const uint8_t>(), static_cast<size_t>(v.volume())};
}

}  // namespace penstock
