// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
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
//   "undecodable" libjpeg gives up, or there is no decoder for it here
//   "trailing"    bytes after the end of the image
struct Finding {
  std::string kind, text;
};
// What an error of a decoder says: "truncated", "undecodable" or, where it is neither, `otherwise`. Throws what is no
// error of the data.
Finding finding_of(const Error& error, const char* otherwise);
// "extension" where the name's ending is that of another format (codecs/file_formats.h).
void compare_name(const std::string& name, std::string_view format, std::vector<Finding>& found);

// All that is wrong; empty for a good file. Decodes the whole file. `name` is only looked at for its extension.
std::vector<Finding> verify_image(Bytes file, const std::string& name, int64_t max_pixels = DecodeParams{}.max_pixels);

}  // namespace penstock
