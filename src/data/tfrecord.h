// SPDX-License-Identifier: Apache-2.0
// TFRecord. Each record has a length (8 bytes), its checksum (4), the data, their checksum (4); little-endian, CRC-32C
// rotated and shifted by a constant ("masked").
#pragma once
#include "data/container.h"

namespace penstock {

constexpr int64_t kTfrecordHead = 12, kTfrecordFrame = 16;

// The data of a record that was read with its frame. Error (data) if lengths or, if `check`, checksums do not
// match.
Bytes tfrecord_payload(Bytes record, bool check);

}  // namespace penstock
