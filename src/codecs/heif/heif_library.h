// SPDX-License-Identifier: Apache-2.0
// One coded item through libheif, which is looked for at run time and brings the decoders of AV1 and HEVC. It never
// sees the user's file: each item goes to it in a small file that is written here, so that it reads boxes of ours and
// is told only what was checked.
#pragma once
#include <memory>

#include "codecs/heif/heif_file.h"

namespace penstock::heif {

struct Plane {
  const uint8_t* data = nullptr;
  int64_t row_bytes = 0, height = 0, width = 0;
  int step = 1;  // from a sample to the next, in samples
};

struct DecodedItem {
  int bits = 8;  // above 8, samples have two bytes
  Chroma chroma = Chroma::none;
  Plane planes[3];
  std::shared_ptr<const void> owner;
};

// Decodes on this thread and one of the library's. `header` is what the coded data says. Throws ErrorKind::data where
// the library, its decoder or the data is not what it must be.
DecodedItem decode_item(Codec codec, const CodedItem& item, const std::vector<uint8_t>& coded,
                        const CodedHeader& header);

}  // namespace penstock::heif
