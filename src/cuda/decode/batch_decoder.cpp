// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/batch_decoder.h"

#include "cuda/decode/decoder_by_format.h"
#include "cuda/decode/nvjpeg_decoder.h"
#include "cuda/jpeg/jpeg_decoder.h"

namespace penstock {

std::unique_ptr<BatchDecoder> make_batch_decoder(Driver& driver, int device, DecodeEngine engine, std::string& why) {
  if (engine != DecodeEngine::hardware) {
    auto own = make_jpeg_decoder(driver, device, why);
    if (own || engine == DecodeEngine::cuda) return with_other_formats(std::move(own), driver, device);
  }
  std::string why_no_engine;
  const nvjpeg::Library* library = nvjpeg::library(why_no_engine);
  auto engine_of_gpu = library ? make_nvjpeg_decoder(*library, driver, device, why_no_engine) : nullptr;
  if (!engine_of_gpu) why += (why.empty() ? "" : "; ") + why_no_engine;
  return with_other_formats(std::move(engine_of_gpu), driver, device);
}

}  // namespace penstock
