// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/audio_samples.h"
#include "operator/operator.h"

namespace penstock {

struct DecodersAudio : WholeOperator {
  bool downmix = false;
  DType dtype = DType::float32;
  float quality = 50.0f;
  PerSample<float> sample_rate = 0.0f;
  int64_t max_samples = kMostSamples;

  static Schema<DecodersAudio> schema() {
    using Op = DecodersAudio;
    return Schema<Op>(
               "decoders.audio",
               "Decodes audio files: WAV, FLAC, Ogg Vorbis, Ogg Opus, and MP3 if libmpg123 is installed.\n\nWAV may "
               "hold PCM, floating point, A-law, mu-law, ADPCM (Microsoft's and IMA's) or GSM 06.10. If its header has "
               "the size of a stream, the samples extend to the end of the file. Consecutive Ogg streams are one "
               "recording. Up to 64 KiB before the first frame of MP3 are skipped.\n\nInput: the bytes of a file, 1-d "
               "uint8. Outputs: the samples, (samples, channels), or (samples) with downmix, floating point from -1 to "
               "1; and the sample rate, a float32 scalar. A file that cannot be decoded is a DataError that names "
               "it.\n\n"
               "Example:\n"
               "samples, rate = fn.decoders.audio(encoded, downmix=True)")
        .arg("downmix", &Op::downmix, "Return the mean of all channels.")
        .arg("dtype", &Op::dtype, "int16, int32 or float32.")
        .arg("quality", &Op::quality, "Quality of the resampling, 0 to 100.", within(0, 100))
        .arg("sample_rate", &Op::sample_rate, "Resample to this rate in hertz; 0: keep the rate of the recording.",
             at_least(0))
        .arg("max_samples", &Op::max_samples, kMaxSamplesText, within(1, kLargestLimit))
        .input_names({"encoded"})
        .outputs(2)
        .batch_wide()
        .host_only("its libraries read streams of bits whose parts depend on what comes before")
        .oracle("dali");
  }
  void check(std::span<const ValueType> in) override {
    if (in[0].dtype != DType::uint8 && in[0].dtype != DType::none)
      bad_type("expected the bytes of a file as uint8, got {}", name_of(in[0].dtype));
    AudioReading{.dtype = dtype}.check_type();
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    out[0] = {dtype, downmix ? 1 : 2, {}};
    out[1] = {DType::float32, 0, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = downmix ? Shape{-1} : Shape{-1, -1};
    out[1] = {};
    if (!s.batch_state) return;
    const auto& files = *static_cast<const Files*>(s.batch_state);
    files.opened[s.index] = open_audio(bytes(files.encoded.view(s.index)));
    out[0] = reading(s).shape(files.opened[s.index]->info());
  }
  std::shared_ptr<const void> batch_state(std::span<const Batch> in, std::span<const ValueType>) const override {
    return std::make_shared<Files>(in[0]);
  }
  void run(const SampleContext& s, std::span<const View>, std::span<const View> out) const override {
    const auto file = std::exchange(static_cast<const Files*>(s.batch_state)->opened[s.index], nullptr);
    const AudioReading how = reading(s);
    *out[1].as<float>() = how.result_rate(file->info());
    how.read(*file, out[0]);
  }

 private:
  // What shapes() has opened for run(), by sample: headers are read once.
  struct Files {
    explicit Files(const Batch& b) : encoded(b), opened(b.size()) {}
    Batch encoded;
    mutable std::vector<std::unique_ptr<AudioFile>> opened;
  };
  static AudioBytes bytes(const View& v) { return {v.as<const uint8_t>(), static_cast<size_t>(v.volume())}; }
  AudioReading reading(const SampleContext& s) const {
    return {.downmix = downmix,
            .dtype = dtype,
            .quality = quality,
            .rate = sample_rate[s.index],
            .max_samples = max_samples};
  }
};
PENSTOCK_OPERATOR(DecodersAudio);

}  // namespace penstock
