// SPDX-License-Identifier: Apache-2.0
#include "readers/video_decoders.h"

#include <algorithm>
#include <cstring>

namespace penstock {

namespace {
constexpr int64_t kNearPackets = 16;  // decoded through rather than skipped
}

std::vector<DecodeRun> plan_runs(std::vector<WantedFrame> wanted,
                                 const std::function<const VideoFile&(int32_t)>& file) {
  std::sort(wanted.begin(), wanted.end(), [](const WantedFrame& a, const WantedFrame& b) {
    return std::tie(a.file, a.frame, a.sample, a.to) < std::tie(b.file, b.frame, b.sample, b.to);
  });
  std::vector<DecodeRun> runs;
  for (const WantedFrame& w : wanted) {
    const VideoFile& f = file(w.file);
    const int64_t start = f.start_of(w.frame), packet = f.packet_of(w.frame);
    if (runs.empty() || runs.back().file != w.file || start > runs.back().end_packet + kNearPackets)
      runs.push_back({w.file, start, packet + 1, {}, {}});
    DecodeRun& run = runs.back();
    run.end_packet = std::max(run.end_packet, packet + 1);
    run.wanted.push_back(w);
    if (run.frames.empty() || run.frames.back() != w.frame) run.frames.push_back(w.frame);
  }
  return runs;
}

template <class Decoder>
typename OpenDecoders<Decoder>::Place OpenDecoders<Decoder>::take(const DecodeRun& run, int threads, size_t most_open,
                                                                  size_t enough) {
  const int64_t first = run.frames.front();
  std::unique_lock lock(mutex_);
  // A decoder's position is reserved for the run that comes first after it: after that run it would have to start at a
  // key packet.
  const auto earlier_waits = [&](const Open& p) {
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const DecodeRun* w) {
      return w->file == run.file && w->frames.front() < first && p.decoder->continues_to(w->frames.front());
    });
  };
  // A decoder that must seek goes to the first run after the same key packet.
  const auto follows_another = [&] {
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const DecodeRun* w) {
      return w->file == run.file && w->frames.front() < first && w->first_packet == run.first_packet;
    });
  };
  const auto me = waiting_.insert(waiting_.end(), &run);
  const auto choose = [&](Place& best) {  // false: wait
    Place idle = open_.end();
    bool coming = false, busy = false;
    best = open_.end();
    for (auto p = open_.begin(); p != open_.end(); ++p) {
      if (p->file != run.file) continue;
      if (p->busy) {
        busy = true;
        coming |= p->end_frame < first && run.first_packet <= p->end_packet;
        continue;
      }
      const bool reserved = earlier_waits(*p);
      if (!p->decoder->continues_to(first)) {
        if (!reserved && idle == open_.end() && p->threads == threads) idle = p;
      } else if (reserved) {
        coming = true;
      } else if (best == open_.end() || p->decoder->last() > best->decoder->last()) {
        best = p;
      }
    }
    if (best == open_.end() && coming) return false;
    if (best == open_.end() && open_.size() >= enough && (idle == open_.end() ? busy : follows_another())) return false;
    if (best == open_.end()) best = idle;
    return true;
  };
  Place best;
  while (!choose(best)) freed_.wait(lock);
  waiting_.erase(me);
  if (!waiting_.empty()) freed_.notify_all();
  if (best != open_.end()) {
    best->busy = true, best->end_frame = run.frames.back(), best->end_packet = run.end_packet;
    return best;
  }
  for (auto p = open_.begin(); p != open_.end() && open_.size() >= most_open;)
    p = p->busy ? std::next(p) : open_.erase(p);
  open_.push_back({run.file, threads, nullptr, true, run.frames.back(), run.end_packet});
  const Place place = std::prev(open_.end());
  lock.unlock();
  try {
    place->decoder = make_(run.file, threads);
  } catch (...) {
    give_back(place, false);
    throw;
  }
  return place;
}

template <class Decoder> void OpenDecoders<Decoder>::give_back(Place place, bool usable) {
  std::unique_ptr<Decoder> gone;  // closed without the lock
  {
    const std::lock_guard lock(mutex_);
    place->busy = false;
    if (usable) {
      open_.splice(open_.end(), open_, place);
    } else {
      gone = std::move(place->decoder);
      open_.erase(place);
    }
  }
  freed_.notify_all();
}

template class OpenDecoders<VideoDecoder>;
template class OpenDecoders<DeviceVideoDecoder>;

void decode_run_on_host(OpenDecoders<VideoDecoder>& decoders, const DecodeRun& run, int threads, size_t most_open) {
  decoders.with_decoder(run, threads, most_open, [&](VideoDecoder* decoder) {
    const VideoFile& f = decoder->file();
    const size_t bytes = static_cast<size_t>(f.width()) * static_cast<size_t>(f.height()) * 3;
    std::vector<const WantedFrame*> first;  // of each frame
    for (const auto& w : run.wanted)
      if (first.empty() || first.back()->frame != w.frame) first.push_back(&w);
    decoder->read(run.frames, [&](size_t k) { return first[k]->to; });
    size_t k = 0;
    for (const auto& w : run.wanted) {
      while (first[k]->frame != w.frame) ++k;
      if (w.to != first[k]->to) std::memcpy(w.to, first[k]->to, bytes);
    }
  });
}

}  // namespace penstock
