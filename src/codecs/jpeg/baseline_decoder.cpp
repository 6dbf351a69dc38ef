// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/baseline_decoder.h"

#include <cstring>

#include "base/settings.h"
#include "codecs/jpeg/region_decoder.h"
#include "codecs/jpeg_decoder.h"
#include "codecs/orientation.h"

namespace penstock {

namespace {

struct ThreadState {
  jpeg::TableCache tables;
  jpeg::RegionDecoder decoders[kDecodeTogether];
};

ThreadState& thread_state() {
  thread_local const std::unique_ptr<ThreadState> state = std::make_unique<ThreadState>();
  return *state;
}

int orientation_of(const DecodeTask& t) { return t.params.apply_orientation ? t.info.orientation : 1; }

// Of the picture that is asked for, upright.
int64_t height_of(const DecodeTask& t) { return scaled_extent(t.info.height, t.params); }
int64_t width_of(const DecodeTask& t) { return scaled_extent(t.info.width, t.params); }

// From the planes into the sink, or the rows themselves to the caller.
void hand_over(DecodeTask& t, jpeg::RegionDecoder& decoder) {
  const int orientation = orientation_of(t);
  if (t.takes_rows && orientation == 1) {
    t.rows = &decoder;
    return;
  }
  const int64_t pixel_bytes = output_channels(t.info, t.params.type) * static_cast<int64_t>(size_of(t.params.dtype));
  decode_upright(orientation, height_of(t), width_of(t), t.region, pixel_bytes, t.sink,
                 [&](const Region&, const PixelSink& to) { decoder.read_all(to); });
  decoder.release_large();
}

}  // namespace

JpegChoice& jpeg_choice() {
  static JpegChoice choice = [] {
    JpegChoice c;
    c.target = best_target();
    const std::string_view wish = Setting("PENSTOCK_JPEG").text();
    if (wish == "own") c.engine = JpegEngine::own;
    if (wish == "libjpeg-turbo") c.engine = JpegEngine::libjpeg_turbo;
    return c;
  }();
  return choice;
}

void decode_baseline_jpegs(std::span<DecodeTask> tasks, bool* done) {
  const JpegChoice choice = jpeg_choice();
  if (choice.engine == JpegEngine::libjpeg_turbo) return;
  ThreadState& state = thread_state();
  const char* why[kDecodeTogether] = {};
  bool ready[kDecodeTogether] = {}, complete[kDecodeTogether] = {};
  for (size_t i = 0; i < tasks.size(); ++i) {
    DecodeTask& t = tasks[i];
    const char* format = sniff_format(t.file);
    if (done[i] || !format || std::strcmp(format, "jpeg")) continue;
    const Region stored = stored_region(orientation_of(t), height_of(t), width_of(t), t.region);
    why[i] = state.decoders[i].prepare(t.file, t.params, stored, t.index, state.tables, choice.target);
    ready[i] = !why[i];
    if (ready[i]) why[i] = "the entropy-coded data are damaged";
  }
  // Two places of one image are better in turn than two images: they end at about the same time.
  auto& d = state.decoders;
  if (tasks.size() == 2 && ready[0] && ready[1] && !(d[0].can_split() && d[1].can_split())) {
    jpeg::RegionDecoder::run_together(d[0], d[1], complete[0], complete[1]);
  } else {
    for (size_t i = 0; i < tasks.size(); ++i) complete[i] = ready[i] && d[i].run();
  }
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (complete[i]) {
      hand_over(tasks[i], d[i]);
      done[i] = true;
    } else if (why[i] && choice.engine == JpegEngine::own) {
      tasks[i].error = Error(ErrorKind::data, fmt::format("jpeg/penstock cannot decode this file: {}", why[i]));
      done[i] = true;
    }
  }
}

}  // namespace penstock
