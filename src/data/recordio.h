// SPDX-License-Identifier: Apache-2.0
// RecordIO as MXNet writes it: a magic number, a word with 3 bits of kind and 29 bits of length, the data, zeros up to
// a multiple of four. A record whose data hold the magic number lies in several such chunks, one for each part around
// it. Image records begin with a head of 24 bytes: how many labels follow it (0: the one in the head), a label, two
// ids.
#pragma once
#include "data/container.h"

namespace penstock {

struct ImageRecord {
  std::vector<float> labels;
  Bytes image;                  // into the record, or into `joined`
  std::vector<uint8_t> joined;  // where the record lies in several chunks
};
// Takes apart a record that was read with its chunks' heads. Error (data) where it is damaged.
void read_image_record(Bytes record, ImageRecord& out);

}  // namespace penstock
