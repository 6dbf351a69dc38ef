// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/audio_samples.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/target.h"
#include "operator/operator.h"
#include "numerics/resampling.h"
#include "operator/stored.h"

namespace penstock {

namespace {

template <class T> inline void put(float v, T* to) {
  if constexpr (std::is_same_v<T, float>) *to = v;
  else *to = stored<T>(v * static_cast<double>(std::is_same_v<T, int16_t> ? 32767.0 : 2147483647.0));
}
template <class T> inline void put(int16_t v, T* to) {
  if constexpr (std::is_same_v<T, float>) *to = static_cast<float>(v) * 0x1p-15f;
  else if constexpr (std::is_same_v<T, int16_t>) *to = v;
  else *to = v * 65536;
}
template <class T> inline void put(int32_t v, T* to) {
  if constexpr (std::is_same_v<T, float>) *to = static_cast<float>(v) * 0x1p-31f;
  else if constexpr (std::is_same_v<T, int16_t>) *to = static_cast<int16_t>(v >> 16);
  else *to = stored<T>(static_cast<double>(v));
}

template <class S> struct Interleaved {
  static constexpr bool interleaved = true;
  const S* from;
  int channels;
  auto at(int64_t i, int64_t c) const {
    const S& v = from[i * channels + c];
    if constexpr (!std::is_same_v<S, StoredSample>) {
      return v;
    } else {
      int16_t number;
      std::memcpy(&number, v.bytes, sizeof(number));
      if constexpr (std::endian::native == std::endian::big)
        number = static_cast<int16_t>(v.bytes[0] | v.bytes[1] << 8);
      return number;
    }
  }
};
template <class S> struct Planar {
  static constexpr bool interleaved = false;
  AudioPlanes<S> from;
  int64_t first;
  S at(int64_t i, int64_t c) const {
    if constexpr (std::is_same_v<S, float>) return from.planes[c][first + i];
    else return static_cast<S>(static_cast<uint32_t>(from.planes[c][first + i]) << from.shift);
  }
};

#define PENSTOCK_LOOPS audio
#define PENSTOCK_LOOPS_TEXT "ops/shared/audio_samples.inc.h"
#include "base/foreach_target.h"

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
  if (first > info.length) bad_data("the part starts at sample {}, but the recording has {}", first, info.length);
  const int64_t after = info.length - first;
  return length < 0 ? after : std::min(length, after);
}

Shape AudioReading::shape(const AudioInfo& info) const {
  int64_t n = recorded(info);
  if (resamples(info)) {
    constexpr int64_t kMostTimes = 64, kAlways = 1 << 22;
    const int64_t recorded = n;
    n = Resampler::length(recorded, info.rate, rate);
    if (n > kAlways && n / kMostTimes > recorded)
      bad_data("{} samples at {} hertz would become {} at {} hertz", recorded, info.rate, n, rate);
  }
  if (n > max_samples / info.channels)
    bad_data("{} samples of {} channels are more than the limit of {}", n, info.channels, max_samples);
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
  const Target target = best_target();
  file.decode([&](const AudioSamples& samples, int64_t n) {
    const int64_t from = std::clamp<int64_t>(first - at, 0, n), until = std::clamp<int64_t>(end - at, from, n);
    at += n;
    std::visit(
        [&](const auto& v) {
          const auto give = [&]<class From>(const From& some, double unit) {
            const auto run = PENSTOCK_FOR_TARGET(target, audio, convert<T, From>);
            const bool mix = downmix && info.channels > 1;
            run(some, until - from, info.channels, mix, unit / info.channels, to);
            to += (until - from) * (mix ? 1 : info.channels);
          };
          const auto of = [&]<class S>(const S* p, double unit) {
            give(Interleaved<S>{p + from * info.channels, info.channels}, unit);
          };
          const auto planes = [&]<class S>(const AudioPlanes<S>& p, double unit) { give(Planar<S>{p, from}, unit); };
          if constexpr (requires { v.planes; }) planes(v, info.integers ? 0x1p-31 : 1.0);
          else of(v, requires { v->bytes; } ? 0x1p-15 : info.integers ? 0x1p-31 : 1.0);
        },
        samples);
  });
}

}  // namespace penstock
