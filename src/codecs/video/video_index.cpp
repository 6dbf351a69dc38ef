// SPDX-License-Identifier: Apache-2.0
// A video's index as bytes, so that its packets need not be read again.
#include <cstring>
#include <utility>

#include "base/checksum.h"
#include "codecs/video/video_file.h"

namespace penstock {

namespace {

// Magic, hash of FFmpeg's version, size and time of the file, codec, width, height, time base, whether it has times,
// packets; six numbers for each packet; CRC-32C.
constexpr char kMagic[9] = "PSTKVIX2";
constexpr int64_t kMostTime = int64_t{1} << 60;  // times are subtracted from each other
constexpr size_t kCodec = 32, kHead = 8 + 3 * 8 + kCodec + 6 * 8, kPacket = 6 * 8;

uint64_t version_sum() {
  const std::string& v = ffmpeg::library().version;
  return content_hash({reinterpret_cast<const uint8_t*>(v.data()), v.size()});
}

}  // namespace

// What must be equal for an index to match.
std::vector<uint8_t> VideoFile::index_head(const Stamp& stamp) const {
  std::vector<uint8_t> out(kHead);
  std::memcpy(out.data(), kMagic, 8);
  const int64_t file[3] = {static_cast<int64_t>(version_sum()), stamp.bytes, stamp.modified_ns};
  std::memcpy(out.data() + 8, file, sizeof file);
  std::memcpy(out.data() + 32, codec_.data(), std::min(kCodec - 1, codec_.size()));
  const int64_t picture[4] = {width_, height_, time_base_.num, time_base_.den};
  std::memcpy(out.data() + 32 + kCodec, picture, sizeof picture);
  return out;
}

std::vector<uint8_t> VideoFile::index(const Stamp& stamp) const {
  std::vector<uint8_t> out = index_head(stamp);
  const int64_t counts[2] = {timed_, static_cast<int64_t>(packets_.size())};
  std::memcpy(out.data() + kHead - 16, counts, sizeof counts);
  out.resize(kHead + packets_.size() * kPacket + 4);
  uint8_t* to = out.data() + kHead;
  for (const Packet& p : packets_) {
    const int64_t numbers[6] = {p.pts, p.seek_pts, p.dts, p.position, int64_t{p.size} * 2 + p.key, p.frame};
    std::memcpy(to, numbers, kPacket);
    to += kPacket;
  }
  const uint32_t sum = crc32c({out.data(), out.size() - 4});
  std::memcpy(to, &sum, 4);
  return out;
}

bool VideoFile::take_index(std::span<const uint8_t> bytes, const Stamp& stamp) {
  if (bytes.size() < kHead + 4 || (bytes.size() - kHead - 4) % kPacket != 0) return false;
  uint32_t sum;
  std::memcpy(&sum, bytes.data() + bytes.size() - 4, 4);
  if (sum != crc32c(bytes.first(bytes.size() - 4))) return false;
  if (std::memcmp(bytes.data(), index_head(stamp).data(), kHead - 16) != 0) return false;
  int64_t counts[2];
  std::memcpy(counts, bytes.data() + kHead - 16, sizeof counts);
  const auto count = static_cast<int64_t>((bytes.size() - kHead - 4) / kPacket);
  if (counts[1] != count || count == 0 || (counts[0] | 1) != 1) return false;
  std::vector<Packet> packets;
  std::vector<int64_t> shown(static_cast<size_t>(count), -1), keys;
  int64_t frames = 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t n[6];
    std::memcpy(n, bytes.data() + kHead + static_cast<size_t>(i) * kPacket, kPacket);
    const int64_t size = n[4] >> 1, frame = n[5];
    if (size < 0 || size > INT32_MAX || n[3] < -1 || n[3] > stamp.bytes || frame < -1 || frame >= count) return false;
    if (frame >= 0 && (n[0] < -kMostTime || n[0] > kMostTime)) return false;
    if (frame >= 0 && std::exchange(shown[static_cast<size_t>(frame)], i) >= 0)
      return false;  // two packets of one frame
    frames += frame >= 0;
    packets.push_back({n[0], n[1], n[2], n[3], static_cast<int32_t>(size), (n[4] & 1) != 0, frame});
    if (packets.back().key || i == 0) keys.push_back(i);
  }
  shown.resize(static_cast<size_t>(frames));
  for (size_t k = 0; k < shown.size(); ++k) {
    if (shown[k] < 0) return false;
    if (k > 0 && packets[shown[k - 1]].pts >= packets[shown[k]].pts) return false;
  }
  if (frames == 0) return false;
  packets_ = std::move(packets), shown_ = std::move(shown), keys_ = std::move(keys), timed_ = counts[0] != 0;
  indexed_before_ = true;
  return true;
}

}  // namespace penstock
