// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/batch_decoder.h"

#include "cuda/decode/nvjpeg_decoder.h"

namespace penstock {

std::unique_ptr<BatchDecoder> make_batch_decoder(Driver& driver, int device, std::string& why) {
  const nvjpeg::Library* library = nvjpeg::library(why);
  return library ? make_nvjpeg_decoder(*library, driver, device, why) : nullptr;
}

}  // namespace penstock
