// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/nvjpeg_decoder.h"

#include <array>
#include <vector>

#include "base/error_of.h"
#include "base/settings.h"
#include "codecs/image_decoder.h"
#include "cuda/decode/jpeg_engine.h"

namespace penstock {
namespace {

using nvjpeg::OutputFormat;
using nvjpeg::Status;

constexpr int kBestGroup =
    256;  // 35,500 photographs a second from pinned memory; 34,200 at 512, 33,500 at 1,024 (H200)

OutputFormat format_of(const DecodeParams& params) {
  return params.type == ImageType::bgr ? OutputFormat::bgr_interleaved : OutputFormat::rgb_interleaved;
}

// A batch size that nvJPEG was prepared for, and the end of its last work.
struct Slot {
  nvjpeg::State* state = nullptr;
  int size = 0;
  OutputFormat format{};
  std::shared_ptr<DeviceEvent> done;
};

class NvjpegDecoder final : public BatchDecoder {
 public:
  NvjpegDecoder(const nvjpeg::Library& library, Driver& driver, int device, nvjpeg::Handle* handle)
      : library_(library), driver_(driver), device_(device), handle_(handle) {
    const std::string_view wait = Setting("PENSTOCK_NVJPEG_WAIT").text();
    waits_after_ = !wait.empty() && wait != "0";
  }
  ~NvjpegDecoder() override {
    (void)error_of([&] {  // waiting fails on a GPU that has failed
      driver_.on_device(device_, [&] {
        for (Slot& slot : slots_) {
          if (slot.done) slot.done->synchronize();
          if (slot.state) library_.state_destroy(slot.state);
        }
        library_.destroy(handle_);
      });
    });
  }
  const char* name() const override { return "jpeg/nvjpeg-hardware"; }
  int best_group() const override { return kBestGroup; }
  std::string declines(Bytes file, const ImageInfo& info, const DecodeParams& params, const ParsedHeader& read,
                       ParsedHeader*) const override {
    return jpeg_engine_declines(file, info, params, read);
  }
  std::unique_ptr<DecodesInFlight> decode(std::span<DeviceDecode> images, const DecodeParams& params,
                                          StreamHandle stream) override;

 private:
  Status decode_together(std::span<DeviceDecode*> images, OutputFormat format, StreamHandle stream);
  void decode_by_halves(std::span<DeviceDecode*> images, OutputFormat format, StreamHandle stream, Status failed);

  const nvjpeg::Library& library_;
  Driver& driver_;
  int device_;
  nvjpeg::Handle* handle_;
  bool waits_after_ = false;
  std::array<Slot, 2> slots_;  // so that one is filled while the other decodes
  size_t next_ = 0;
  std::vector<const unsigned char*> files_;
  std::vector<size_t> lengths_;
  std::vector<nvjpeg::Image> to_;
};

// Decodes all of them or none, as far as is known.
Status NvjpegDecoder::decode_together(std::span<DeviceDecode*> images, OutputFormat format, StreamHandle stream) {
  const int size = static_cast<int>(images.size());
  Slot& slot = slots_[next_++ % slots_.size()];
  if (slot.done) slot.done->synchronize();
  slot.done.reset();
  if (!slot.state)
    if (const Status status = library_.state_create(handle_, &slot.state); status != Status::success) return status;
  if (slot.size != size || slot.format != format) {
    slot.size = 0;
    if (const Status status = library_.batched_initialize(handle_, slot.state, size, 1, format);
        status != Status::success)
      return status;
    slot.size = size;
    slot.format = format;
  }
  files_.clear();
  lengths_.clear();
  to_.clear();
  for (const DeviceDecode* each : images) {
    const DeviceDecode& image = *each;
    files_.push_back(image.file.data());
    lengths_.push_back(image.file.size());
    nvjpeg::Image& to = to_.emplace_back();
    to.plane[0] = static_cast<unsigned char*>(image.pixels);
    to.pitch[0] = 3 * static_cast<size_t>(image.info->width);
  }
  const Status status =
      library_.batched_decode(handle_, slot.state, files_.data(), lengths_.data(), to_.data(), stream);
  if (status != Status::success) slot.size = 0;  // a failed batch must be prepared again
  slot.done = driver_.record(device_, stream);
  return status;
}

void NvjpegDecoder::decode_by_halves(std::span<DeviceDecode*> images, OutputFormat format, StreamHandle stream,
                                     Status failed) {
  if (failed == Status::allocator_failure)
    fail(ErrorKind::out_of_memory, "nvJPEG: GPU {} has no memory for {} images", device_, images.size());
  if (images.size() == 1) {
    images[0]->error = Error(ErrorKind::data, fmt::format("nvJPEG: {}", nvjpeg::status_string(failed)));
    return;
  }
  const size_t half = images.size() / 2;
  for (auto part : {images.first(half), images.subspan(half)})
    if (const Status status = decode_together(part, format, stream); status != Status::success)
      decode_by_halves(part, format, stream, status);
}

std::unique_ptr<DecodesInFlight> NvjpegDecoder::decode(std::span<DeviceDecode> images, const DecodeParams& params,
                                                       StreamHandle stream) {
  if (images.empty()) return nullptr;
  driver_.record(device_, stream)->synchronize();  // see the top of nvjpeg_decoder.h
  std::vector<DeviceDecode*> all;
  for (DeviceDecode& image : images) all.push_back(&image);
  driver_.on_device(device_, [&] {
    const OutputFormat format = format_of(params);
    if (const Status status = decode_together(all, format, stream); status != Status::success)
      decode_by_halves(all, format, stream, status);
  });
  if (waits_after_) driver_.synchronize(device_, stream);
  return nullptr;
}

}  // namespace

std::unique_ptr<BatchDecoder> make_nvjpeg_decoder(const nvjpeg::Library& library, Driver& driver, int device,
                                                  std::string& why) {
  nvjpeg::Handle* handle = nullptr;
  Status status{};
  driver.on_device(device, [&] { status = library.create(nvjpeg::kBackendHardware, nullptr, nullptr, 0, &handle); });
  if (status != Status::success) {
    why = fmt::format("nvJPEG finds no decoder engine on GPU {} ({}): {}", device, driver.device_name(device),
                      nvjpeg::status_string(status));
    return nullptr;
  }
  return std::make_unique<NvjpegDecoder>(library, driver, device, handle);
}

}  // namespace penstock
