// SPDX-License-Identifier: Apache-2.0
// Decodes one coded item through libheif, which is loaded at run time and has the decoders of AV1 and HEVC. It never
// sees the user's file: each item is passed to it in a small file that is written here, so that it reads only our boxes
// and only checked values.
#pragma once
#include <memory>

#include "codecs/heif/heif_file.h"

namespace penstock::heif {

struct Plane {
  const uint8_t* data = nullptr;
  int64_t row_bytes = 0, height = 0, width = 0;
  int step = 1;  // distance from one sample to the next, in samples
};

struct DecodedItem {
  int bits = 8;  // above 8, samples have two bytes
  Chroma chroma = Chroma::none;
  Plane planes[3];
  std::shared_ptr<const void> owner;
};

// Decodes on this thread and one thread of the library. `header`: what the coded data says. Throws ErrorKind::data if
// the library, its decoder or the data is not as expected.
DecodedItem decode_item(Codec codec, const CodedItem& item, const std::vector<uint8_t>& coded,
                        const CodedHeader& header);

}  // namespace penstock::heif
