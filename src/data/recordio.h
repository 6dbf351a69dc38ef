// SPDX-License-Identifier: Apache-2.0
// RecordIO as MXNet writes it: a magic number, a word with 3 bits of kind and 29 bits of length, the data, zeros up to
// a multiple of four. A record whose data contain the magic number is split into chunks at these places.
// Image records begin with a head of 24 bytes: the number of labels after it (0: the one in the head), a label, two
// ids.
#pragma once
#include "data/container.h"

namespace penstock {

struct ImageRecord {
  std::vector<float> labels;
  Bytes image;                  // points into the record, or into `joined`
  std::vector<uint8_t> joined;  // if the record has several chunks
};
// Parses a record that was read with the heads of its chunks. Error (data) if it is damaged.
void read_image_record(Bytes record, ImageRecord& out);

}  // namespace penstock
