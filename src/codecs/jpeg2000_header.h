// SPDX-License-Identifier: Apache-2.0
// The headers of a JPEG 2000 file (ITU-T T.800: codestream in Annex A, file format in Annex I), read before OpenJPEG
// sees the file.
#pragma once
#include <cstdint>

#include "codecs/image_decoder.h"

namespace penstock {

struct Jpeg2000Header {
  int64_t height = 0, width = 0;
  int64_t left = 0, top = 0;  // position of the picture on the reference grid
  int components = 0;         // of the codestream
  int bits = 8;               // of the deepest component
  bool subsampled = false;
  bool boxed = false;       // JP2, else a bare codestream
  int palette_columns = 0;  // 0: no palette
  int palette_bits = 8;
  bool ycc = false;  // sYCC
  bool cut = false;  // a tile extends past the end of the file

  int channels() const { return palette_columns ? palette_columns : components; }
  int depth() const { return palette_columns ? palette_bits : bits; }
};

// Throws ErrorKind::data with the cause, also if the headers request more tiles or precincts than the file's bytes can
// describe: OpenJPEG would allocate memory for those before it notices that they are missing.
Jpeg2000Header read_jpeg2000_header(Bytes file);

}  // namespace penstock
