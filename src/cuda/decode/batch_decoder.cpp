// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/batch_decoder.h"

#include "cuda/decode/nvjpeg_decoder.h"

namespace penstock {

std::unique_ptr<BatchDecoder> make_batch_decoder(Driver& driver, int device, DecodeEngine engine, std::string& why) {
  if (engine == DecodeEngine::cuda) {
    why = "there is no decoder in CUDA yet";
    return nullptr;
  }
  const nvjpeg::Library* library = nvjpeg::library(why);
  return library ? make_nvjpeg_decoder(*library, driver, device, why) : nullptr;
}

}  // namespace penstock
