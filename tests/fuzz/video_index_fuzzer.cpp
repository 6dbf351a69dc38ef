// SPDX-License-Identifier: Apache-2.0
// The kept index of a video, damaged but with its checksum put right: it is refused and made again, or what it says
// holds together, and frames come of it or an error of the data. An input is a video, changes to its index, and their
// length in two bytes; the video stays as it is, video_fuzzer changes those.
#include <algorithm>
#include <cstring>

#include "base/checksum.h"
#include "fuzz_containers.h"
#include "fuzz_videos.h"

using namespace penstock;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace {

using Content = std::vector<uint8_t>;
constexpr size_t kPacket = 48, kCounts = 16, kSum = 4;

VideoFile::Stamp stamp_of(const Content& video) { return {static_cast<int64_t>(video.size()), 7}; }

std::shared_ptr<const VideoFile> open_with(const Content& video, std::span<const uint8_t> index) {
  const auto bytes = [&] { return std::make_shared<VideoInMemory>(video); };
  return VideoFile::open(bytes, fuzz::kMostPixels, index, stamp_of(video));
}

// An index, and how many of its bytes are before the packets.
struct Index {
  Content bytes;
  size_t head = 0;
};

Index index_of(const Content& video) {
  const auto file = open_with(video, {});
  Index index{file->index(stamp_of(video)), 0};
  index.head = index.bytes.size() - kSum - kPacket * file->packets().size();
  return index;
}

// The first change is a number of packets more or less, the others are exclusive-ored to what follows the head's
// fingerprint: then nothing but that keeps the index from being taken.
Content changed(const Index& index, std::span<const uint8_t> changes) {
  Content out(index.bytes.begin(), index.bytes.end() - kSum);
  int64_t packets = static_cast<int64_t>((out.size() - index.head) / kPacket);
  if (!changes.empty()) packets = std::max<int64_t>(0, packets + static_cast<int8_t>(changes[0]));
  out.resize(index.head + static_cast<size_t>(packets) * kPacket);
  for (size_t i = 1, at = index.head - kCounts; i < changes.size() && at < out.size(); ++i, ++at) out[at] ^= changes[i];
  std::memcpy(out.data() + index.head - 8, &packets, 8);
  const uint32_t sum = crc32c(out);
  out.resize(out.size() + kSum);
  std::memcpy(out.data() + out.size() - kSum, &sum, kSum);
  return out;
}

size_t changes_in(const uint8_t* data, size_t size) {
  return size < 2 ? 0 : std::min<size_t>(size - 2, data[size - 2] | data[size - 1] << 8);
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned) {
  if (size < 2) return size;
  const size_t length = changes_in(data, size), video = size - 2 - length;
  Content changes(data + video, data + video + length);
  const size_t room = std::min<size_t>(most - std::min(most, video + 2), 4096);
  if (room < length || room == 0) return size;
  changes.resize(room);
  const size_t now = LLVMFuzzerMutate(changes.data(), length, room);
  std::copy_n(changes.begin(), now, data + video);
  data[video + now] = static_cast<uint8_t>(now), data[video + now + 1] = static_cast<uint8_t>(now >> 8);
  return video + now + 2;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t length = changes_in(data, size);
  const Content video(data, data + size - 2 - length);
  const std::span<const uint8_t> changes(data + video.size(), length);
  fuzz::may_refuse([&] {
    static Content last;  // most inputs have the video of the one before
    static Index index;
    if (last.empty() || last != video) last.clear(), index = index_of(video), last = video;
    const Content given = changed(index, changes);
    const auto file = open_with(video, given);
    if (given == index.bytes && !file->indexed_before()) std::abort();
    if (file->index(stamp_of(video)) != (file->indexed_before() ? given : index.bytes)) std::abort();
    fuzz::check_video(file);
  });
  return 0;
}
