// SPDX-License-Identifier: Apache-2.0
#include "codecs/file_formats.h"

#include <algorithm>
#include <map>

#include "codecs/audio/sound_format.h"
#include "codecs/image_format.h"

namespace penstock {

std::vector<FileFormat> file_formats() {
  std::vector<FileFormat> all;
  for (const ImageFormat* f : image_formats()) all.push_back({FileFormat::picture, f->id, f->title, f->suffixes});
  for (const SoundFormat* f : sound_formats()) all.push_back({FileFormat::sound, f->id, f->title, f->suffixes});
  return all;
}

FileFormat format_of_name(std::string_view name) {
  const size_t dot = name.rfind('.');
  std::string suffix;
  for (const char c : dot == name.npos ? "" : name.substr(dot))
    suffix += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (const FileFormat& f : file_formats())
    if (std::ranges::find(f.suffixes, suffix) != f.suffixes.end()) return f;
  return {};
}

std::string shown_names(FileFormat::Kind kind, std::string_view before_last) {
  std::string text;
  std::string_view last;
  for (const FileFormat& f : file_formats()) {
    if (f.kind != kind) continue;
    if (!last.empty()) text.append(text.empty() ? "" : ", ").append(last);
    last = f.title;
  }
  return fmt::format("{} {} {}", text, before_last, last);
}

std::vector<std::string> default_file_filters() {
  std::multimap<int, std::string_view> in_order;
  const auto add = [&](const DefaultSuffixes& read) {
    for (const std::string_view suffix : read.suffixes()) in_order.emplace(read.place, suffix);
  };
  for (const ImageFormat* f : image_formats()) add(f->read_by_default);
  for (const SoundFormat* f : sound_formats()) add(f->read_by_default);
  std::vector<std::string> filters;
  for (const auto& [place, suffix] : in_order) filters.push_back("*" + std::string(suffix));
  return filters;
}

}  // namespace penstock
