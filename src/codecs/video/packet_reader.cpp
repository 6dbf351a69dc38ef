// SPDX-License-Identifier: Apache-2.0
#include "codecs/video/packet_reader.h"

namespace penstock {

using namespace ffmpeg;

namespace {

// Containers whose headers alone give everything that a decoder needs.
bool says_all(const std::string& container) {
  return container.starts_with("mov,") || container.starts_with("matroska");
}

}  // namespace

void PacketReader::open() {
  demuxer_ = std::make_unique<Demuxer>(file_.bytes(), says_all(file_.container()), file_.max_pixels());
  at_ = 0;
}

int64_t PacketReader::find(const Packet& p, int64_t near) const {
  const auto& all = file_.packets();
  const auto same = [&](int64_t i) {
    const auto& known = all[i];
    if (known.size != p.size || known.position != p.position) return false;
    return p.position >= 0 || (known.seek_pts == p.pts && known.dts == p.dts);
  };
  for (int64_t i = near; i >= 0; --i)
    if (same(i)) return i;
  return -1;
}

// After it, the demuxer returns `packet` or an earlier one.
bool PacketReader::arrive(int64_t packet) {
  const auto& all = file_.packets();
  const int64_t earlier = all[file_.key_before(packet)].dts;
  for (const int64_t time : {all[packet].seek_pts, all[packet].dts, earlier}) {
    if (time == kNoPts || !demuxer_->seek(time)) continue;
    const Packet* p = demuxer_->next();
    const int64_t found = p ? find(*p, packet) : -1;
    if (found < 0) continue;
    demuxer_->put_back();
    at_ = found;
    return true;
  }
  return false;
}

void PacketReader::go_to(int64_t packet) {
  if (!demuxer_) open();
  if ((at_ > packet || packet - at_ >= kReadThrough) && !arrive(packet)) open();
  while (at_ < packet) read();
}

const Packet* PacketReader::read() {
  const Packet* p = demuxer_->next();
  if (!p || p->size != file_.packets()[at_].size)
    bad_data("packet {} of the file has changed since the file was opened", at_);
  ++at_;
  return p;
}

}  // namespace penstock
