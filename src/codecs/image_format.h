// SPDX-License-Identifier: Apache-2.0
// The definition of a picture format. Its file ends in PENSTOCK_IMAGE_FORMAT({...}). From this registration come the
// test of a file's first bytes, messages, `penstock verify`, the file patterns of readers, the lists in the
// documentation and the seeds of the fuzzer. docs/how_to/add_an_image_format.md explains how to add one.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codecs/decode_task.h"
#include "codecs/format_list.h"

namespace penstock {

struct Finding;

// One engine for one format.
class ImageDecoder {
 public:
  virtual ~ImageDecoder() = default;
  virtual const char* name() const = 0;  // "jpeg/libjpeg-turbo"
  // Reads only the headers, before orientation; the caller fills in the format. `kept`, if not null, may store what
  // decode() needs of them.
  virtual ImageInfo probe(Bytes file, ParsedHeader* kept) const = 0;
  // Decodes those that it can of at most kDecodeTogether tasks of this format, whose arguments have been checked. A
  // task that gets neither `done` nor an error goes to the format's next decoder.
  virtual void decode_group(std::span<DecodeTask* const> tasks) const = 0;
};

// An engine that decodes one file at a time, and passes none to another engine.
class FileDecoder : public ImageDecoder {
 public:
  // Empty if the engine accepts the task, else all reasons at once.
  virtual std::string cannot_decode(const DecodeTask&) const { return ""; }
  // `stored`: the region before orientation, in bounds.
  virtual void decode(const DecodeTask& task, const Region& stored, const PixelSink& to) const = 0;
  void decode_group(std::span<DecodeTask* const> tasks) const final;
};

// An engine that first reads its own type Header: once per file, although probe() and decode() both need it.
template <class Header>
class DecoderByHeader : public FileDecoder {
 public:
  virtual Header read_header(Bytes file) const = 0;
  virtual ImageInfo describe(const Header& header) const = 0;
  virtual void decode_region(Bytes file, const Header& header, const DecodeParams& params, const Region& region,
                             const PixelSink& sink) const = 0;

  ImageInfo probe(Bytes file, ParsedHeader* kept) const final {
    if (!kept) return describe(read_header(file));
    auto header = std::make_shared<const Header>(read_header(file));
    const ImageInfo info = describe(*header);
    kept->keep(std::move(header));
    return info;
  }
  void decode(const DecodeTask& t, const Region& stored, const PixelSink& to) const final {
    if (const Header* header = t.header.get<Header>()) return decode_region(t.file, *header, t.params, stored, to);
    decode_region(t.file, read_header(t.file), t.params, stored, to);
  }
};

struct ImageFormat {
  struct Signature {
    size_t at;
    std::string_view bytes;
  };

  std::string_view id = {};     // "png"
  std::string_view title = {};  // "PNG": in messages
  // Position in all lists, and when first bytes are compared; each format has its own.
  int place = 0;
  std::vector<Signature> signatures = {};       // a file has one of them
  bool (*agrees)(Bytes file) = nullptr;         // if a signature is not sufficient
  std::vector<std::string_view> suffixes = {};  // of file names, in lower case: ".tif"
  DefaultSuffixes read_by_default = {};
  bool four_channels_are_cmyk = false;             // decoding converts them to RGB
  bool keeps_rows = false;                         // its decoders know DecodeParams::partial
  std::vector<const ImageDecoder*> decoders = {};  // in this order; the first one probes
  OwnEnd (*own_end)(Bytes file) = nullptr;         // for `penstock verify`
  // For a decoder that can report more about a file than one error. False: it cannot, and nothing has been found.
  bool (*verify)(const DecodeTask& task, std::vector<Finding>& found) = nullptr;
  // The format's row in docs/how_to/decode_images.md.
  std::string_view taken = {}, window_reads = {}, library = {};
  std::string_view needs = {};  // the library that is loaded at run time
};

// In the order of their places.
std::span<const ImageFormat* const> image_formats();
// By the first bytes; nullptr if they match no format.
const ImageFormat* image_format_of(Bytes file);
// The same; Error (data) if they match no format.
const ImageFormat& known_image_format_of(Bytes file);

// Two formats with the same id, place or suffix are a mistake in the build: the program ends. The result is always
// true.
bool register_image_format(ImageFormat format);
#define PENSTOCK_IMAGE_FORMAT(...) \
  [[maybe_unused]] static const bool registered_image_format = ::penstock::register_image_format(__VA_ARGS__)

}  // namespace penstock
