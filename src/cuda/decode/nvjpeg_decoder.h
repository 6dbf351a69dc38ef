// SPDX-License-Identifier: Apache-2.0
// JPEG files through the decoder engine of the GPU, by nvJPEG. The engine takes no multiprocessor; its limit is the
// compressed bytes it reads per second. Its inverse transform and upsampling are its own: pixels differ from
// libjpeg-turbo's by a few units.
//
// Observed order of work (H100 and H200, nvJPEG 12.3 to 13.3): it writes as soon as the call is made, whatever the
// stream and its events say, and the stream waits for it afterwards. So decode() blocks the host until earlier work on
// the stream is done, because the pixels' memory may still be in use there, and relies on the stream after the call.
#pragma once
#include "cuda/decode/nvjpeg_library.h"
#include "cuda/runtime/driver.h"
#include "device/batch_decoder.h"

namespace penstock {

std::unique_ptr<BatchDecoder> make_nvjpeg_decoder(const nvjpeg::Library& library, Driver& driver, int device,
                                                  std::string& why);

}  // namespace penstock
