// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "codecs/image_decoder.h"

namespace penstock {

// One problem of an image file. `kind` is one of
//   "format"      not an image of a format that is decoded here
//   "extension"   the file's name says another format than its bytes
//   "header"      cannot be parsed up to the start of the pixels
//   "too large"   more pixels than the limit
//   "truncated"   the bytes end before the picture
//   "no end"      all rows are present, but not the end marker
//   "damaged"     decodes, but not to what was encoded
//   "undecodable" libjpeg gives up, or there is no decoder for it here
//   "trailing"    bytes after the end of the image
struct Finding {
  std::string kind, text;
};
// The finding for a decoder's error: "truncated", "undecodable" or, if it is neither, `otherwise`. Rethrows an error
// that does not concern the data.
Finding finding_of(const Error& error, const char* otherwise);
// "extension" if the suffix of the name belongs to another format (codecs/file_formats.h).
void compare_name(const std::string& name, std::string_view format, std::vector<Finding>& found);

// All problems; empty for a good file. Decodes the whole file. `name` is used only for its extension.
std::vector<Finding> verify_image(Bytes file, const std::string& name, int64_t max_pixels = DecodeParams{}.max_pixels);

}  // namespace penstock
