// SPDX-License-Identifier: Apache-2.0
#include "codecs/image_format.h"

#include <algorithm>
#include <utility>

#include "base/registration.h"
#include "codecs/file_formats.h"
#include "codecs/plugin_formats.h"

namespace penstock {

namespace {

using namespace std::string_view_literals;

// A format that is not decoded here; its name makes the message better.
struct Other {
  const char* name;
  ImageFormat::Signature signature;
};
constexpr Other kOthers[] = {
    {"MP4 or a related format", {4, "ftyp"sv}},
    {"PDF", {0, "%PDF"sv}},
    {"gzip", {0, "\x1F\x8B"sv}},
    {"zip", {0, "PK\x03\x04"sv}},
    {"HTML or XML", {0, "<"sv}},
};

PluginFormats<ImageFormat>& registered() {
  static auto* formats = new PluginFormats<ImageFormat>("image");
  return *formats;
}

bool has(Bytes file, const ImageFormat::Signature& s) { return has_at(file, s.at, s.bytes); }

bool is_of(Bytes file, const ImageFormat& format) {
  for (const ImageFormat::Signature& s : format.signatures)
    if (has(file, s) && (!format.agrees || format.agrees(file))) return true;
  return false;
}

}  // namespace

bool register_image_format(ImageFormat format) {
  registered().add(std::move(format));
  return true;
}

std::span<const ImageFormat* const> image_formats() { return registered().all(); }

const ImageFormat* image_format_of(Bytes file) {
  for (const ImageFormat* format : image_formats())
    if (is_of(file, *format)) return format;
  return nullptr;
}

const ImageFormat& known_image_format_of(Bytes file) {
  if (file.empty()) bad_data("the file is empty");
  if (const ImageFormat* format = image_format_of(file)) return *format;
  const std::string formats = shown_names(FileFormat::picture);
  for (const Other& o : kOthers)
    if (has(file, o.signature)) bad_data("not an image in a supported format ({}); it looks like {}", formats, o.name);
  bool text = true;
  for (uint8_t b : file.first(std::min<size_t>(file.size(), 64)))
    text &= b >= 32 || b == '\n' || b == '\r' || b == '\t';
  bad_data("not an image in a supported format ({}){}", formats, text ? "; it looks like text" : "");
}

std::string image_formats_text() {
  std::string always, others;
  for (const ImageFormat* f : image_formats()) {
    if (f->needs.empty()) {
      always += fmt::format("{}{}", always.empty() ? "" : ", ", f->title);
      continue;
    }
    std::string title(f->title);
    if (const size_t comma = title.rfind(", "); comma != title.npos) title.replace(comma, 2, " and ");
    others += fmt::format(", and {} where {} is installed", title, f->needs);
  }
  return always + others;
}

}  // namespace penstock
