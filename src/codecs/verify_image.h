// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "codecs/image_decoder.h"

namespace penstock {

// One thing that is wrong with an image file. kind is one of
//   "format"      not an image of a format that is decoded here
//   "extension"   its name says another format than its bytes
//   "header"      cannot be understood before its pixels begin
//   "too large"   more pixels than the limit
//   "truncated"   the bytes end before the picture
//   "no end"      all rows are there, the end marker is not
//   "damaged"     decodes, but not to what was encoded
//   "undecodable" libjpeg or libpng gives up
//   "trailing"    bytes behind the end of the image
struct Finding {
  std::string kind, text;
};
// All that is wrong; empty for a good file. Decodes the whole file. `name` is only looked at for its extension.
std::vector<Finding> verify_image(Bytes file, const std::string& name,
                                  int64_t max_pixels = DecodeParams{}.max_pixels);

}  // namespace penstock
