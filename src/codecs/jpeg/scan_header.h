// SPDX-License-Identifier: Apache-2.0
// The headers of the JPEG files that our own decoder accepts: 8-bit baseline or extended sequential Huffman coding,
// gray or YCbCr, one scan. Parsing is strict: anything unusual goes to libjpeg-turbo.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "codecs/image_decoder.h"

namespace penstock::jpeg {

// A Huffman table as in the file.
struct HuffmanSpec {
  uint8_t counts[17] = {};  // [l]: codes of length l
  uint8_t values[256] = {};
  int size = 0;  // number of codes; 0: no table
  bool operator==(const HuffmanSpec& o) const {
    return size == o.size && !std::memcmp(counts, o.counts, sizeof counts) && !std::memcmp(values, o.values, size);
  }
};

struct ScanComponent {
  int id = 0, h = 1, v = 1;       // sampling factors; 1 x 1 if there is only one component
  int quant = 0, dc = 0, ac = 0;  // tables
  int width = 0, height = 0;      // in samples, without the padding to blocks
};

// Sizes in blocks and MCUs follow ITU-T T.81, A.2.
struct ScanHeader {
  int width = 0, height = 0, components = 0;
  int h_max = 1, v_max = 1;
  int mcu_columns = 0, mcu_rows = 0, blocks_per_mcu = 0;
  int restart_interval = 0;  // in MCUs; 0: none
  uint8_t frame = 0xC0;      // the SOF marker: C0 baseline, C1 extended
  size_t scan = 0;           // offset of the first entropy-coded byte
  int orientation = 1;       // EXIF 1..8
  ScanComponent component[3];
  alignas(32) uint16_t quant[4][64] = {};  // in natural order
  HuffmanSpec dc[4], ac[4];
  int64_t mcus() const { return int64_t{mcu_columns} * mcu_rows; }
};

// A coefficient's position in its block (natural order) by its position in the file.
extern const uint8_t kNaturalOrder[64];

// nullptr if our decoder accepts the file and `into`, which must be new, describes it; else why not.
const char* read_scan_header(Bytes file, ScanHeader& into);
// The same from what a probe of the file kept: parses the file only if the probe did not, then into `own`. `why` is set
// if the result is nullptr.
const ScanHeader* scan_header_of(Bytes file, const ParsedHeader& kept, ScanHeader& own, const char*& why);

}  // namespace penstock::jpeg
