// SPDX-License-Identifier: Apache-2.0
// Text as patches, in a font of one size: characters of 8 x 13 pixels, each of which becomes `scale` x `scale` ones.
#pragma once
#include <string>

#include "families/draw/outlines.h"

namespace penstock::draw {

constexpr int64_t kGlyphWidth = 8, kGlyphHeight = 13, kMostScale = 64;

// Lines end at '\n'. A byte that is no character from ' ' to '~' is drawn as '?'; of a character in UTF-8 the first
// one.
Point text_extents(const std::string& text, int64_t scale);
// `place` is the corner of the first character's cell.
void add_text(Drawing& to, Point place, const std::string& text, int64_t scale);

}  // namespace penstock::draw
