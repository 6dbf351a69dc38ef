// SPDX-License-Identifier: Apache-2.0
// A decoder engine that is not there: it declines what a real one declines, decodes on the CPU, and so gives the CPU's
// pixels. PENSTOCK_EMULATED_DECODER_FAILS=n makes it fail on every n-th image, PENSTOCK_EMULATED_GROUP is its best group.
#include <cstdlib>

#include "base/error_of.h"
#include "cuda/decode/batch_decoder.h"
#include "cuda/decode/jpeg_engine.h"

namespace penstock {
namespace {

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

class EmulatedDecoder final : public BatchDecoder {
 public:
  const char* name() const override { return "jpeg/emulated"; }
  int best_group() const override { return group_; }
  std::string declines(Bytes file, const ImageInfo& info, const DecodeParams& params) const override {
    return jpeg_engine_declines(file, info, params);
  }
  std::unique_ptr<DecodesInFlight> decode(std::span<DeviceDecode> images, const DecodeParams& params, StreamHandle) override {
    for (DeviceDecode& image : images) {
      if (fails_ > 0 && ++count_ % fails_ == 0) {
        image.error = Error(ErrorKind::data, "the emulated engine fails here");
        continue;
      }
      image.error = error_of([&] {
        const PixelSink sink{image.pixels, image.info->width * output_channels(*image.info, params.type)};
        decode_image(image.file, *image.info, params, {0, 0, image.info->height, image.info->width}, sink);
      });
    }
    return nullptr;
  }

 private:
  const int group_ = number_from("PENSTOCK_EMULATED_GROUP", 64), fails_ = number_from("PENSTOCK_EMULATED_DECODER_FAILS", 0);
  int count_ = 0;
};

}  // namespace

std::unique_ptr<BatchDecoder> make_batch_decoder(Driver&, int, DecodeEngine, std::string& why) {
  if (number_from("PENSTOCK_EMULATED_DECODER", 1)) return std::make_unique<EmulatedDecoder>();
  why = "the emulated GPU has no decoder engine";
  return nullptr;
}

}  // namespace penstock
