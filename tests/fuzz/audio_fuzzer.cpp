// SPDX-License-Identifier: Apache-2.0
// Any bytes as a recording: exactly as many samples as its header says, or an error of the data.
#include <cstdlib>

#include "codecs/audio/audio_decoder.h"
#include "codecs/verify_sound.h"
#include "fuzz_containers.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> exact(data, data + size);
  verify_sound(exact, "", find_sound(exact));  // has an answer to any bytes
  fuzz::may_refuse([&] {
    const auto file = open_audio(exact);
    const AudioInfo& info = file->info();
    if (info.channels < 1 || info.length < 0 || !(info.rate > 0)) std::abort();
    int64_t given = 0;
    volatile int64_t read = 0;  // so that all samples are looked at
    file->decode([&](const AudioSamples& samples, int64_t n) {
      given += n;
      std::visit(
          [&](const auto& v) {
            for (int64_t i = 0; i < n * info.channels; ++i) {
              if constexpr (requires { v.planes; }) read = read + (v.planes[i % info.channels][i / info.channels] > 0);
              else if constexpr (requires { v->bytes; }) read = read + v[i].bytes[0] + v[i].bytes[1];
              else read = read + (v[i] > 0);
            }
          },
          samples);
    });
    if (given != info.length) std::abort();
  });
  return 0;
}
