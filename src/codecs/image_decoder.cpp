// SPDX-License-Identifier: Apache-2.0
#include "codecs/image_decoder.h"

#include <algorithm>
#include <utility>

#include "base/size_limits.h"
#include "codecs/decode_errors.h"
#include "codecs/image_format.h"
#include "codecs/orientation.h"

namespace penstock {

int output_channels(const ImageInfo& info, ImageType type) {
  if (type == ImageType::gray) return 1;
  if (type != ImageType::any_data) return 3;
  return info.channels == 4 && info.format && info.format->four_channels_are_cmyk ? 3 : info.channels;
}

namespace {

void check_task(const DecodeTask& t) {
  const Region& r = t.region;
  if (!decodes_to(t.params.dtype))
    bad_type("images can be decoded to {}, not to {}", kDecodedTypes, name_of(t.params.dtype));
  const int64_t height = t.height(), width = t.width();
  if (r.y < 0 || r.x < 0 || r.height < 1 || r.width < 1 || r.y > height - r.height || r.x > width - r.width)
    bad_argument("the region ({}, {}) of {} x {} pixels exceeds the image of {} x {}", r.y, r.x, r.height, r.width,
                 height, width);
}

void decode_alone(const FileDecoder& decoder, DecodeTask& t) {
  if (const std::string why = decoder.cannot_decode(t); !why.empty())
    no_decoder("{} cannot decode this file: {}", decoder.name(), why);
  decode_upright(t.orientation(), t.height(), t.width(), t.region, t.pixel_bytes(), t.sink,
                 [&](const Region& stored, const PixelSink& to) {
                   try {
                     decoder.decode(t, stored, to);
                   } catch (const KeptRows& e) {  // the rows that are there are turned like a whole picture
                     t.lacking = e.what();
                   }
                 });
}

// Stores an error of `step` in the task.
template <class Step>
bool succeeds(DecodeTask& t, const Step& step) {
  try {
    step();
    return true;
  } catch (const Error& e) {
    t.error = e;
    t.fault = fault_of(e);
    if (t.params.partial && t.fault == FileFault::ends_early && !t.info.format->keeps_rows)
      t.error = Error(e.kind(), fmt::format("{}; partial=True keeps the rows of JPEG and PNG files", e.what()));
    return false;
  }
}

bool is_open(const DecodeTask& t) { return !t.done && !t.error; }

// The tasks of the format that are still open.
std::span<DecodeTask* const> open_tasks(std::span<DecodeTask> tasks, const ImageFormat* format,
                                        DecodeTask* (&room)[kDecodeTogether]) {
  size_t n = 0;
  for (DecodeTask& t : tasks)
    if (is_open(t) && t.info.format == format) room[n++] = &t;
  return {room, n};
}

}  // namespace

void FileDecoder::decode_group(std::span<DecodeTask* const> tasks) const {
  for (DecodeTask* t : tasks) t->done = succeeds(*t, [&] { decode_alone(*this, *t); });
}

ImageInfo probe_image(Bytes file, const DecodeParams& params, ParsedHeader* kept) {
  const ImageFormat& format = known_image_format_of(file);
  ImageInfo info = format.decoders.front()->probe(file, kept);
  info.format = &format;
  check_pixels(info.height, info.width, params.max_pixels);
  if (params.apply_orientation && transposes(info.orientation)) std::swap(info.height, info.width);
  return info;
}

void read_headers(DecodeTask& task) { task.info = probe_image(task.file, task.params, &task.header); }

void decode_image(Bytes file, const ImageInfo& info, const DecodeParams& params, const Region& region,
                  const PixelSink& sink, const ParsedHeader& header, std::string* lacking) {
  DecodeTask task;
  task.file = file, task.info = info, task.header = header;
  task.params = params, task.region = region, task.sink = sink;
  decode_images({&task, 1});
  if (task.error) throw Error(*task.error);
  if (lacking) *lacking = std::move(task.lacking);
}

void decode_images(std::span<DecodeTask> tasks) {
  while (!tasks.empty()) {
    const auto some = tasks.first(std::min<size_t>(tasks.size(), kDecodeTogether));
    for (DecodeTask& t : some) {
      t.done = false, t.error.reset(), t.lacking.clear();
      succeeds(t, [&] {
        if (!t.info.format) t.info.format = &known_image_format_of(t.file);
        check_task(t);
      });
    }
    DecodeTask* room[kDecodeTogether];
    for (const DecodeTask& first : some) {
      if (!is_open(first)) continue;
      const ImageFormat* const format = first.info.format;
      for (const ImageDecoder* decoder : format->decoders)
        if (const auto open = open_tasks(some, format, room); !open.empty()) decoder->decode_group(open);
    }
    tasks = tasks.subspan(some.size());
  }
}

}  // namespace penstock
