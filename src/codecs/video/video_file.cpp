// SPDX-License-Identifier: Apache-2.0
#include "codecs/video/video_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "codecs/video/demuxer.h"
#include "codecs/video/video_decoder.h"

namespace penstock {

using namespace ffmpeg;

namespace {

constexpr size_t kMostPackets = size_t{1} << 26;

// Whether a packet of VP8 or VP9 is only decoded, as a reference for later frames.
bool is_hidden(const std::string& codec, const Packet& p) {
  if (p.size < 1) return true;
  const int first = p.data[0];
  if (codec == "vp8") return (first & 0x10) == 0;
  if (codec != "vp9" || first >> 6 != 2) return false;
  const int last = p.data[p.size - 1];
  if ((last & 0xE0) == 0xC0) return false;                              // several frames, the last of which is shown
  const int shift = (first >> 4 & 3) == 3 ? 0 : 1;                      // profile 3 has one bit more
  return (first >> shift & 1) == 0 && (first >> (shift + 2) & 1) == 0;  // shows neither its frame nor an older one
}

}  // namespace

VideoFile::Header VideoFile::header_in(const ffmpeg::Packet& p) const {
  if (container_ != "ogg" || p.size < 1) return Header::none;
  if (codec_ == "theora" && (p.data[0] & 0x80) != 0) return p.data[0] == 0x81 ? Header::unneeded : Header::decoded;
  return codec_ == "vp8" && p.size > 5 && std::memcmp(p.data, "OVP80", 5) == 0 ? Header::unneeded : Header::none;
}

std::shared_ptr<const VideoFile> VideoFile::open(OpenBytes bytes, int64_t max_pixels, std::span<const uint8_t> index,
                                                 const Stamp& stamp) {
  const Library& lib = library();
  std::shared_ptr<VideoFile> f(new VideoFile);
  f->bytes_ = std::move(bytes);
  f->max_pixels_ = max_pixels;
  Demuxer demuxer(f->bytes(), false, max_pixels);
  f->container_ = demuxer.container();
  f->time_base_ = demuxer.time_base();
  f->width_ = lib.width(demuxer.parameters()), f->height_ = lib.height(demuxer.parameters());
  f->codec_ = lib.avcodec_get_name(lib.codec_id(demuxer.parameters()));
  if (f->width_ < 1 || f->height_ < 1)  // FFmpeg also gives this for sizes that it finds too large
    bad_data("a {} video has {} x {} pixels, or more than the limit of {}", f->codec_, f->width_, f->height_,
             max_pixels);
  if (f->width_ > max_pixels / f->height_)
    bad_data("{} x {} pixels are more than the limit of {}", f->width_, f->height_, max_pixels);
  if (f->time_base_.num <= 0 || f->time_base_.den <= 0)
    bad_data("the time base {} / {} is invalid", f->time_base_.num, f->time_base_.den);
  f->take_parameters(demuxer.parameters());
  const bool indexed = f->take_index(index, stamp);
  if (!indexed) f->read_packets(demuxer);
  f->chained_ =
      f->container_ == "ogg" && f->keys_.size() > 1 && f->packets_[static_cast<size_t>(f->keys_[1])].frame < 0;
  if (!indexed) f->order_by_time();
  if (f->shown_.empty()) bad_data("the {} file has no frames", f->container_);
  f->find_rate(demuxer.guessed_rate());
  return f;
}

std::shared_ptr<const VideoFile> VideoFile::with_bytes(OpenBytes bytes) const {
  std::shared_ptr<VideoFile> f(new VideoFile);
  f->bytes_ = std::move(bytes);
  f->take_parameters(parameters_);
  f->width_ = width_, f->height_ = height_, f->rate_ = rate_, f->constant_ = constant_, f->timed_ = timed_;
  f->time_base_ = time_base_, f->codec_ = codec_, f->container_ = container_, f->max_pixels_ = max_pixels_;
  f->packets_ = packets_, f->shown_ = shown_, f->keys_ = keys_, f->chained_ = chained_;
  return f;
}

void VideoFile::take_parameters(const Parameters* parameters) {
  parameters_ = library().avcodec_parameters_alloc();
  if (!parameters_ || library().avcodec_parameters_copy(parameters_, parameters) < 0) throw std::bad_alloc();
}

VideoFile::~VideoFile() {
  if (parameters_) library().avcodec_parameters_free(&parameters_);
}

void VideoFile::read_packets(Demuxer& demuxer) {
  std::vector<int64_t> links;
  bool in_headers = false;
  while (const ffmpeg::Packet* p = demuxer.next()) {
    if (packets_.size() == kMostPackets) bad_data("the video has more than {} packets", kMostPackets);
    const bool header = header_in(*p) != Header::none;
    const bool hidden = header || (p->flags & kPacketDiscard) || is_hidden(codec_, *p);
    const bool key = (p->flags & kPacketKey) != 0;
    if (key || packets_.empty()) keys_.push_back(static_cast<int64_t>(packets_.size()));
    if (header && !in_headers) links.push_back(static_cast<int64_t>(packets_.size()));
    in_headers = header;
    packets_.push_back({p->pts, p->pts, p->dts, p->position, p->size, key, hidden ? -1 : 0});
  }
  // Packets before the first key packet cannot be decoded.
  const auto first = std::find_if(packets_.begin(), packets_.end(), [](const Packet& p) { return p.key; });
  if (first != packets_.end())
    for (auto p = packets_.begin(); p != first; ++p) p->frame = -1;
  if (links.empty()) return;
  for (auto& p : packets_) p.key = false;
  keys_ = {0};
  for (const int64_t link : links) {
    packets_[static_cast<size_t>(link)].key = true;
    if (link > 0) keys_.push_back(link);
  }
}

void VideoFile::order_by_time() {
  bool known = !chained_;  // the times of each link start anew
  for (size_t i = 0; i < packets_.size(); ++i) {
    if (packets_[i].frame < 0) continue;
    known &= packets_[i].pts != kNoPts;
    shown_.push_back(static_cast<int64_t>(i));
  }
  const auto before = [&](int64_t a, int64_t b) { return packets_[a].pts < packets_[b].pts; };
  if (known) {
    std::stable_sort(shown_.begin(), shown_.end(), before);
    for (size_t i = 1; i < shown_.size(); ++i) known &= packets_[shown_[i - 1]].pts < packets_[shown_[i]].pts;
  }
  if (!known) order_by_decoding();
  for (size_t n = 0; n < shown_.size(); ++n) packets_[shown_[n]].frame = static_cast<int64_t>(n);
}

// Uses the position at which a packet's frame comes out as its time, so that all other code can ignore the difference.
void VideoFile::order_by_decoding() {
  const std::vector<int64_t> decoded = order_of_decoded_frames(*this);
  for (auto& p : packets_) p.frame = -1, p.pts = kNoPts;
  shown_.clear();
  for (const int64_t packet : decoded) {
    if (packets_[packet].pts != kNoPts) continue;  // if damaged, a packet may give several frames: the first is its
    packets_[packet].pts = static_cast<int64_t>(shown_.size());
    shown_.push_back(packet);
  }
  int64_t last = 0;
  for (auto& p : packets_) p.pts == kNoPts ? p.pts = last : last = p.pts;
  timed_ = false;
}

void VideoFile::find_rate(double guessed) {
  rate_ = guessed;
  if (!timed_ || shown_.size() < 2) return;
  int64_t least = INT64_MAX, most = 0;
  for (size_t i = 1; i < shown_.size(); ++i) {
    const int64_t step = packets_[shown_[i]].pts - packets_[shown_[i - 1]].pts;
    least = std::min(least, step), most = std::max(most, step);
  }
  constant_ = most - least <= std::max<int64_t>(1, least / 50);  // times are rounded
  const double seconds =
      static_cast<double>(packets_[shown_.back()].pts - packets_[shown_[0]].pts) * time_base_.num / time_base_.den;
  const double measured = seconds > 0 ? static_cast<double>(shown_.size() - 1) / seconds : 0;
  if (measured > 0 && (rate_ <= 0 || std::abs(rate_ - measured) > 0.02 * measured)) rate_ = measured;
}

double VideoFile::seconds(int64_t frame) const {
  if (!timed_) return rate_ > 0 ? static_cast<double>(frame) / rate_ : 0;
  return static_cast<double>(packets_[shown_[frame]].pts) * time_base_.num / time_base_.den;
}

int64_t VideoFile::start_of(int64_t frame) const {
  const int64_t packet = shown_[frame];
  auto key = std::upper_bound(keys_.begin(), keys_.end(), packet);
  while (key != keys_.begin()) {
    --key;
    if (packets_[*key].pts <= packets_[packet].pts) return *key;
  }
  return 0;
}

int64_t VideoFile::key_before(int64_t packet) const {
  const auto key = std::lower_bound(keys_.begin(), keys_.end(), packet);
  return key == keys_.begin() ? 0 : *(key - 1);
}

}  // namespace penstock
