// SPDX-License-Identifier: Apache-2.0
// WAV, as in Microsoft's "Multimedia Programming Interface and Data Specifications" (1991) and WAVEFORMATEXTENSIBLE,
// and RF64 (EBU Tech 3306): PCM of 8, 16, 24 and 32 bits, floating point of 32 and 64 bits, A-law and mu-law (ITU-T
// G.711), and the formats in codecs/audio/wav_blocks.h.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "codecs/audio/sound_format.h"
#include "codecs/audio/wav_blocks.h"
#include "codecs/byte_order.h"
#include "codecs/decode_errors.h"

namespace penstock {

namespace {

enum Kind : uint32_t {
  kPcm = 1,
  kMsAdpcm = 2,
  kReal = 3,
  kALaw = 6,
  kMuLaw = 7,
  kImaAdpcm = 0x11,
  kGsm = 0x31,
  kExtensible = 0xFFFE
};

struct Wav {
  uint32_t kind = 0, bits = 0;
  int channels = 0;
  double rate = 0;
  int64_t block_bytes = 0;  // of a frame, or of a block of a compressed format
  int64_t block_samples = 1;
  std::vector<MsPredictor> predictors;
  size_t data = 0;
  int64_t frames = 0;
  std::string missing;

  int64_t sample_bytes() const { return bits / 8; }
  bool is_coded() const { return kind == kMsAdpcm || kind == kImaAdpcm || kind == kGsm; }
};

void read_predictors(AudioBytes format, Wav& w) {
  constexpr size_t kFirst = 22;
  const size_t count = format.size() >= kFirst ? le16(&format[20]) : 0;
  if (count < 1 || count > 256 || format.size() < kFirst + 4 * count)
    bad_data("WAV: MS ADPCM: {} predictors do not fit in a format chunk of {} bytes", count, format.size());
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* p = &format[kFirst + 4 * i];
    w.predictors.push_back({static_cast<int16_t>(le16(p)), static_cast<int16_t>(le16(p + 2))});
  }
}

void read_format(AudioBytes format, Wav& w) {
  if (format.size() < 16) bad_data("WAV: a format chunk of {} bytes is too short", format.size());
  const uint8_t* p = format.data();
  w.kind = le16(p), w.channels = static_cast<int>(le16(p + 2)), w.rate = le32(p + 4), w.bits = le16(p + 14);
  if (w.kind == kExtensible && format.size() >= 26) w.kind = le16(p + 24);
  const bool known = (w.kind == kPcm && (w.bits == 8 || w.bits == 16 || w.bits == 24 || w.bits == 32)) ||
                     (w.kind == kReal && (w.bits == 32 || w.bits == 64)) ||
                     ((w.kind == kALaw || w.kind == kMuLaw) && w.bits == 8) ||
                     ((w.kind == kMsAdpcm || w.kind == kImaAdpcm) && w.bits == 4) || w.kind == kGsm;
  if (!known) bad_data("WAV: format tag {} with {} bits per sample is not supported", w.kind, w.bits);
  if (w.channels < 1 || w.channels > kMostAudioChannels)
    bad_data("WAV: {} channels are not between 1 and {}", w.channels, kMostAudioChannels);
  if (w.rate < 1) bad_data("WAV: a sample rate of {} is not positive", w.rate);
  w.block_bytes = w.sample_bytes() * w.channels, w.block_samples = 1;
  if (!w.is_coded()) return;
  w.block_bytes = le16(p + 12);
  w.block_samples = w.kind == kGsm       ? kGsmBlockSamples
                    : w.kind == kMsAdpcm ? ms_block_samples(w.block_bytes, w.channels)
                                         : ima_block_samples(w.block_bytes, w.channels);
  const bool whole = w.kind == kGsm       ? w.block_bytes == kGsmBlockBytes && w.channels == 1
                     : w.kind == kMsAdpcm ? w.block_bytes >= 7 * w.channels
                                          : w.block_bytes >= 4 * w.channels && w.block_bytes % (4 * w.channels) == 0;
  if (!whole)
    bad_data("WAV: format tag {} cannot have blocks of {} bytes with {} channels", w.kind, w.block_bytes, w.channels);
  if (w.kind == kMsAdpcm) read_predictors(format, w);
}

// The number of bytes of samples, where the header says `said` and `room` bytes follow the header. DALI, through
// libsndfile, accepts every size that exceeds what is present; here a truncated file is an error.
uint64_t sample_bytes_of(uint64_t said, uint64_t room, uint64_t header, bool is_long, Wav& w) {
  if (said <= room) return said;
  // Recorders that write to a stream leave a number close to the largest one, signed or unsigned.
  const bool stream = !is_long && ((said >= 0x7FFF0000 && said < 0x80001000) || said >= 0xFFFF0000);
  if (stream) return room;
  if (said - room > header) ends_early("WAV: premature end of file: {} of {} bytes are present", room, said);
  w.missing = fmt::format("{} of {} bytes are present", room, said);  // the header may have been counted in
  return room;
}

Wav read_header(AudioBytes file) {
  Wav w;
  uint64_t long_data = 0;  // from RF64
  for (size_t at = 12;;) {
    if (file.size() - at < 8) ends_early("WAV: the file of {} bytes ends before the samples", file.size());
    const uint8_t* chunk = &file[at];
    const uint64_t size = le32(chunk + 4);
    at += 8;
    const uint64_t room = file.size() - at;
    if (!std::memcmp(chunk, "data", 4)) {
      if (!w.kind) bad_data("WAV: the samples precede their format");
      const bool is_long = size == 0xFFFFFFFF && long_data;
      const uint64_t bytes = sample_bytes_of(is_long ? long_data : size, room, at, is_long, w);
      w.data = at;
      w.frames = static_cast<int64_t>(bytes / static_cast<uint64_t>(w.block_bytes)) * w.block_samples;
      return w;
    }
    if (size > room) ends_early("WAV: a chunk of {} bytes at byte {} exceeds the file", size, at - 8);
    if (!std::memcmp(chunk, "ds64", 4) && size >= 16)
      long_data = le32(&file[at + 8]) | uint64_t{le32(&file[at + 12])} << 32;
    if (!std::memcmp(chunk, "fmt ", 4)) read_format(file.subspan(at, size), w);
    at += std::min<uint64_t>(size + size % 2, room);
  }
}

// G.711: 13 bits for A-law, 14 for mu-law, left-justified in 16.
int a_law(uint8_t code) {
  code ^= 0x55;
  const int exponent = code >> 4 & 7, mantissa = code & 15;
  const int v = exponent == 0 ? (mantissa << 4) + 8 : ((mantissa << 4) + 0x108) << (exponent - 1);
  return code & 0x80 ? v : -v;
}
int mu_law(uint8_t code) {
  code = static_cast<uint8_t>(~code);
  const int v = ((((code & 15) << 3) + 0x84) << (code >> 4 & 7)) - 0x84;
  return code & 0x80 ? -v : v;
}

template <class T, class Sample>
void give_all(AudioBytes file, const Wav& w, const AudioSink& sink, const Sample& sample) {
  constexpr int64_t kBlock = 4096;
  std::vector<T> block(static_cast<size_t>(kBlock) * w.channels);
  const uint8_t* p = file.data() + w.data;
  for (int64_t t = 0; t < w.frames; t += kBlock) {
    const int64_t n = std::min(kBlock, w.frames - t);
    for (int64_t i = 0; i < n * w.channels; ++i, p += w.sample_bytes()) block[i] = sample(p);
    sink(block.data(), n);
  }
}

void give_integers(AudioBytes file, const Wav& w, const AudioSink& sink) {
  const auto give = [&](const auto& sample) { give_all<int32_t>(file, w, sink, sample); };
  const uint8_t* samples = file.data() + w.data;
  switch (w.kind == kPcm ? w.bits : w.kind) {
    case 8: return give([](const uint8_t* p) { return static_cast<int32_t>((p[0] ^ 0x80u) << 24); });
    case 16: return w.frames ? sink(reinterpret_cast<const StoredSample*>(samples), w.frames) : void();
    case 24:
      return give([](const uint8_t* p) {
        return static_cast<int32_t>((p[0] | uint32_t{p[1]} << 8 | uint32_t{p[2]} << 16) << 8);
      });
    case kALaw: return give([](const uint8_t* p) { return a_law(p[0]) * 65536; });
    case kMuLaw: return give([](const uint8_t* p) { return mu_law(p[0]) * 65536; });
    default: return give([](const uint8_t* p) { return static_cast<int32_t>(le32(p)); });
  }
}

void give_reals(AudioBytes file, const Wav& w, const AudioSink& sink) {
  if (w.bits == 32)
    return give_all<float>(file, w, sink, [](const uint8_t* p) { return std::bit_cast<float>(le32(p)); });
  give_all<float>(file, w, sink, [](const uint8_t* p) {
    return static_cast<float>(std::bit_cast<double>(le32(p) | uint64_t{le32(p + 4)} << 32));
  });
}

void give_blocks(AudioBytes file, const Wav& w, const AudioSink& sink) {
  std::vector<int16_t> coded(static_cast<size_t>(w.block_samples * w.channels));
  std::vector<int32_t> block(coded.size());
  GsmDecoder gsm;
  for (int64_t t = 0; t < w.frames; t += w.block_samples) {
    const auto bytes = static_cast<size_t>(w.block_bytes);
    const AudioBytes in = file.subspan(w.data + static_cast<size_t>(t / w.block_samples) * bytes, bytes);
    if (w.kind == kGsm) gsm.decode_block(in, coded.data());
    else if (w.kind == kMsAdpcm) decode_ms_block(in, w.channels, w.predictors, coded.data());
    else decode_ima_block(in, w.channels, coded.data());
    for (size_t i = 0; i < coded.size(); ++i) block[i] = coded[i] * 65536;
    sink(block.data(), w.block_samples);
  }
}

class WavFile final : public AudioFile {
 public:
  explicit WavFile(AudioBytes file) : file_(file), wav_(read_header(file)) {
    info_ = {"wav", wav_.frames, wav_.channels, wav_.rate, wav_.kind != kReal};
  }
  void decode(const AudioSink& sink) override {
    if (wav_.is_coded()) give_blocks(file_, wav_, sink);
    else if (wav_.kind == kReal) give_reals(file_, wav_, sink);
    else give_integers(file_, wav_, sink);
  }
  std::string missing() const override { return wav_.missing; }

 private:
  AudioBytes file_;
  Wav wav_;
};

PENSTOCK_SOUND_FORMAT({
    .id = "wav",
    .title = "WAV",
    .place = 10,
    .find =
        [](AudioBytes file) {
          const bool riff = has_at(file, 0, "RIFF") || has_at(file, 0, "RF64");
          return riff && has_at(file, 8, "WAVE") ? file : AudioBytes{};
        },
    .open = [](AudioBytes file) -> std::unique_ptr<AudioFile> { return std::make_unique<WavFile>(file); },
    .suffixes = {".wav", ".wave"},
    .read_by_default = {120, {".wav"}},
});

}  // namespace

}  // namespace penstock
