// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/nvjpeg2000_decoder.h"

#include <array>
#include <cstring>

#include "base/error_of.h"
#include "codecs/image_format.h"
#include "codecs/jpeg2000_header.h"
#include "cuda/decode/jpeg_engine.h"

namespace penstock {
namespace {

using nvjpeg2000::Status;

constexpr int kBestGroup = 64;

// What one image needs during decoding, and the end of the last work that used it.
struct Slot {
  nvjpeg2000::State* state = nullptr;
  nvjpeg2000::Parsed* parsed = nullptr;
  nvjpeg2000::Params* params = nullptr;
  std::shared_ptr<DeviceEvent> done;
};

class Nvjpeg2000Decoder final : public BatchDecoder {
 public:
  Nvjpeg2000Decoder(const nvjpeg2000::Library& library, Driver& driver, int device, nvjpeg2000::Handle* handle)
      : library_(library), driver_(driver), device_(device), handle_(handle) {}
  ~Nvjpeg2000Decoder() override {
    (void)error_of([&] {  // waiting fails on a GPU that has failed
      driver_.on_device(device_, [&] {
        for (Slot& slot : slots_) {
          if (slot.done) slot.done->synchronize();
          if (slot.params) library_.params_destroy(slot.params);
          if (slot.parsed) library_.parsed_destroy(slot.parsed);
          if (slot.state) library_.state_destroy(slot.state);
        }
        library_.destroy(handle_);
      });
    });
  }
  const char* name() const override { return "jpeg2000/nvjpeg2000"; }
  int best_group() const override { return kBestGroup; }
  bool takes_regions() const override { return true; }
  std::string declines(Bytes file, const ImageInfo& info, const DecodeParams& params, const ParsedHeader& read,
                       ParsedHeader*) const override {
    return nvjpeg2000_declines(file, info, params, read);
  }
  std::unique_ptr<DecodesInFlight> decode(std::span<DeviceDecode> images, const DecodeParams& params,
                                          StreamHandle stream) override {
    driver_.on_device(device_, [&] {
      for (DeviceDecode& image : images) {
        const Status status = decode_one(image, output_channels(*image.info, params.type), stream);
        if (status == Status::allocator_failure)
          fail(ErrorKind::out_of_memory, "nvJPEG2000: GPU {} has no memory for an image of {} x {}", device_,
               image.info->height, image.info->width);
        if (status != Status::success)
          image.error = Error(ErrorKind::data, fmt::format("nvJPEG2000: {}", nvjpeg2000::status_string(status)));
      }
    });
    return nullptr;
  }

 private:
  Status prepare(Slot& slot);
  Status decode_one(DeviceDecode& image, int channels, StreamHandle stream);

  const nvjpeg2000::Library& library_;
  Driver& driver_;
  int device_;
  nvjpeg2000::Handle* handle_;
  std::array<Slot, 8> slots_;  // so that the host reads ahead while the GPU decodes
  size_t next_ = 0;
};

Status Nvjpeg2000Decoder::prepare(Slot& slot) {
  Status status = Status::success;
  const auto make = [&](auto& thing, const auto& create) {
    if (!thing && status == Status::success) status = create(&thing);
  };
  make(slot.state, [&](nvjpeg2000::State** s) { return library_.state_create(handle_, s); });
  make(slot.parsed, library_.parsed_create);
  make(slot.params, library_.params_create);
  return status;
}

Status Nvjpeg2000Decoder::decode_one(DeviceDecode& image, int channels, StreamHandle stream) {
  Slot& slot = slots_[next_++ % slots_.size()];
  if (slot.done) slot.done->synchronize();
  slot.done.reset();
  if (const Status s = prepare(slot); s != Status::success) return s;
  if (const Status s = library_.parse(handle_, image.file.data(), image.file.size(), 0, 0, slot.parsed);
      s != Status::success)
    return s;
  nvjpeg2000::ImageInfo info{};
  if (const Status s = library_.image_info(slot.parsed, &info); s != Status::success) return s;
  if (info.width != image.info->width || info.height != image.info->height ||
      info.components != static_cast<uint32_t>(channels))
    return Status::not_supported;
  for (uint32_t c = 0; c < info.components; ++c) {
    nvjpeg2000::ComponentInfo component{};
    if (const Status s = library_.component_info(slot.parsed, &component, c); s != Status::success) return s;
    if (component.bits != 8 || component.is_signed || component.width != info.width || component.height != info.height)
      return Status::not_supported;
  }
  const auto& r = image.region;
  const bool whole = r.height == 0 || (r.height == image.info->height && r.width == image.info->width);
  if (!whole && info.tiles_x * info.tiles_y != 1) return Status::not_supported;  // an area must be in one tile
  const auto at = [&](int64_t v) { return whole ? 0 : static_cast<uint32_t>(v); };
  if (const Status s = library_.set_format(slot.params, nvjpeg2000::kInterleaved); s != Status::success) return s;
  if (const Status s = library_.set_area(slot.params, at(r.x), at(r.x + r.width), at(r.y), at(r.y + r.height));
      s != Status::success)
    return s;
  size_t pitch = static_cast<size_t>(whole ? image.info->width : r.width) * static_cast<size_t>(channels);
  nvjpeg2000::Image to{&image.pixels, &pitch, nvjpeg2000::SampleType::uint8, info.components};
  const Status status = library_.decode(handle_, slot.state, slot.parsed, slot.params, &to, stream);
  slot.done = driver_.record(device_, stream);  // also for work that failed half-way
  return status;
}

}  // namespace

std::string nvjpeg2000_declines(Bytes file, const ImageInfo& info, const DecodeParams& params,
                                const ParsedHeader& read) {
  if (info.format->id != "jpeg2000") return fmt::format("the format is {}", info.format->id);
  std::string reasons;
  auto add = [&](const std::string& reason) { reasons += (reasons.empty() ? "" : "; ") + reason; };
  const auto* kept = read.get<Jpeg2000Header>();
  const Jpeg2000Header h = kept ? *kept : read_jpeg2000_header(file);
  if (params.dtype != DType::uint8) add(fmt::format("it decodes to uint8, not to {}", name_of(params.dtype)));
  if (params.eighths != 8) add("it does not scale");
  const bool as_stored = params.type == ImageType::any_data || (params.type == ImageType::rgb && h.components == 3) ||
                         (params.type == ImageType::gray && h.components == 1);
  if (!as_stored) add(fmt::format("the {} components would need a conversion", h.components));
  if (h.components != 1 && h.components != 3 && h.components != 4)
    add(fmt::format("there are {} components", h.components));
  if (h.bits != 8) add(fmt::format("samples have {} bits", h.bits));
  if (h.palette_columns) add("there is a palette");
  if (h.ycc) add("the colors are sYCC");
  if (h.subsampled) add("the components differ in size");
  if (h.left || h.top) add("the picture does not start at the corner of the grid");
  if (!has_end_marker(file)) add("the end marker is missing");
  return reasons;
}

std::unique_ptr<BatchDecoder> make_nvjpeg2000_decoder(const nvjpeg2000::Library& library, Driver& driver, int device,
                                                      std::string& why) {
  nvjpeg2000::Handle* handle = nullptr;
  Status status{};
  driver.on_device(device, [&] { status = library.create(&handle); });
  if (status != Status::success) {
    why = fmt::format("nvJPEG2000 does not start on GPU {} ({}): {}", device, driver.device_name(device),
                      nvjpeg2000::status_string(status));
    return nullptr;
  }
  return std::make_unique<Nvjpeg2000Decoder>(library, driver, device, handle);
}

}  // namespace penstock
