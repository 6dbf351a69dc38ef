// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace penstock {

// Rows of a region that can also be had before their color conversion, for who resamples first and converts what is
// left: less work, and not the same picture.
class LumaChromaRows {
 public:
  virtual ~LumaChromaRows() = default;
  // Whether there are such rows: a color picture that is asked for as RGB or BGR.
  virtual bool has_luma_chroma() const = 0;
  // Row y in three planes: luma, Cb, Cr as JFIF has them (full range, chroma around 128), chroma at the size of luma.
  virtual void read_luma_chroma(int64_t y, uint8_t* const* planes) = 0;
};

}  // namespace penstock
