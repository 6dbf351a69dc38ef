// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/nvtiff_decoder.h"

#include <array>
#include <cstring>

#include "base/error_of.h"
#include "codecs/image_format.h"
#include "codecs/tiff_decoder.h"

namespace penstock {
namespace {

using nvtiff::Status;

constexpr int kBestGroup = 64;

// What one image needs during decoding, and the end of the last work that used it.
struct Slot {
  nvtiff::Decoder* decoder = nullptr;
  nvtiff::Params* params = nullptr;
  nvtiff::File* file = nullptr;
  std::shared_ptr<DeviceEvent> done;
};

class NvtiffDecoder final : public BatchDecoder {
 public:
  NvtiffDecoder(const nvtiff::Library& library, Driver& driver, int device)
      : library_(library), driver_(driver), device_(device) {}
  ~NvtiffDecoder() override {
    (void)error_of([&] {  // waiting fails on a GPU that has failed
      driver_.on_device(device_, [&] {
        for (Slot& slot : slots_) {
          free(slot);
          if (slot.params) library_.params_destroy(slot.params);
          if (slot.decoder) library_.decoder_destroy(slot.decoder, nullptr);
        }
      });
    });
  }
  const char* name() const override { return "tiff/nvtiff"; }
  int best_group() const override { return kBestGroup; }
  bool takes_regions() const override { return true; }
  std::string declines(Bytes file, const ImageInfo& info, const DecodeParams& params, const ParsedHeader& read,
                       ParsedHeader*) const override {
    return nvtiff_declines(file, info, params, read);
  }
  std::unique_ptr<DecodesInFlight> decode(std::span<DeviceDecode> images, const DecodeParams& params,
                                          StreamHandle stream) override;

 private:
  void free(Slot& slot) {
    if (slot.done) slot.done->synchronize();
    slot.done.reset();
    if (slot.file) library_.close(slot.file);
    slot.file = nullptr;
  }
  Status decode_one(Slot& slot, DeviceDecode& image, int channels, StreamHandle stream);

  const nvtiff::Library& library_;
  Driver& driver_;
  int device_;
  std::array<Slot, 8> slots_;  // so that the host reads ahead while the GPU decodes
};

// The file of a slot is open until its work is done, but its bytes live only until the group's stream has passed: so no
// file stays open from one call to the next.
class FilesInFlight final : public DecodesInFlight {
 public:
  explicit FilesInFlight(const nvtiff::Library& library) : library_(library) {}
  ~FilesInFlight() override { close(); }
  void finish(std::span<DeviceDecode>) override { close(); }
  std::vector<std::pair<nvtiff::File*, std::shared_ptr<DeviceEvent>>> files;

 private:
  void close() {
    for (auto& [file, done] : files) {
      (void)error_of([&] { done->synchronize(); });
      library_.close(file);
    }
    files.clear();
  }
  const nvtiff::Library& library_;
};

std::unique_ptr<DecodesInFlight> NvtiffDecoder::decode(std::span<DeviceDecode> images, const DecodeParams& params,
                                                       StreamHandle stream) {
  auto in_flight = std::make_unique<FilesInFlight>(library_);
  driver_.on_device(device_, [&] {
    for (size_t i = 0; i < images.size(); ++i) {
      DeviceDecode& image = images[i];
      Slot& slot = slots_[i % slots_.size()];
      if (slot.done) slot.done->synchronize();
      slot.done.reset();
      const Status status = decode_one(slot, image, output_channels(*image.info, params.type), stream);
      if (slot.done) in_flight->files.emplace_back(std::exchange(slot.file, nullptr), slot.done);
      else free(slot);
      if (status == Status::allocator_failure)
        fail(ErrorKind::out_of_memory, "nvTIFF: GPU {} has no memory for an image of {} x {}", device_,
             image.info->height, image.info->width);
      if (status != Status::success)
        image.error = Error(ErrorKind::data, fmt::format("nvTIFF: {}", nvtiff::status_string(status)));
    }
  });
  if (in_flight->files.empty()) return nullptr;
  return in_flight;
}

Status NvtiffDecoder::decode_one(Slot& slot, DeviceDecode& image, int channels, StreamHandle stream) {
  Status status = Status::success;
  if (!slot.decoder) status = library_.decoder_create(&slot.decoder, stream);
  if (!slot.params && status == Status::success) status = library_.params_create(&slot.params);
  if (status == Status::success) status = library_.open(image.file.data(), image.file.size(), &slot.file);
  nvtiff::ImageInfo info{};
  if (status == Status::success) status = library_.image_info(slot.file, 0, &info);
  if (status != Status::success) return status;
  if (info.width != image.info->width || info.height != image.info->height || info.samples != channels ||
      info.bits_of_pixel != 8 * channels)
    return Status::not_supported;
  const auto& r = image.region;
  const int64_t height = r.height ? r.height : image.info->height, width = r.height ? r.width : image.info->width;
  const nvtiff::Region region{0, static_cast<int32_t>(r.x), static_cast<int32_t>(r.y), static_cast<uint32_t>(width),
                              static_cast<uint32_t>(height)};
  status = library_.set_regions(slot.params, &region, 1);
  if (status != Status::success) return status;
  size_t pitch = static_cast<size_t>(width) * static_cast<size_t>(channels);
  nvtiff::Image to{&image.pixels, &pitch, 1};
  status = library_.decode(slot.file, slot.decoder, slot.params, &to, stream);
  slot.done = driver_.record(device_, stream);  // also for work that failed half-way
  return status;
}

}  // namespace

std::string nvtiff_declines(Bytes file, const ImageInfo& info, const DecodeParams& params, const ParsedHeader& read) {
  if (info.format->id != "tiff") return fmt::format("the format is {}", info.format->id);
  std::string reasons = tiff_is_unusual(file, read);
  auto add = [&](const std::string& reason) { reasons += (reasons.empty() ? "" : "; ") + reason; };
  if (params.dtype != DType::uint8) add(fmt::format("it decodes to uint8, not to {}", name_of(params.dtype)));
  if (params.eighths != 8) add("it does not scale");
  if (params.apply_orientation && info.orientation != 1)
    add(fmt::format("the picture has the orientation {}", info.orientation));
  const bool as_stored = params.type == ImageType::any_data || (params.type == ImageType::rgb && info.channels == 3) ||
                         (params.type == ImageType::gray && info.channels == 1);
  if (!as_stored) add(fmt::format("the {} channels would need a conversion", info.channels));
  return reasons;
}

std::unique_ptr<BatchDecoder> make_nvtiff_decoder(const nvtiff::Library& library, Driver& driver, int device) {
  return std::make_unique<NvtiffDecoder>(library, driver, device);
}

}  // namespace penstock
