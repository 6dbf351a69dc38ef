// SPDX-License-Identifier: Apache-2.0
#include "emulated_gpu/nvjpeg2000_stand_in.h"

#include <mutex>

#include "base/error_of.h"
#include "codecs/image_decoder.h"
#include "codecs/jpeg2000_header.h"
#include "emulated_gpu/device_memory.h"

namespace penstock::nvjpeg2000 {

struct Handle {};
struct State {};
struct Parsed {
  Bytes file;
  Jpeg2000Header header;
  bool good = false;
};
struct Params {
  uint32_t x0 = 0, x1 = 0, y0 = 0, y1 = 0;
  int format = 0;
};

namespace {

void count(int StandInCounts::* which, int by = 1) { count_in_stand_in(which, by); }

template <class T> Status made(T** thing) {
  *thing = new T;
  count(&StandInCounts::alive);
  return Status::success;
}
template <class T> Status gone(T* thing) {
  delete thing;
  count(&StandInCounts::alive, -1);
  return Status::success;
}
Status state_create(Handle*, State** state) { return made(state); }

Status parse(Handle*, const unsigned char* file, size_t length, int, int, Parsed* to) {
  to->file = {file, length};
  to->good = !error_of([&] { to->header = read_jpeg2000_header(to->file); });
  return to->good ? Status::success : Status::bad_file;
}
Status info_of(Parsed* p, ImageInfo* to) {
  if (!p->good) return count(&StandInCounts::wrong), Status::invalid_parameter;
  const Jpeg2000Header& h = p->header;
  *to = {static_cast<uint32_t>(h.width),
         static_cast<uint32_t>(h.height),
         static_cast<uint32_t>(h.width),
         static_cast<uint32_t>(h.height),
         1,
         1,
         static_cast<uint32_t>(h.components)};
  // The tiles' size stands in SIZ, behind the picture's.
  for (size_t i = 0; i + 30 < p->file.size(); ++i)
    if (p->file[i] == 0xFF && p->file[i + 1] == 0x51) {
      const auto number = [&](size_t at) {
        return uint32_t{p->file[i + at]} << 24 | p->file[i + at + 1] << 16 | p->file[i + at + 2] << 8 |
               p->file[i + at + 3];
      };
      to->tile_width = number(22), to->tile_height = number(26);
      break;
    }
  to->tiles_x = (to->width + to->tile_width - 1) / to->tile_width,
  to->tiles_y = (to->height + to->tile_height - 1) / to->tile_height;
  return Status::success;
}
Status component_of(Parsed* p, ComponentInfo* to, uint32_t) {
  *to = {static_cast<uint32_t>(p->header.width), static_cast<uint32_t>(p->header.height),
         static_cast<uint8_t>(p->header.bits), 0};
  return Status::success;
}
Status set_area(Params* p, uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1) {
  p->x0 = x0, p->x1 = x1, p->y0 = y0, p->y1 = y1;
  return Status::success;
}
Status set_format(Params* p, int format) { return p->format = format, Status::success; }

template <int kHow>
Status decode(Handle*, State* state, Parsed* p, Params* params, Image* to, StreamHandle) {
  if (!state || !p->good || params->format != kInterleaved || to->type != SampleType::uint8)
    return count(&StandInCounts::wrong), Status::invalid_parameter;
  if (kHow == 2) return Status::execution_failed;
  DecodeParams how;
  how.type = ImageType::any_data;
  Region region{params->y0, params->x0, params->y1 - params->y0, params->x1 - params->x0};
  if (!params->x1) region = {0, 0, p->header.height, p->header.width};
  const auto pitch = static_cast<int64_t>(to->pitches[0]);
  if (pitch != region.width * to->components) return count(&StandInCounts::wrong), Status::invalid_parameter;
  const DeviceAccess works;
  auto* pixels = static_cast<uint8_t*>(to->planes[0]);
  if (error_of([&] { decode_image(p->file, probe_image(p->file, how), how, region, {pixels, pitch}); }))
    return Status::bad_file;
  if (kHow == 1)
    for (int64_t i = 0; i < region.height * pitch; ++i) pixels[i] = static_cast<uint8_t>(255 - pixels[i]);
  count(&StandInCounts::decoded);
  return Status::success;
}

template <int kHow> constexpr Library kLibrary{made<Handle>, gone<Handle>, state_create, gone<State>,  made<Parsed>,
                                               gone<Parsed>, parse,        info_of,      component_of, made<Params>,
                                               gone<Params>, set_area,     set_format,   decode<kHow>};

}  // namespace

}  // namespace penstock::nvjpeg2000

namespace penstock {

const nvjpeg2000::Library& nvjpeg2000_stand_in(const std::string& how) {
  return how == "inverts" ? nvjpeg2000::kLibrary<1>
         : how == "fails" ? nvjpeg2000::kLibrary<2>
                          : nvjpeg2000::kLibrary<0>;
}

StandInCounts& stand_in_counts() {
  static StandInCounts counts;
  return counts;
}

void count_in_stand_in(int StandInCounts::* which, int by) {
  static std::mutex counting;
  std::lock_guard lock(counting);
  stand_in_counts().*which += by;
}

}  // namespace penstock
