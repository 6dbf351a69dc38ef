// SPDX-License-Identifier: Apache-2.0
// What the coded data of a still picture says about itself: the sequence header of AV1 (AV1 Bitstream & Decoding
// Process Specification, 5.5) and the sequence parameter set of HEVC (ITU-T H.265, 7.3.2.2). They are read before a
// decoder sees them, because they, and not the file's boxes, determine how much memory the decoder takes.
#pragma once
#include <cstdint>
#include <vector>

#include "codecs/image_decoder.h"

namespace penstock::heif {

enum class Codec : uint8_t { av1, hevc };
enum class Chroma : uint8_t { none, half_both, half_width, full };  // 4:0:0, 4:2:0, 4:2:2, 4:4:4

// ITU-T H.273: 2 is "unspecified", which is treated as BT.601.
struct Colors {
  int matrix = 2;
  bool full_range = false;
};

struct CodedHeader {
  int64_t height = 0, width = 0;
  int bits = 8;
  Chroma chroma = Chroma::half_both;
  Colors colors;
};

// The header in a configuration record (the body of the box av1C or hvcC). Throws ErrorKind::data.
CodedHeader read_configuration(Codec codec, Bytes record);
// All headers in the coded data itself; usually there are none.
std::vector<CodedHeader> headers_within(Codec codec, Bytes record, Bytes coded);

}  // namespace penstock::heif
