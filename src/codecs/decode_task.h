// SPDX-License-Identifier: Apache-2.0
// A region of a file to decode, for callers that decode several in turn, and what decoders know of it.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <typeinfo>
#include <utility>

#include "codecs/decode_errors.h"
#include "codecs/image_decoder.h"

namespace penstock {

// A decoded region whose pixels are made row by row, when they are asked for.
class RegionRows {
 public:
  virtual ~RegionRows() = default;
  // Writes row y of the region, 0 <= y < region.height, in any order and again if asked: width * channels elements of
  // params.dtype. Up to kSlack bytes after them may be written too.
  static constexpr int64_t kSlack = 128;
  virtual void read(int64_t y, void* to) = 0;
  // The same for uint8, each channel in a plane of its own (the filters like it, and it costs the decoder less).
  virtual void read_planes(int64_t y, uint8_t* const* planes) = 0;

  // In which colors the decoder holds the rows.
  enum class Colors : uint8_t {
    as_asked,     // those of params.type
    luma_chroma,  // of a color picture that is asked for as RGB or BGR: those of JFIF
  };
  virtual Colors stored_colors() const { return Colors::as_asked; }
  // Where these are luma_chroma: row y before its color conversion, for callers that resample first and convert what
  // is left. Less work, and not the same picture. Planes of luma, Cb and Cr (full range, chroma around 128), chroma at
  // the size of luma. Elsewhere as read_planes().
  virtual void read_stored(int64_t y, uint8_t* const* planes) { read_planes(y, planes); }
};

// What a decoder has read of a file's headers, kept for its decode(): of a type that it alone knows.
class ParsedHeader {
 public:
  template <class Header>
  void keep(std::shared_ptr<const Header> header) {
    type_ = &typeid(Header);
    held_ = std::move(header);
  }
  // nullptr where no such header is kept.
  template <class Header>
  std::shared_ptr<const Header> get() const {
    if (!type_ || *type_ != typeid(Header)) return nullptr;
    return std::static_pointer_cast<const Header>(held_);
  }

 private:
  const std::type_info* type_ = nullptr;
  std::shared_ptr<const void> held_;
};

// One region of one file. read_headers() sets `info` and `header` from `file` and `params`; a task whose `info` comes
// from probe_image() has its headers read again where its decoder needs them. After decode_images() either `error` is
// set, or `rows` where `takes_rows` allowed it and the decoder can, or the sink is filled. `rows` belongs to the
// decoding thread and lives until its next call of decode_images.
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
  FileFault fault = FileFault::damaged;  // what the error is

  int orientation() const { return params.apply_orientation ? info.orientation : 1; }
  // Of the picture that is asked for, upright.
  int64_t height() const { return scaled_extent(info.height, params); }
  int64_t width() const { return scaled_extent(info.width, params); }
  int64_t pixel_bytes() const {
    return output_channels(info, params.type) * static_cast<int64_t>(size_of(params.dtype));
  }
};

// As probe_image(): for a task that will be decoded.
void read_headers(DecodeTask& task);

// Decodes at most kDecodeTogether tasks in turn, which hides the latency of entropy decoding. Does not throw for what
// is wrong with a file or its task; running out of memory is thrown.
constexpr int kDecodeTogether = 2;
void decode_images(std::span<DecodeTask> tasks);

}  // namespace penstock
