// SPDX-License-Identifier: Apache-2.0
#include "families/draw/glyphs.h"

#include <algorithm>

#include "misc_fixed/misc_fixed_8x13.h"

namespace penstock::draw {
namespace {

static_assert(misc_fixed::kWidth == kGlyphWidth && misc_fixed::kHeight == kGlyphHeight);

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }  // a character in UTF-8

const uint8_t* rows_of(char c) {
  const int at = static_cast<unsigned char>(c) - misc_fixed::kFirst;
  return misc_fixed::kRows[at >= 0 && at < misc_fixed::kCount ? at : '?' - misc_fixed::kFirst];
}

// Runs of a row; equal rows together.
void add_glyph(Drawing& to, Point place, const uint8_t* rows, int64_t scale) {
  for (int64_t y = 0, end; y < kGlyphHeight; y = end) {
    for (end = y + 1; end < kGlyphHeight && rows[end] == rows[y];) ++end;
    const auto set = [&](int64_t x) { return x < kGlyphWidth && (rows[y] >> (kGlyphWidth - 1 - x) & 1) != 0; };
    for (int64_t x = 0, stop; x < kGlyphWidth; x = stop) {
      for (stop = x + 1; set(x) && set(stop);) ++stop;
      if (set(x)) to.add(place.x + x * scale, place.y + y * scale, place.x + stop * scale, place.y + end * scale);
    }
  }
}

}  // namespace

Point text_extents(const std::string& text, int64_t scale) {
  int64_t widest = 0, wide = 0, lines = 1;
  for (const char c : text) {
    if (c == '\n') ++lines, wide = 0;
    else if (!continues(c)) ++wide;
    widest = std::max(widest, wide);
  }
  return {widest * kGlyphWidth * scale, lines * kGlyphHeight * scale};
}

void add_text(Drawing& to, Point place, const std::string& text, int64_t scale) {
  Point at = place;
  for (const char c : text) {
    if (c == '\n') {
      at = {place.x, at.y + kGlyphHeight * scale};
    } else if (!continues(c)) {
      add_glyph(to, at, rows_of(c), scale);
      at.x += kGlyphWidth * scale;
    }
  }
}

}  // namespace penstock::draw
