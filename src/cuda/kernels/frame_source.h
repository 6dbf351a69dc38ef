// SPDX-License-Identifier: Apache-2.0
// A frame of luma and chroma as the source of a stage: what stands where other stages have a pointer to elements. Its
// places are those of stage/frame_pixels.h; an element is a channel of the pixel, computed where it is read.
#pragma once
#include "cuda/kernels/spellings.h"
#include "cuda/kernels/stage_row.h"
#include "pixel/frame_colors.h"

namespace penstock {

// Format: FrameFormat, as constants that the emitter prints. Index holds every place, so it holds what is at fewer
// bytes, too.
template <class Format, class Index> struct FrameReader {
  typedef frame::Pixel<uint8_t> Pixel;
  const uint8_t* base;
  Index plane[3], pitch[2], frame_bytes;
  int32_t row_shift, frame_shift;
  Index at;

  __device__ inline void begin(const char* from, const FrameSourceRow& row) {
    base = reinterpret_cast<const uint8_t*>(from);
    PENSTOCK_GLOBAL(base);
    for (int p = 0; p < 3; ++p) plane[p] = static_cast<Index>(row.plane[p]);
    for (int p = 0; p < 2; ++p) pitch[p] = static_cast<Index>(row.pitch[p]);
    frame_bytes = static_cast<Index>(row.frame), at = static_cast<Index>(row.at);
    row_shift = static_cast<int32_t>(row.row_shift), frame_shift = static_cast<int32_t>(row.frame_shift);
  }
  PENSTOCK_HD inline FrameReader operator+(Index n) const {
    FrameReader moved = *this;
    moved.at += n;
    return moved;
  }
  PENSTOCK_HD inline FrameReader& operator+=(Index n) { return at += n, *this; }
  PENSTOCK_HD inline Index operator-(const FrameReader& other) const { return at - other.at; }
  PENSTOCK_HD inline uint8_t operator*() const { return (*this)[0]; }
  PENSTOCK_HD inline uint8_t operator[](Index n) const {
    const Index place = at + n;
    return static_cast<uint8_t>(channel(pixel_at(place), static_cast<int>(place & 3)));
  }
  // All channels of a pixel, of which `n` is the first, as numbers or as bytes.
  template <int planes> PENSTOCK_HD inline void pixel(Index n, float (&to)[planes]) const {
    const Pixel p = pixel_at(at + n);
    for (int c = 0; c < planes; ++c) to[c] = number_of<uint8_t, float>(static_cast<uint8_t>(channel(p, c)));
  }
  template <int planes> PENSTOCK_HD inline void pixel(Index n, uint8_t (&to)[planes]) const {
    const Pixel p = pixel_at(at + n);
    for (int c = 0; c < planes; ++c) to[c] = static_cast<uint8_t>(channel(p, c));
  }

 private:
  PENSTOCK_HD static inline int32_t channel(const Pixel& p, int c) {
    if constexpr (Format::kChannels == 1) return p.red;
    const int32_t first = Format::kBlueFirst ? p.blue : p.red, last = Format::kBlueFirst ? p.red : p.blue;
    return c == 0 ? first : c == 1 ? p.green : c == 2 ? last : p.alpha;
  }
  PENSTOCK_HD inline Pixel pixel_at(Index place) const {
    const Index row = place >> row_shift;
    const Index x = (place - (row << row_shift)) >> 2;
    Index y = row, first = 0;
    if constexpr (Format::kFrames) {
      const Index f = row >> frame_shift;
      y = row - (f << frame_shift), first = f * frame_bytes;
    }
    const auto byte = [&](Index offset) { return static_cast<int32_t>(base[first + offset]); };
    const Index luma = plane[0] + y * pitch[0] + x * Format::kStep;
    if constexpr (Format::kKind == frame::chroma) {
      if constexpr (Format::kChannels == 1) return {byte(luma), 0, 0, 255};
      const Index chroma = (y >> Format::kHalfY) * pitch[1] + (x >> Format::kHalfX) * Format::kChromaStep;
      return frame::of_chroma(Format::matrix(), byte(luma), byte(plane[1] + chroma), byte(plane[2] + chroma));
    } else {
      const int32_t bits = byte(luma) | byte(luma + 1) << 8;
      const Pixel p = Format::kKind == frame::bits565 ? frame::of_bits565(bits) : frame::of_bits555(bits);
      if constexpr (Format::kChannels == 1) return {frame::gray_of(p.red, p.green, p.blue), 0, 0, 255};
      return p;
    }
  }
};

// A stage whose source is a frame has a type Frame.
template <class Stage> constexpr bool kReadsFrames = requires { typename Stage::Frame; };

}  // namespace penstock
