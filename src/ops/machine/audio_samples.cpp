// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/audio_samples.h"

#include <algorithm>

#include "ops/machine/operator.h"
#include "ops/machine/resampling.h"
#include "ops/machine/stored.h"

namespace penstock {

namespace {

template <class T> void put(float v, T* to) {
  if constexpr (std::is_same_v<T, float>) *to = v;
  else *to = stored<T>(v * static_cast<double>(std::is_same_v<T, int16_t> ? 32767.0 : 2147483647.0));
}
template <class T> void put(int32_t v, T* to) {
  if constexpr (std::is_same_v<T, float>) *to = static_cast<float>(v) * 0x1p-31f;
  else if constexpr (std::is_same_v<T, int16_t>) *to = static_cast<int16_t>(v >> 16);
  else *to = stored<T>(v);
}

template <class F> void dispatch_sample_type(DType dtype, F&& f) {
  if (dtype == DType::float32) f(TypeTag<float>{});
  else if (dtype == DType::int16) f(TypeTag<int16_t>{});
  else f(TypeTag<int32_t>{});
}

}  // namespace

void AudioReading::check_type() const {
  if (dtype != DType::float32 && dtype != DType::int16 && dtype != DType::int32)
    bad_type("dtype must be int16, int32 or float32, got {}", name_of(dtype));
}

int64_t AudioReading::recorded(const AudioInfo& info) const {
  if (first > info.length) bad_data("the part begins at sample {}, the recording has {}", first, info.length);
  const int64_t behind = info.length - first;
  return length < 0 ? behind : std::min(length, behind);
}

Shape AudioReading::shape(const AudioInfo& info) const {
  int64_t n = recorded(info);
  if (resamples(info)) n = Resampler::length(n, info.rate, rate);
  if (n > (int64_t{1} << 40) / info.channels) bad_data("{} samples of {} channels are too many", n, info.channels);
  return downmix ? Shape{n} : Shape{n, info.channels};
}

void AudioReading::read(AudioFile& file, const View& out) const {
  const AudioInfo& info = file.info();
  dispatch_sample_type(dtype, [&]<class T>(TypeTag<T>) {
    if (!resamples(info)) return read_recorded(file, out.as<T>());
    const int channels = downmix ? 1 : info.channels;
    const int64_t n = recorded(info);
    std::vector<float> samples(static_cast<size_t>(n) * channels), result(out.volume());
    read_recorded(file, samples.data());
    Resampler(quality).run(samples.data(), n, channels, info.rate, rate, result.data(), out.shape[0]);
    for (size_t i = 0; i < result.size(); ++i) put(result[i], out.as<T>() + i);
  });
}

template <class T> void AudioReading::read_recorded(AudioFile& file, T* to) const {
  const AudioInfo& info = file.info();
  int64_t at = 0;  // of the recording
  const int64_t end = first + recorded(info);
  const double share = (info.integers ? 0x1p-31 : 1.0) / info.channels;
  const auto give = [&](const auto* samples, int64_t n) {
    const int64_t from = std::clamp<int64_t>(first - at, 0, n), until = std::clamp<int64_t>(end - at, from, n);
    at += n;
    samples += from * info.channels;
    n = until - from;
    if (!downmix || info.channels == 1) {
      for (int64_t i = 0; i < n * info.channels; ++i) put(samples[i], to++);
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int c = 0; c < info.channels; ++c) sum += static_cast<double>(*samples++);
      put(static_cast<float>(sum * share), to++);
    }
  };
  file.decode({[&](const int32_t* v, int64_t n) { give(v, n); }, [&](const float* v, int64_t n) { give(v, n); }});
}

}  // namespace penstock
