// SPDX-License-Identifier: Apache-2.0
// WAV as Microsoft's "Multimedia Programming Interface and Data Specifications" (1991) and WAVEFORMATEXTENSIBLE have
// it, and RF64 (EBU Tech 3306): PCM of 8, 16, 24 and 32 bits, floating point of 32 and 64, A-law and mu-law (ITU-T
// G.711).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "codecs/audio/formats.h"
#include "codecs/byte_order.h"

namespace penstock {

namespace {

enum Kind : uint32_t { kPcm = 1, kReal = 3, kALaw = 6, kMuLaw = 7, kExtensible = 0xFFFE };

struct Wav {
  uint32_t kind = 0, bits = 0;
  int channels = 0;
  double rate = 0;
  size_t data = 0;
  int64_t frames = 0;

  int64_t sample_bytes() const { return bits / 8; }
};

Wav read_header(AudioBytes file) {
  Wav w;
  uint64_t long_data = 0;  // of RF64
  for (size_t at = 12;;) {
    if (file.size() - at < 8) bad_data("WAV: the file of {} bytes ends before the samples", file.size());
    const uint8_t* chunk = &file[at];
    const uint64_t size = le32(chunk + 4);
    at += 8;
    const uint64_t room = file.size() - at;
    if (!std::memcmp(chunk, "data", 4)) {
      if (!w.kind) bad_data("WAV: the samples stand before their format");
      // Recorders that could not go back leave 0 or the largest number: the samples go on to the end.
      const bool open = size == 0xFFFFFFFF && !long_data;
      const uint64_t bytes = size == 0xFFFFFFFF && long_data ? long_data : open ? room : size;
      if (bytes > room) bad_data("WAV: premature end of file: {} bytes of {} are there", room, bytes);
      w.data = at;
      w.frames = static_cast<int64_t>(bytes / (w.sample_bytes() * w.channels));
      return w;
    }
    if (size > room) bad_data("WAV: a chunk of {} bytes at byte {} leaves the file", size, at - 8);
    if (!std::memcmp(chunk, "ds64", 4) && size >= 16)
      long_data = le32(&file[at + 8]) | uint64_t{le32(&file[at + 12])} << 32;
    if (!std::memcmp(chunk, "fmt ", 4)) {
      if (size < 16) bad_data("WAV: a format of {} bytes", size);
      const uint8_t* p = &file[at];
      w.kind = le16(p), w.channels = static_cast<int>(le16(p + 2)), w.rate = le32(p + 4), w.bits = le16(p + 14);
      if (w.kind == kExtensible && size >= 26) w.kind = le16(p + 24);
      const bool known = (w.kind == kPcm && (w.bits == 8 || w.bits == 16 || w.bits == 24 || w.bits == 32)) ||
                         (w.kind == kReal && (w.bits == 32 || w.bits == 64)) ||
                         ((w.kind == kALaw || w.kind == kMuLaw) && w.bits == 8);
      if (!known) bad_data("WAV: samples of kind {} with {} bits are not decoded", w.kind, w.bits);
      if (w.channels < 1 || w.channels > kMostAudioChannels)
        bad_data("WAV: {} channels are not between 1 and {}", w.channels, kMostAudioChannels);
      if (w.rate < 1) bad_data("WAV: {} samples a second", w.rate);
    }
    at += std::min<uint64_t>(size + size % 2, room);
  }
}

// G.711: 13 bits of A-law, 14 of mu-law, left-justified in 16.
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

class WavFile final : public AudioFile {
 public:
  explicit WavFile(AudioBytes file) : file_(file), wav_(read_header(file)) {
    info_ = {"wav", wav_.frames, wav_.channels, wav_.rate, wav_.kind != kReal};
  }
  void decode(const AudioSink& sink) override {
    if (wav_.kind == kReal) give_reals(file_, wav_, sink);
    else give_integers(file_, wav_, sink);
  }

 private:
  AudioBytes file_;
  Wav wav_;
};

}  // namespace

std::unique_ptr<AudioFile> open_wav(AudioBytes file) { return std::make_unique<WavFile>(file); }

}  // namespace penstock
