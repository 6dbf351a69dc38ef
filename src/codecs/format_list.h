// SPDX-License-Identifier: Apache-2.0
// What formats of pictures (codecs/image_format.h) and of sound (codecs/audio/sound_format.h) have in common.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock {

// Where a file ends according to its own lengths.
struct OwnEnd {
  enum { unknown, found, missing, cut } kind = unknown;
  uint64_t at = 0;  // offset of the end; for a truncated file the length that it should have, 0 if that is not known
};

// The suffixes that readers.file accepts by default, as in DALI.
struct DefaultSuffixes {
  int place = 0;                                // position in the list of all formats
  std::array<std::string_view, 4> filled = {};  // the last ones may be empty

  std::span<const std::string_view> suffixes() const {
    return {filled.begin(), std::ranges::find(filled, std::string_view())};
  }
};

// Whether the file has these bytes at this offset.
bool has_at(std::span<const uint8_t> file, size_t at, std::string_view bytes);

// Ends the program: `what` ("place") of two formats is the same.
[[noreturn]] void refuse_formats(const char* kind, const char* what, std::string_view one, std::string_view other);

// The registered formats of one kind, in the order of their places. Never destroy it: programs decode until they end.
template <class Format>
class FormatList {
 public:
  explicit FormatList(const char* kind) : kind_(kind) {}  // "image": in messages
  // Two formats with the same id, place or suffix are a mistake in the build: the program ends.
  void add(Format format) {
    for (const Format* other : formats_)
      if (const char* what = clash(format, *other)) refuse_formats(kind_, what, format.id, other->id);
    const auto after = std::ranges::upper_bound(formats_, format.place, {}, &Format::place);
    formats_.insert(after, new Format(std::move(format)));
  }
  std::span<const Format* const> all() const { return formats_; }

 private:
  // Why two formats cannot be in one program.
  static const char* clash(const Format& a, const Format& b) {
    if (a.id == b.id) return "id";
    if (a.place == b.place) return "place";
    for (const std::string_view suffix : a.suffixes)
      if (std::ranges::find(b.suffixes, suffix) != b.suffixes.end()) return "suffix";
    return nullptr;
  }

  const char* kind_;
  std::vector<const Format*> formats_;
};

}  // namespace penstock
