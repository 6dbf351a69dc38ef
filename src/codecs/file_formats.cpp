// SPDX-License-Identifier: Apache-2.0
#include "codecs/file_formats.h"

#include <cstring>

#include "codecs/heif/heif_file.h"

namespace penstock {

using namespace std::string_view_literals;

const std::vector<FileFormat>& file_formats() {
  using enum FileFormat::Kind;
  static const std::vector<FileFormat> formats{
      {picture, "jpeg", "JPEG", " .jpg .jpeg .jpe .jfif ", {{0, "\xFF\xD8\xFF"sv}}},
      {picture, "png", "PNG", " .png ", {{0, "\x89PNG\r\n\x1A\n"sv}}},
      {picture,
       "jpeg2000",
       "JPEG 2000",
       " .jp2 .j2k .j2c .jpc .jpf .jpx ",
       {{0, "\0\0\0\x0CjP  "sv}, {0, "\xFF\x4F\xFF\x51"sv}}},
      {picture, "tiff", "TIFF", " .tif .tiff ", {{0, "II*\0"sv}, {0, "MM\0*"sv}, {0, "II+\0"sv}, {0, "MM\0+"sv}}},
      {picture, "webp", "WebP", " .webp ", {{8, "WEBPVP8"sv}}},
      {picture, "heif", "AVIF, HEIC", " .avif .avifs .heic .heics .heif .heifs .hif ", {{4, "ftyp"sv}}},
      {picture, "bmp", "BMP", " .bmp .dib ", {{0, "BM"sv}}},
      {picture,
       "pnm",
       "PNM",
       " .pnm .ppm .pgm .pbm .pfm ",
       {{0, "P1"sv}, {0, "P2"sv}, {0, "P3"sv}, {0, "P4"sv}, {0, "P5"sv}, {0, "P6"sv}, {0, "PF"sv}, {0, "Pf"sv}}},
      {picture, "gif", "GIF", " .gif ", {{0, "GIF87a"sv}, {0, "GIF89a"sv}}},
      {sound, "wav", "WAV", " .wav .wave ", {{8, "WAVE"sv}}},
      {sound, "flac", "FLAC", " .flac ", {{0, "fLaC"sv}}},
      {sound, "ogg", "Ogg", " .ogg .oga .opus ", {{0, "OggS"sv}}},
      {sound, "mp3", "MP3", " .mp3 .mp2 .mpga ", {}},  // frames begin with bits that many files begin with
  };
  return formats;
}

static bool begins(std::span<const uint8_t> file, const FileFormat::Signature& s) {
  return file.size() >= s.at + s.bytes.size() && !std::memcmp(file.data() + s.at, s.bytes.data(), s.bytes.size());
}

const FileFormat* format_of_bytes(std::span<const uint8_t> file, FileFormat::Kind kind) {
  for (const FileFormat& f : file_formats())
    if (f.kind == kind)
      for (const FileFormat::Signature& s : f.signatures)
        if (begins(file, s) && (std::strcmp(f.name, "heif") != 0 || heif::is_heif(file))) return &f;
  return nullptr;
}

const FileFormat* format_of_name(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == name.npos || name.find('/', dot) != name.npos || name.find(' ', dot) != name.npos) return nullptr;
  std::string ending = " ";
  for (const char c : name.substr(dot)) ending += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  ending += ' ';
  for (const FileFormat& f : file_formats())
    if (f.endings.find(ending) != f.endings.npos) return &f;
  return nullptr;
}

std::vector<std::string> endings_of(const FileFormat& format) {
  std::vector<std::string> endings;
  for (size_t at = 1; at < format.endings.size();) {
    const size_t end = format.endings.find(' ', at);
    endings.emplace_back(format.endings.substr(at, end - at));
    at = end + 1;
  }
  return endings;
}

const std::string& shown_names(FileFormat::Kind kind) {
  static const auto joined = [](FileFormat::Kind wanted) {
    std::string text, last;
    for (const FileFormat& f : file_formats()) {
      if (f.kind != wanted) continue;
      if (!last.empty()) text += (text.empty() ? "" : ", ") + last;
      last = f.shown;
    }
    return text + " and " + last;
  };
  static const std::string names[] = {joined(FileFormat::picture), joined(FileFormat::sound)};
  return names[kind];
}

}  // namespace penstock
