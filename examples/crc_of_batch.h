// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "crc32.h"
#include "penstock/penstock.hpp"

namespace examples {

// The CRC-32 of the bytes of all samples, one after the other; samples are dense.
inline uint32_t crc_of(const penstock::Batch& batch, size_t element_bytes) {
  uint32_t crc = 0;
  for (const penstock::Tensor& sample : batch)
    crc = crc32(crc, sample.data, static_cast<size_t>(sample.size()) * element_bytes);
  return crc;
}

}  // namespace examples
