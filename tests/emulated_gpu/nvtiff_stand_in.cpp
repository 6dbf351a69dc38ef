// SPDX-License-Identifier: Apache-2.0
#include "emulated_gpu/nvtiff_stand_in.h"

#include "base/error_of.h"
#include "codecs/image_decoder.h"
#include "emulated_gpu/device_memory.h"

namespace penstock::nvtiff {

struct Decoder {};
struct File {
  Bytes bytes;
  penstock::ImageInfo info;
};
struct Params {
  Region region;
};

namespace {

DecodeParams as_stored() {
  DecodeParams params;
  params.type = ImageType::any_data;
  params.apply_orientation = false;
  return params;
}

template <class T> Status made(T** thing) {
  *thing = new T;
  count_in_stand_in(&StandInCounts::alive);
  return Status::success;
}
template <class T> Status gone(T* thing) {
  delete thing;
  count_in_stand_in(&StandInCounts::alive, -1);
  return Status::success;
}
Status decoder_create(Decoder** decoder, StreamHandle) { return made(decoder); }
Status decoder_destroy(Decoder* decoder, StreamHandle) { return gone(decoder); }

Status open(const uint8_t* bytes, size_t size, File** file) {
  made(file);
  (*file)->bytes = {bytes, size};
  if (!error_of([&] { (*file)->info = probe_image((*file)->bytes, as_stored()); })) return Status::success;
  gone(*file);
  *file = nullptr;
  return Status::bad_file;
}
Status info_of(File* file, size_t, ImageInfo* to) {
  *to = {};
  to->width = static_cast<uint32_t>(file->info.width), to->height = static_cast<uint32_t>(file->info.height);
  to->samples = static_cast<uint16_t>(file->info.channels),
  to->bits_of_pixel = static_cast<uint16_t>(8 * file->info.channels);
  return Status::success;
}
Status set_regions(Params* params, const Region* regions, uint32_t count) {
  if (count != 1) return count_in_stand_in(&StandInCounts::wrong), Status::invalid_parameter;
  params->region = *regions;
  return Status::success;
}

template <int kHow>
Status decode(File* file, Decoder* decoder, Params* params, Image* to, StreamHandle) {
  const nvtiff::Region& r = params->region;
  const auto pitch = static_cast<int64_t>(to->pitches[0]);
  if (!file || !decoder || to->count != 1 || pitch != int64_t{r.width} * file->info.channels)
    return count_in_stand_in(&StandInCounts::wrong), Status::invalid_parameter;
  if (kHow == 2) return Status::execution_failed;
  const DeviceAccess works;
  auto* pixels = static_cast<uint8_t*>(to->planes[0]);
  if (error_of(
          [&] { decode_image(file->bytes, file->info, as_stored(), {r.y, r.x, r.height, r.width}, {pixels, pitch}); }))
    return Status::bad_file;
  if (kHow == 1)
    for (int64_t i = 0; i < r.height * pitch; ++i) pixels[i] = static_cast<uint8_t>(255 - pixels[i]);
  count_in_stand_in(&StandInCounts::decoded);
  return Status::success;
}

template <int kHow> constexpr Library kLibrary{decoder_create, decoder_destroy, open,        gone<File>,  info_of,
                                               made<Params>,   gone<Params>,    set_regions, decode<kHow>};

}  // namespace

}  // namespace penstock::nvtiff

namespace penstock {

const nvtiff::Library& nvtiff_stand_in(const std::string& how) {
  return how == "inverts" ? nvtiff::kLibrary<1> : how == "fails" ? nvtiff::kLibrary<2> : nvtiff::kLibrary<0>;
}

}  // namespace penstock
