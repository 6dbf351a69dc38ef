// SPDX-License-Identifier: Apache-2.0
#include "device/video_frames.h"

#include <algorithm>
#include <cstring>

#include "base/dtype.h"
#include "base/error_of.h"
#include "base/gpu_library.h"
#include "base/notice.h"
#include "codecs/video/frame_choice.h"

namespace penstock {

size_t DeviceFrames::bytes_of(int64_t pixels) const { return checked_bytes(pixels * 3, size_of(type_.dtype)); }

void DeviceFrames::upload(const uint8_t* from, int64_t count, void* to) {
  const auto staged = allocate_shared(runtime_.pinned_memory(), checked_bytes(count, size_of(type_.dtype)), stream_);
  if (type_.dtype == DType::uint8) {
    std::memcpy(staged.get(), from, static_cast<size_t>(count));
  } else {
    auto* floats = static_cast<float*>(staged.get());
    for (int64_t i = 0; i < count; ++i) floats[i] = static_cast<float>(from[i]) * type_.scale;
  }
  runtime_.copy(device_, to, staged.get(), static_cast<size_t>(count) * size_of(type_.dtype), stream_);
}

void DeviceFrames::fill(std::span<const int64_t> values, int64_t pixels, void* to) {
  if (std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 0; }))
    return runtime_.set_zero(device_, to, bytes_of(pixels), stream_);
  std::vector<uint8_t> frame(checked_bytes(pixels, 3));
  fill_frame(values, pixels, frame.data());
  upload(frame.data(), pixels * 3, to);
}

bool DeviceFrames::decode(const VideoFile& file, std::span<const Wanted> wanted, DeviceVideoDecoder* decoder,
                          const DecodeOnHost& on_host) {
  const int64_t pixels = int64_t{file.width()} * file.height();
  std::vector<int64_t> frames;
  std::vector<const Wanted*> first;
  for (const Wanted& w : wanted)
    if (frames.empty() || frames.back() != w.frame) frames.push_back(w.frame), first.push_back(&w);
  std::optional<Error> refused;
  if (decoder) refused = error_of([&] { decoder->read(frames, [&](size_t k) { return first[k]->to; }, stream_); });
  const bool by_engine = decoder && !refused;
  if (!by_engine) {
    std::vector<uint8_t> frame(checked_bytes(pixels, 3));
    size_t ready = SIZE_MAX;  // the frame in `frame`, which is valid until the next one is requested
    const auto send = [&] {
      if (ready != SIZE_MAX) upload(frame.data(), pixels * 3, first[ready]->to);
    };
    on_host(frames, [&](size_t k) {
      send();
      ready = k;
      return frame.data();
    });
    send();
    if (refused) notice(fmt::format("the CPU decodes some frames of a video again: {}", refused->what()));
  }
  size_t k = 0;
  for (const Wanted& w : wanted) {
    while (frames[k] != w.frame) ++k;
    if (w.to != first[k]->to) runtime_.copy(device_, w.to, first[k]->to, bytes_of(pixels), stream_);
  }
  return by_engine;
}

void decode_frames_to_device(const std::shared_ptr<const VideoFile>& file, std::span<const int64_t> frames,
                             std::span<const int64_t> fill_value, int threads, int device, StreamHandle stream,
                             void* out) {
  const FrameType type{DType::uint8, 1};
  DeviceFrames there(gpu_library().runtime(), device, stream, type);
  const int64_t pixels = int64_t{file->width()} * file->height();
  const size_t bytes = there.bytes_of(pixels);
  std::vector<DeviceFrames::Wanted> wanted;
  for (size_t i = 0; i < frames.size(); ++i) {
    void* to = static_cast<uint8_t*>(out) + i * bytes;
    if (frames[i] < 0) there.fill(fill_value, pixels, to);
    else wanted.push_back({frames[i], to});
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.frame < b.frame; });
  if (wanted.empty()) return;
  std::string why;
  std::unique_ptr<DeviceVideoDecoder> decoder;
  if (const auto error = error_of([&] { decoder = gpu_video().make_video_decoder(device, file, type, why); }))
    why = error->what();
  if (!decoder) warn_declined(why);
  there.decode(*file, wanted, decoder.get(), [&](std::span<const int64_t> all, const FrameTarget& target) {
    VideoDecoder(file, threads).read(all, target);
  });
}

void warn_declined(const std::string& why) {
  notice(fmt::format("the CPU decodes videos, which are then copied to the GPU: {}", why));
}

}  // namespace penstock
