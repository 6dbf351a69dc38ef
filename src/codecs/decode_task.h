// SPDX-License-Identifier: Apache-2.0
// A region of a file to decode, for callers that decode several in turn, and what decoders know about it.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "codecs/decode_errors.h"
#include "codecs/image_decoder.h"
#include "codecs/parsed_header.h"

namespace penstock {

// A decoded region whose pixels are computed row by row, on request.
class RegionRows {
 public:
  virtual ~RegionRows() = default;
  // Writes row y of the region, 0 <= y < region.height, in any order, repeatedly, and on several threads: width *
  // channels elements of params.dtype. May also write up to kSlack bytes after them.
  static constexpr int64_t kSlack = 128;
  virtual void read(int64_t y, void* to) = 0;
  // The same for uint8 with each channel in its own plane (filters prefer it, and it costs the decoder less).
  virtual void read_planes(int64_t y, uint8_t* const* planes) = 0;

  // The color space in which the decoder holds the rows.
  enum class Colors : uint8_t {
    as_asked,     // that of params.type
    luma_chroma,  // of a color picture that is requested as RGB or BGR: that of JFIF
  };
  virtual Colors stored_colors() const { return Colors::as_asked; }
  // For luma_chroma: row y before its color conversion, for callers that resample first and convert the result. This is
  // less work, and the picture is not the same. Planes of luma, Cb and Cr (full range, chroma around 128), chroma at
  // the size of luma. Else the same as read_planes().
  virtual void read_stored(int64_t y, uint8_t* const* planes) { read_planes(y, planes); }
};

// One region of one file. read_headers() sets `info` and `header` from `file` and `params`. If a task's `info` comes
// from probe_image(), its decoder reads the headers again if it needs them. After decode_images() one of these holds:
// `error` is set; `rows` is set, if `takes_rows` allowed it and the decoder can; or the sink is filled. `rows` belongs
// to the decoding thread and lives until its next call of decode_images.
struct DecodeTask {
  Bytes file;
  ImageInfo info;
  ParsedHeader header;
  DecodeParams params;
  Region region;
  PixelSink sink;
  bool takes_rows = false;
  bool done = false;
  EntropyIndexAccess* index = nullptr;
  RegionRows* rows = nullptr;
  std::optional<Error> error;
  FileFault fault = FileFault::damaged;  // the kind of error
  std::string lacking;                   // with params.partial: what the file ends before, else empty

  int orientation() const { return params.apply_orientation ? info.orientation : 1; }
  // The size of the requested picture, upright.
  int64_t height() const { return scaled_extent(info.height, params); }
  int64_t width() const { return scaled_extent(info.width, params); }
  int64_t pixel_bytes() const {
    return output_channels(info, params.type) * static_cast<int64_t>(size_of(params.dtype));
  }
};

// Like probe_image(), for a task that will be decoded.
void read_headers(DecodeTask& task);

// Decodes at most kDecodeTogether tasks in turn, which hides the latency of entropy decoding. Does not throw for errors
// of a file or its task; throws when memory runs out.
constexpr int kDecodeTogether = 2;
void decode_images(std::span<DecodeTask> tasks);

}  // namespace penstock
