// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "codecs/audio/audio_decoder.h"
#include "ops/machine/operator.h"
#include "ops/machine/resampling.h"
#include "ops/machine/stored.h"

namespace penstock {

struct DecodersAudio {
  bool downmix = false;
  DType dtype = DType::float32;
  float quality = 50.0f;
  PerSample<float> sample_rate = 0.0f;

  static Schema<DecodersAudio> schema() {
    using Op = DecodersAudio;
    return Schema<Op>("decoders.audio",
                      "Decodes recorded sound: WAV, FLAC, Ogg Vorbis, Ogg Opus.\n\nInput: the bytes of a file, 1-d uint8. Outputs: "
                      "(samples, channels), or (samples) with downmix, of which floating point lies in -1 to 1; and the rate, a "
                      "float32 scalar. A file that cannot be decoded is a DataError that names it.")
        .arg("downmix", &Op::downmix, "The mean of all channels.")
        .arg("dtype", &Op::dtype, "int16, int32 or float32.")
        .arg("quality", &Op::quality, "Of the resampling: 0 to 100.", within(0, 100))
        .arg("sample_rate", &Op::sample_rate, "Resample to so many samples a second; 0: as recorded.", at_least(0))
        .input_names({"encoded"}).outputs(2).batch_wide().oracle("dali");
  }
  void check(std::span<const ValueType> in) const {
    if (in[0].dtype != DType::uint8 && in[0].dtype != DType::none)
      bad_type("expected the bytes of a file as uint8, got {}", name_of(in[0].dtype));
    if (dtype != DType::float32 && dtype != DType::int16 && dtype != DType::int32)
      bad_type("dtype must be int16, int32 or float32, got {}", name_of(dtype));
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const {
    out[0] = {dtype, downmix ? 1 : 2, {}};
    out[1] = {DType::float32, 0, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType>, std::span<Shape> out) const {
    const auto* files = static_cast<const std::span<const Batch>*>(s.batch_state);
    out[0] = downmix ? Shape{-1} : Shape{-1, -1};
    out[1] = {};
    if (!files) return;
    const AudioInfo info = probe_audio(bytes((*files)[0].view(s.index)));
    const int64_t length = resampled(s, info) ? Resampler::length(info.length, info.rate, sample_rate[s.index]) : info.length;
    if (length > (int64_t{1} << 40) / info.channels) bad_data("{} samples of {} channels are too many", length, info.channels);
    out[0] = downmix ? Shape{length} : Shape{length, info.channels};
  }
  void run(const SampleContext& s, std::span<const View> in, std::span<const View> out) const {
    const AudioBytes file = bytes(in[0]);
    const AudioInfo info = probe_audio(file);
    *out[1].as<float>() = static_cast<float>(resampled(s, info) ? sample_rate[s.index] : info.rate);
    const int channels = downmix ? 1 : info.channels;
    if (resampled(s, info)) {
      std::vector<float> recorded(static_cast<size_t>(info.length) * channels), result(out[0].volume());
      read(file, info, recorded.data());
      Resampler(quality).run(recorded.data(), info.length, channels, info.rate, sample_rate[s.index], result.data(), out[0].shape[0]);
      dispatch(dtype, [&]<class T>(TypeTag<T>) {
        for (size_t i = 0; i < result.size(); ++i) put(result[i], out[0].as<T>() + i);
      });
      return;
    }
    dispatch(dtype, [&]<class T>(TypeTag<T>) {
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, int16_t> || std::is_same_v<T, int32_t>) read(file, info, out[0].as<T>());
    });
  }

 private:
  static AudioBytes bytes(const View& v) { return {v.as<const uint8_t>(), static_cast<size_t>(v.volume())}; }
  bool resampled(const SampleContext& s, const AudioInfo& info) const {
    return sample_rate[s.index] > 0 && sample_rate[s.index] != static_cast<float>(info.rate);
  }
  template <class T> static void put(float v, T* to) {
    if constexpr (std::is_same_v<T, float>) *to = v;
    else *to = stored<T>(v * static_cast<double>(std::is_same_v<T, int16_t> ? 32767.0 : 2147483647.0));
  }
  template <class T> static void put(int32_t v, T* to) {
    if constexpr (std::is_same_v<T, float>) *to = static_cast<float>(v) * 0x1p-31f;
    else if constexpr (std::is_same_v<T, int16_t>) *to = static_cast<int16_t>(v >> 16);
    else *to = stored<T>(v);
  }
  // All samples in order, mixed where asked for.
  template <class T> void read(AudioBytes file, const AudioInfo& info, T* to) const {
    const auto give = [&](const auto* samples, int64_t n) {
      if (!downmix || info.channels == 1) {
        for (int64_t i = 0; i < n * info.channels; ++i) put(samples[i], to++);
        return;
      }
      const double part = (info.integers ? 0x1p-31 : 1.0) / info.channels;
      for (int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int c = 0; c < info.channels; ++c) sum += static_cast<double>(*samples++);
        put(static_cast<float>(sum * part), to++);
      }
    };
    decode_audio(file, info, {[&](const int32_t* v, int64_t n) { give(v, n); }, [&](const float* v, int64_t n) { give(v, n); }});
  }
};
PENSTOCK_OPERATOR(DecodersAudio);

}  // namespace penstock
