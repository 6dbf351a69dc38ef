// SPDX-License-Identifier: Apache-2.0
#include "codecs/image_decoder.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/size_limits.h"
#include "codecs/bmp_decoder.h"
#include "codecs/file_formats.h"
#include "codecs/gif_decoder.h"
#include "codecs/heif_decoder.h"
#include "codecs/jpeg/baseline_decoder.h"
#include "codecs/jpeg2000_decoder.h"
#include "codecs/jpeg_decoder.h"
#include "codecs/orientation.h"
#include "codecs/png_decoder.h"
#include "codecs/pnm_decoder.h"
#include "codecs/tiff_decoder.h"
#include "codecs/webp_decoder.h"

namespace penstock {

namespace {

using namespace std::string_view_literals;
// What is not decoded here; the names make the message better.
struct Other {
  const char* name;
  size_t at;
  std::string_view bytes;
};
constexpr Other kOthers[] = {
    {"MP4 or a file of its kind", 4, "ftyp"sv},
    {"JPEG XL", 0, "\xFF\x0A"sv},
    {"PDF", 0, "%PDF"sv},
    {"gzip", 0, "\x1F\x8B"sv},
    {"zip", 0, "PK\x03\x04"sv},
    {"HTML or XML", 0, "<"sv},
};

}  // namespace

const ImageDecoder& image_decoder_for(Bytes file) {
  if (file.empty()) bad_data("the file is empty");
  if (const char* format = sniff_format(file))
    for (const ImageDecoder* engine : image_decoders())
      if (!std::strcmp(engine->format(), format)) return *engine;
  const std::string& formats = shown_names(FileFormat::picture);
  for (const Other& o : kOthers)
    if (file.size() >= o.at + o.bytes.size() && !std::memcmp(file.data() + o.at, o.bytes.data(), o.bytes.size()))
      bad_data("not an image that is decoded here ({}); it looks like {}", formats, o.name);
  bool text = true;
  for (uint8_t b : file.first(std::min<size_t>(file.size(), 64)))
    text &= b >= 32 || b == '\n' || b == '\r' || b == '\t';
  bad_data("not an image that is decoded here ({}){}", formats, text ? "; it looks like text" : "");
}

const char* sniff_format(Bytes file) {
  const FileFormat* format = format_of_bytes(file, FileFormat::picture);
  return format ? format->name : nullptr;
}

int output_channels(const ImageInfo& info, ImageType type) {
  if (type == ImageType::gray) return 1;
  if (type != ImageType::any_data) return 3;
  return info.channels == 4 && !std::strcmp(info.format, "jpeg") ? 3 : info.channels;  // CMYK becomes RGB
}

ImageInfo probe_image(Bytes file, const DecodeParams& params) {
  ImageInfo info = image_decoder_for(file).probe(file);
  check_pixels(info.height, info.width, params.max_pixels);
  if (params.apply_orientation && transposes(info.orientation)) std::swap(info.height, info.width);
  return info;
}

namespace {

void check_task(const DecodeTask& t) {
  const Region& r = t.region;
  if (!decodes_to(t.params.dtype))
    bad_type("images are decoded to {}, not to {}", kDecodedTypes, name_of(t.params.dtype));
  const int64_t height = scaled_extent(t.info.height, t.params), width = scaled_extent(t.info.width, t.params);
  if (r.y < 0 || r.x < 0 || r.height < 1 || r.width < 1 || r.y > height - r.height || r.x > width - r.width)
    bad_argument("the region ({}, {}) of {} x {} pixels leaves the image of {} x {}", r.y, r.x, r.height, r.width,
                 height, width);
}

void decode_by_library(const DecodeTask& t) {
  const ImageDecoder& engine = image_decoder_for(t.file);
  if (const std::string why = engine.cannot_decode(t.file, t.info, t.params); !why.empty())
    bad_data("{} cannot decode this file: {}", engine.name(), why);
  const int orientation = t.params.apply_orientation ? t.info.orientation : 1;
  const int64_t pixel_bytes = output_channels(t.info, t.params.type) * static_cast<int64_t>(size_of(t.params.dtype));
  const int64_t height = scaled_extent(t.info.height, t.params), width = scaled_extent(t.info.width, t.params);
  decode_upright(
      orientation, height, width, t.region, pixel_bytes, t.sink,
      [&](const Region& stored, const PixelSink& to) { engine.decode(t.file, t.info, t.params, stored, to); });
}

// The task's error where `step` ends in one.
template <class Step>
bool succeeds(DecodeTask& t, const Step& step) {
  try {
    step();
    return true;
  } catch (const Error& e) {
    t.error = e;
    return false;
  }
}

}  // namespace

void decode_image(Bytes file, const ImageInfo& info, const DecodeParams& params, const Region& region,
                  const PixelSink& sink) {
  DecodeTask task;
  task.file = file, task.info = info, task.params = params, task.region = region, task.sink = sink;
  decode_images({&task, 1});
  if (task.error) throw Error(*task.error);
}

void decode_images(std::span<DecodeTask> tasks) {
  while (!tasks.empty()) {
    const auto some = tasks.first(std::min<size_t>(tasks.size(), kDecodeTogether));
    bool done[kDecodeTogether] = {};
    for (size_t i = 0; i < some.size(); ++i)
      done[i] = !succeeds(some[i], [&] { image_decoder_for(some[i].file), check_task(some[i]); });
    decode_baseline_jpegs(some, done);
    for (size_t i = 0; i < some.size(); ++i)
      if (!done[i]) succeeds(some[i], [&] { decode_by_library(some[i]); });
    tasks = tasks.subspan(some.size());
  }
}

const std::vector<const ImageDecoder*>& image_decoders() {
  static const std::vector<const ImageDecoder*> engines{
      &libjpeg_turbo_decoder(), &libpng_decoder(), &openjpeg_decoder(), &libtiff_decoder(), &libwebp_decoder(),
      &libheif_decoder(),       &bmp_decoder(),    &pnm_decoder(),      &gif_decoder()};
  return engines;
}

}  // namespace penstock
