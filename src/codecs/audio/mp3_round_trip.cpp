// SPDX-License-Identifier: Apache-2.0
// MP3 by libmp3lame, which is loaded at run time. The declarations below follow its documentation and cover the
// functions that we call, of versions from 3.99 on. Its first frame states delay and padding, which our decoder trims.
#include <algorithm>
#include <memory>
#include <vector>

#include "codecs/audio/audio_decoder.h"
#include "codecs/audio/round_trip.h"
#include "codecs/runtime_library.h"

namespace penstock {

namespace {

extern "C" {
struct lame_global_struct;
}
using Lame = lame_global_struct;

struct Library : OptionalLibrary {
  Lame* (*init)();
  int (*close)(Lame*);
  int (*set_rate)(Lame*, int);
  int (*set_out_rate)(Lame*, int);
  int (*set_channels)(Lame*, int);
  int (*set_kilobits)(Lame*, int);
  int (*init_params)(Lame*);
  int (*encode)(Lame*, const float* left, const float* right, int n, unsigned char* to, int bytes);
  int (*flush)(Lame*, unsigned char* to, int bytes);
  size_t (*first_frame)(const Lame*, unsigned char* to, size_t bytes);
  int (*delay)(const Lame*);

  Library() : OptionalLibrary(open_codec_library("PENSTOCK_LAME", {"libmp3lame.so.0"})) {
    find(init, "lame_init");
    find(close, "lame_close");
    find(set_rate, "lame_set_in_samplerate");
    find(set_out_rate, "lame_set_out_samplerate");
    find(set_channels, "lame_set_num_channels");
    find(set_kilobits, "lame_set_brate");
    find(init_params, "lame_init_params");
    find(encode, "lame_encode_buffer_ieee_float");
    find(flush, "lame_encode_flush");
    find(first_frame, "lame_get_lametag_frame");
    find(delay, "lame_get_encoder_delay");
  }
};

const Library& library() {
  static const Library loaded;
  if (!loaded.why_not().empty())
    bad_argument("MP3 needs libmp3lame (Debian: libmp3lame0), which was not found: {}", loaded.why_not());
  return loaded;
}

using Mp3Encoder = std::unique_ptr<Lame, int (*)(Lame*)>;

Mp3Encoder encoder_of(const Library& lib, const CodedSound& s) {
  if (s.bitrate < 8000 || s.bitrate > 320000)
    bad_argument("MP3 has from 8000 to 320000 bits a second, got {}", s.bitrate);
  Mp3Encoder made(lib.init(), lib.close);
  if (!made) throw std::bad_alloc();
  lib.set_rate(made.get(), s.rate), lib.set_out_rate(made.get(), s.rate);
  lib.set_channels(made.get(), s.channels), lib.set_kilobits(made.get(), (s.bitrate + 500) / 1000);
  constexpr int kRates[] = {8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000};
  if (std::ranges::find(kRates, s.rate) == std::end(kRates))
    bad_argument(
        "MP3 has rates of 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100 and 48000 hertz, got {}: "
        "resample before",
        s.rate);
  if (lib.init_params(made.get()) < 0)
    bad_argument("MP3 has no sound of {} hertz with {} bits a second", s.rate, s.bitrate);
  return made;
}

struct Mp3 {
  std::vector<uint8_t> bytes;
  int64_t delay;  // samples that the decoder leaves before the sound
};

Mp3 encoded(const CodedSound& s) {
  const Library& lib = library();
  const Mp3Encoder encoder = encoder_of(lib, s);
  constexpr int kBlock = 1 << 15;
  constexpr int kMostBytes = kBlock * 5 / 4 + 7200;  // as LAME's documentation says
  std::vector<float> sides[2];
  for (auto& side : sides) side.resize(kBlock);
  std::vector<uint8_t> bytes;
  const auto took = [&](size_t before, int count) {
    if (count < 0) bad_argument("MP3: libmp3lame ended with error {}", count);
    bytes.resize(before + static_cast<size_t>(count));
  };
  const auto place = [&] {
    const size_t before = bytes.size();
    bytes.resize(before + kMostBytes);
    return before;
  };
  for (int64_t from = 0; from < s.n; from += kBlock) {
    const int n = static_cast<int>(std::min<int64_t>(kBlock, s.n - from));
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < 2; ++c) sides[c][i] = s.in[(from + i) * s.channels + std::min(c, s.channels - 1)];
    const size_t before = place();
    took(before, lib.encode(encoder.get(), sides[0].data(), sides[1].data(), n, bytes.data() + before, kMostBytes));
  }
  const size_t before = place();
  took(before, lib.flush(encoder.get(), bytes.data() + before, kMostBytes));
  // Frames of few bits have no room for what states the delay; then it and that of a decoder remain.
  constexpr int kOfDecoder = 529;
  const bool stated = lib.first_frame(encoder.get(), bytes.data(), bytes.size()) > 0;
  const int64_t delay = stated ? 0 : lib.delay(encoder.get()) + kOfDecoder;
  return {std::move(bytes), delay};
}

}  // namespace

void require_lame() { library(); }

void mp3_round_trip(const CodedSound& s) {
  const Mp3 file = encoded(s);
  const auto decoded = open_audio(file.bytes);
  std::fill_n(s.out, s.n * s.channels, 0.0f);
  int64_t at = -file.delay;
  decoded->decode([&](const AudioSamples& samples, int64_t length) {
    const int64_t begin = std::clamp<int64_t>(-at, 0, length), end = std::clamp(s.n - at, begin, length);
    const float* const from = std::get<const float*>(samples);
    std::copy(from + begin * s.channels, from + end * s.channels, s.out + (at + begin) * s.channels);
    at += length;
  });
}

}  // namespace penstock
