// SPDX-License-Identifier: Apache-2.0
// The headers of a JPEG 2000 file (ITU-T T.800: codestream in Annex A, file format in Annex I), read before OpenJPEG
// sees it.
#pragma once
#include <cstdint>

#include "codecs/image_decoder.h"

namespace penstock {

struct Jpeg2000Header {
  int64_t height = 0, width = 0;
  int64_t left = 0, top = 0;  // of the picture on the reference grid
  int components = 0;         // of the codestream
  int bits = 8;               // of the deepest component
  bool subsampled = false;
  bool boxed = false;       // JP2, else a bare codestream
  int palette_columns = 0;  // of a palette, 0 without
  int palette_bits = 8;
  bool ycc = false;  // sYCC
  bool cut = false;  // a tile reaches over the end of the file

  int channels() const { return palette_columns ? palette_columns : components; }
  int depth() const { return palette_columns ? palette_bits : bits; }
};

// Throws ErrorKind::data naming what is wrong, also where the headers ask for more tiles or precincts than the file's
// bytes can describe: memory for those would be taken before they are missed.
Jpeg2000Header read_jpeg2000_header(Bytes file);

}  // namespace penstock
