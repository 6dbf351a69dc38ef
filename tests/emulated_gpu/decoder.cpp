// SPDX-License-Identifier: Apache-2.0
// Decoders of a GPU that is not there: they decline what a real engine declines, decode on the CPU, and so give the
// CPU's pixels. "hardware" knows its errors at once; "cuda", the first choice, takes regions and finds damage once the
// stream has passed.
//   PENSTOCK_EMULATED_DECODER          0: there is none; hardware or cuda: this one alone; idle: they write nothing;
//                                      own: the real jpeg/cuda, on fibers
//   PENSTOCK_EMULATED_DECODER_FAILS    n: every n-th image fails, in the hardware at once, in cuda later
//   PENSTOCK_EMULATED_DECODER_REGIONS  0: cuda takes none
//   PENSTOCK_EMULATED_NVJPEG2000       decodes, inverts or fails: JPEG 2000 goes to nvJPEG2000's decoder with a library
//   that is made
//                                      up, which gives the CPU's pixels, those of the negative, or no file's
//   PENSTOCK_EMULATED_NVTIFF           the same for TIFF
//   PENSTOCK_EMULATED_GROUP, PENSTOCK_EMULATED_LANES: the best group, the groups at once
#include <cstdlib>
#include <cstring>

#include "base/error_of.h"
#include "cuda/decode/batch_decoder.h"
#include "cuda/decode/jpeg_engine.h"
#include "cuda/decode/decoder_by_format.h"
#include "cuda/decode/nvjpeg2000_decoder.h"
#include "cuda/jpeg/jpeg_decoder.h"
#include "cuda/decode/nvtiff_decoder.h"
#include "emulated_gpu/device_memory.h"
#include "emulated_gpu/nvjpeg2000_stand_in.h"
#include "emulated_gpu/nvtiff_stand_in.h"

namespace penstock {
namespace {

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}
bool decoder_is(const char* name) {
  const char* text = std::getenv("PENSTOCK_EMULATED_DECODER");
  return text && std::strcmp(text, name) == 0;
}

class DamageFoundLater final : public DecodesInFlight {
 public:
  void finish(std::span<DeviceDecode> images) override {
    for (size_t k = 0; k < images.size(); ++k)
      if (errors[k]) images[k].error = std::move(errors[k]);
  }
  std::vector<std::optional<Error>> errors;
};

class EmulatedDecoder final : public BatchDecoder {
 public:
  explicit EmulatedDecoder(bool cuda) : cuda_(cuda) {}
  const char* name() const override { return cuda_ ? "jpeg/emulated-cuda" : "jpeg/emulated-hardware"; }
  int best_group() const override { return group_; }
  int lanes() const override { return number_from("PENSTOCK_EMULATED_LANES", cuda_ ? 3 : 2); }
  bool takes_regions() const override { return cuda_ && number_from("PENSTOCK_EMULATED_DECODER_REGIONS", 1); }
  std::string declines(Bytes file, const ImageInfo& info, const DecodeParams& params, const ParsedHeader& read,
                       ParsedHeader*) const override {
    std::string why = jpeg_engine_declines(file, info, params, read);
    if (cuda_ && why == "the end marker is missing") why.clear();  // it sees where a file ends
    return why;
  }
  std::unique_ptr<DecodesInFlight> decode(std::span<DeviceDecode> images, const DecodeParams& params,
                                          StreamHandle) override {
    auto later = std::make_unique<DamageFoundLater>();
    for (DeviceDecode& image : images) {
      auto error = decode_one(image, params);
      if (cuda_) later->errors.push_back(std::move(error));
      else image.error = std::move(error);
    }
    if (!cuda_) return nullptr;
    return later;
  }

 private:
  std::optional<Error> decode_one(DeviceDecode& image, const DecodeParams& params) {
    if (idle_) return std::nullopt;
    DeviceAccess works;
    const int channels = output_channels(*image.info, params.type);
    Region region{0, 0, image.info->height, image.info->width};
    if (image.region.height) region = {image.region.y, image.region.x, image.region.height, image.region.width};
    if (fails_ > 0 && ++count_ % fails_ == 0) {
      std::memset(image.pixels, 0xCC, static_cast<size_t>(region.height * region.width * channels));
      return Error(ErrorKind::data, "the emulated engine fails here");
    }
    DecodeParams whole = params;
    whole.partial = false;  // an engine has no part of a file
    return error_of(
        [&] { decode_image(image.file, *image.info, whole, region, {image.pixels, region.width * channels}); });
  }
  const bool cuda_, idle_ = decoder_is("idle");
  const int group_ = number_from("PENSTOCK_EMULATED_GROUP", 64),
            fails_ = number_from("PENSTOCK_EMULATED_DECODER_FAILS", 0);
  int count_ = 0;
};

}  // namespace

namespace {

std::unique_ptr<BatchDecoder> make_first_decoder(Driver& driver, int device, DecodeEngine engine, std::string& why) {
  if (decoder_is("own") && engine != DecodeEngine::hardware) return make_jpeg_decoder(driver, device, why);
  const bool cuda = !decoder_is("hardware") && !decoder_is("0"), hardware = !decoder_is("cuda") && !decoder_is("0");
  if (cuda && engine != DecodeEngine::hardware) return std::make_unique<EmulatedDecoder>(true);
  if (hardware && engine != DecodeEngine::cuda) return std::make_unique<EmulatedDecoder>(false);
  why = "the emulated GPU has no such decoder";
  return nullptr;
}

}  // namespace

std::unique_ptr<BatchDecoder> make_batch_decoder(Driver& driver, int device, DecodeEngine engine, std::string& why) {
  auto first = make_first_decoder(driver, device, engine, why);
  if (!first) return first;
  if (const char* how = std::getenv("PENSTOCK_EMULATED_NVJPEG2000"))
    first = decoder_by_format(std::move(first), make_nvjpeg2000_decoder(nvjpeg2000_stand_in(how), driver, device, why),
                              "jpeg2000");
  if (const char* how = std::getenv("PENSTOCK_EMULATED_NVTIFF"))
    first = decoder_by_format(std::move(first), make_nvtiff_decoder(nvtiff_stand_in(how), driver, device), "tiff");
  return first;
}

}  // namespace penstock
