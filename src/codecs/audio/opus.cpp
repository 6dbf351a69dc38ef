// SPDX-License-Identifier: Apache-2.0
// Ogg Opus through opusfile, which returns 48,000 samples per second.
#include <opus/opusfile.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "codecs/audio/ogg.h"
#include "codecs/audio/sound_format.h"
#include "codecs/decode_errors.h"

namespace penstock {

namespace {

using Opened = std::unique_ptr<OggOpusFile, void (*)(OggOpusFile*)>;

Opened opened(AudioBytes file) {
  int code = 0;
  Opened f(op_open_memory(file.data(), file.size(), &code), op_free);
  if (!f) bad_data("Opus: the file cannot be read (opusfile error {})", code);
  for (int i = 1; i < op_link_count(f.get()); ++i)
    if (op_channel_count(f.get(), i) != op_channel_count(f.get(), 0))
      bad_data("Opus: the number of channels changes in stream {}", i);
  return f;
}

class OpusFile final : public AudioFile {
 public:
  explicit OpusFile(AudioBytes file) : opened_(opened(file)) {
    const int64_t length = op_pcm_total(opened_.get(), -1);
    // A packet has at least one byte and lasts at most 120 ms.
    if (length < 0 || length > static_cast<int64_t>(file.size()) * 5760)
      bad_data("Opus: {} bytes cannot hold {} samples", file.size(), length);
    info_ = {"opus", length, op_channel_count(opened_.get(), -1), 48000, false};
    if (is_doubtful(info_, file.size())) decode(ignore), opened_ = opened(file);
  }
  void decode(const AudioSink& sink) override {
    std::vector<float> block(size_t{5760} * info_.channels);
    for (int64_t done = 0; done < info_.length;) {
      const int got = op_read_float(opened_.get(), block.data(), static_cast<int>(block.size()), nullptr);
      if (got == 0) ends_early("Opus: premature end of file at sample {} of {}", done, info_.length);
      if (got < 0) bad_data("Opus: the data is damaged at sample {} (opusfile error {})", done, got);
      const int64_t n = std::min<int64_t>(got, info_.length - done);
      sink(block.data(), n);
      done += n;
    }
  }

 private:
  Opened opened_;
};

}  // namespace

std::unique_ptr<AudioFile> open_opus(AudioBytes file) { return std::make_unique<OpusFile>(file); }

}  // namespace penstock
