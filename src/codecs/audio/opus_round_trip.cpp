// SPDX-License-Identifier: Apache-2.0
#include <opus.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error.h"
#include "codecs/audio/round_trip.h"

namespace penstock {

namespace {

template <class Made> Made* opus_made(Made* made, int code) {
  if (code == OPUS_ALLOC_FAIL) throw std::bad_alloc();
  if (!made) bad_argument("Opus: {}", opus_strerror(code));
  return made;
}
using OpusEncoding = std::unique_ptr<OpusEncoder, void (*)(OpusEncoder*)>;
using OpusDecoding = std::unique_ptr<OpusDecoder, void (*)(OpusDecoder*)>;

void check_opus(const CodedSound& s) {
  if (s.rate != 8000 && s.rate != 12000 && s.rate != 16000 && s.rate != 24000 && s.rate != 48000)
    bad_argument("Opus has rates of 8000, 12000, 16000, 24000 and 48000 hertz, got {}: resample before", s.rate);
  if (s.bitrate < 6000 || s.bitrate > 510000)
    bad_argument("Opus has from 6000 to 510000 bits a second, got {}", s.bitrate);
}

}  // namespace

void opus_round_trip(const CodedSound& s) {
  check_opus(s);
  int code = 0, delay = 0;
  const OpusEncoding encoder(opus_made(opus_encoder_create(s.rate, s.channels, OPUS_APPLICATION_AUDIO, &code), code),
                             opus_encoder_destroy);
  const OpusDecoding decoder(opus_made(opus_decoder_create(s.rate, s.channels, &code), code), opus_decoder_destroy);
  opus_encoder_ctl(encoder.get(), OPUS_SET_BITRATE(s.bitrate));
  opus_encoder_ctl(encoder.get(), OPUS_GET_LOOKAHEAD(&delay));
  constexpr int kMostBytes = 4000;
  const int frame = s.rate / 50;
  std::vector<float> block(static_cast<size_t>(frame * s.channels));
  unsigned char packet[kMostBytes];
  for (int64_t from = 0; from < s.n + delay; from += frame) {
    const int64_t there = std::clamp<int64_t>(s.n - from, 0, frame) * s.channels;
    std::fill(std::copy_n(s.in + std::min(from, s.n) * s.channels, there, block.begin()), block.end(), 0.0f);
    const int bytes = opus_encode_float(encoder.get(), block.data(), frame, packet, kMostBytes);
    if (bytes < 0) bad_argument("Opus: {}", opus_strerror(bytes));
    const int got = opus_decode_float(decoder.get(), packet, bytes, block.data(), frame, 0);
    if (got < 0) bad_argument("Opus: {}", opus_strerror(got));
    const int64_t to = from - delay, skipped = std::max<int64_t>(-to, 0), end = std::min<int64_t>(got, s.n - to);
    if (skipped < end)
      std::copy(block.begin() + skipped * s.channels, block.begin() + end * s.channels,
                s.out + (to + skipped) * s.channels);
  }
}

}  // namespace penstock
