// SPDX-License-Identifier: Apache-2.0
#include "codecs/audio/round_trip.h"
#include "ops/shared/signal.h"

namespace penstock {

struct AudioCodec : WholeOperator {
  PerSample<float> sample_rate;
  PerSample<int> bitrate = 24000;
  std::string format = "opus";

  static Schema<AudioCodec> schema() {
    using Op = AudioCodec;
    return Schema<Op>(
               "audio_codec",
               "Leaves of sound what an encoder does: encodes it as Opus or MP3, and decodes that.\n\nInput: "
               "(samples), "
               "or (samples, channels) with one or two channels; float32 from -1 to 1. Output: the same shape, without "
               "the codec's delay. Opus has rates of 8, 12, 16, 24 and 48 kHz; MP3 also of 11.025, 22.05, 32 and 44.1 "
               "kHz, and needs libmp3lame and libmpg123, which are loaded when they are needed first. "
               "penstock.augment.codec resamples for them. Results are those of the libraries that are installed; "
               "libmp3lame makes sound about 5 percent quieter.\n\n"
               "Example:\n"
               ">>> speech = np.random.rand(16000).astype(np.float32) - 0.5\n"
               ">>> poor = fn.audio_codec(speech, sample_rate=16000, format=\"opus\", bitrate=8000)")
        .required("sample_rate", &Op::sample_rate, "Samples in a second.")
        .arg("format", &Op::format, "\"opus\" or \"mp3\".")
        .arg("bitrate", &Op::bitrate, "Bits in a second: of Opus from 6000 to 510000, of MP3 from 8000 to 320000.")
        .host_only("its libraries write and read streams of bits whose parts depend on what comes before")
        .oracle("libsndfile");
  }
  void ready() override {
    if (format != "opus" && format != "mp3") bad_argument("format must be \"opus\" or \"mp3\", got \"{}\"", format);
  }
  void check(std::span<const ValueType> in) override { check_float32(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override { out[0] = in[0]; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    if (in[0].size() < 1 || in[0].size() > 2)
      bad_argument("expected (samples) or (samples, channels), got {} dimensions", in[0].size());
    if (in[0].size() > 1 && (in[0][1] > 2 || in[0][1] == 0)) bad_argument("expected 1 or 2 channels, got {}", in[0][1]);
    out[0] = in[0];
  }
  void run(const SampleContext& s, std::span<const View> in, std::span<const View> out) const override {
    if (in[0].volume() == 0) return;
    const int channels = in[0].shape.size() > 1 ? static_cast<int>(in[0].shape[1]) : 1;
    const CodedSound sound{in[0].as<const float>(), out[0].as<float>(), in[0].shape[0], channels,
                           rate(s.index),           bitrate[s.index]};
    if (format == "opus") opus_round_trip(sound);
    else mp3_round_trip(sound);
  }

 private:
  int rate(int sample) const {
    const float v = sample_rate[sample];
    if (!(v >= 1 && v <= 1e6f)) bad_argument("sample_rate must be from 1 to a million, got {}", v);
    return static_cast<int>(v);
  }
};
PENSTOCK_OPERATOR(AudioCodec);

}  // namespace penstock
