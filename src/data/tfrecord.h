// SPDX-License-Identifier: Apache-2.0
// TFRecord: a length (8 bytes), its checksum (4), the data, their checksum (4), for each record; little-endian, CRC-32C
// rotated and shifted by a constant ("masked").
#pragma once
#include "data/container.h"

namespace penstock {

constexpr int64_t kTfrecordHead = 12, kTfrecordFrame = 16;

// The data inside a record that was read with its frame. Error (data) where lengths or, if `check`, checksums do not
// fit.
Bytes tfrecord_payload(Bytes record, bool check);

}  // namespace penstock
