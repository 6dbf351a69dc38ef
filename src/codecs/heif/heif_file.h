// SPDX-License-Identifier: Apache-2.0
// The boxes of a HEIF file (ISO/IEC 23008-12 in the boxes of ISO/IEC 14496-12; the codec of its pictures makes it AVIF
// or HEIC): which item is the picture, which coded items it consists of and how it is shown.
#pragma once
#include <optional>
#include <vector>

#include "codecs/heif/coded_header.h"
#include "codecs/image_decoder.h"

namespace penstock::heif {

// Whether the first box lists a brand of still pictures.
bool is_heif(Bytes file);

struct CodedItem {
  uint32_t id = 0;
  int64_t height = 0, width = 0;
  Bytes configuration;  // the body of av1C or hvcC
  // A range of the coded data in the file. It may end after the end of the file.
  struct Extent {
    uint64_t at = 0, bytes = 0;  // 0: up to the end
  };
  std::vector<Extent> extents;
};

// One item, or a grid of items of one size. The last row and column of the grid may extend past the edge.
struct Picture {
  int64_t height = 0, width = 0;
  int rows = 1, columns = 1;
  std::vector<CodedItem> tiles;
};

struct HeifFile {
  Codec codec = Codec::av1;
  Picture color;
  std::optional<Picture> alpha;
  std::optional<Codec> alpha_codec;
  CodedHeader coded;             // from the first tile's configuration
  std::optional<Colors> colors;  // from the boxes, which take precedence over the coded data
  Region shown;                  // from the box clap, else the whole picture
  int orientation = 1;           // from irot and imir, as EXIF's 1..8
};

// Reads only the headers; throws ErrorKind::data. Does not check sizes against a limit.
HeifFile read_heif(Bytes file);

// The item's coded data in one block.
std::vector<uint8_t> coded_bytes(Bytes file, const CodedItem& item);

}  // namespace penstock::heif
