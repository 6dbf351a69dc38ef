// SPDX-License-Identifier: Apache-2.0
// The one list of the formats of pictures and sound that are decoded here: their names, first bytes and endings of file
// names. Messages, `penstock verify` and the tests of the documents follow it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

struct FileFormat {
  struct Signature {
    size_t at;
    std::string_view bytes;
  };
  enum Kind : uint8_t { picture, sound };
  Kind kind;
  const char* name;          // "jpeg": of ImageDecoder::format()
  const char* shown;         // "JPEG"
  std::string_view endings;  // of names in small letters, each between spaces: " .jpg .jpeg "
  std::vector<Signature> signatures;
};

const std::vector<FileFormat>& file_formats();
// By the first bytes; nullptr where they are of none. AVIF and HEIC need a brand of theirs too.
const FileFormat* format_of_bytes(std::span<const uint8_t> file, FileFormat::Kind kind);
// By the ending of a file's name, in letters of any size; nullptr where it is of none.
const FileFormat* format_of_name(std::string_view name);
// ".jpg", ".jpeg" ...
std::vector<std::string> endings_of(const FileFormat& format);
// "JPEG, PNG ... and GIF"
const std::string& shown_names(FileFormat::Kind kind);

}  // namespace penstock
