// SPDX-License-Identifier: Apache-2.0
// The names of all formats that are decoded here: as pictures (codecs/image_format.h) and sound
// (codecs/audio/sound_format.h) are registered. Messages, `penstock verify`, readers and the tests of the documents use
// them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

struct FileFormat {
  enum Kind : uint8_t { picture, sound };
  Kind kind;
  std::string_view id;                     // "jpeg"
  std::string_view title;                  // "JPEG"
  std::vector<std::string_view> suffixes;  // of file names, in lower case: ".jpg"
};

// Pictures first.
std::vector<FileFormat> file_formats();
// By the suffix of a file's name, in any case; an empty id if no format has it.
FileFormat format_of_name(std::string_view name);
// "JPEG, PNG ... and GIF"
std::string shown_names(FileFormat::Kind kind, std::string_view before_last = "and");
// "*.jpg", "*.jpeg" ...: the defaults of readers.file, in DALI's order.
std::vector<std::string> default_file_filters();

}  // namespace penstock
