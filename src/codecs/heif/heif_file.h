// SPDX-License-Identifier: Apache-2.0
// The boxes of a HEIF file (ISO/IEC 23008-12 in the boxes of ISO/IEC 14496-12; AVIF and HEIC by the coding of its
// pictures): which item is the picture, of which coded items it consists and how it is shown.
#pragma once
#include <optional>
#include <vector>

#include "codecs/heif/coded_header.h"
#include "codecs/image_decoder.h"

namespace penstock::heif {

// Whether the first box names a brand of still pictures.
bool is_heif(Bytes file);

struct CodedItem {
  uint32_t id = 0;
  int64_t height = 0, width = 0;
  Bytes configuration;  // the body of av1C or hvcC
  // Where the coded data stands: in the file, perhaps behind its end.
  struct Extent {
    uint64_t at = 0, bytes = 0;  // 0: up to the end
  };
  std::vector<Extent> extents;
};

// One item, or a grid of items of one size, of which the last row and column may reach over the edge.
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
  CodedHeader coded;             // by the first tile's configuration
  std::optional<Colors> colors;  // by the boxes, which come before what the coded data says
  Region shown;                  // by the box clap, else all
  int orientation = 1;           // by irot and imir, as EXIF's 1..8
};

// Headers only; throws ErrorKind::data. Sizes are not checked against a limit.
HeifFile read_heif(Bytes file);

// The item's coded data in one piece.
std::vector<uint8_t> coded_bytes(Bytes file, const CodedItem& item);

}  // namespace penstock::heif
