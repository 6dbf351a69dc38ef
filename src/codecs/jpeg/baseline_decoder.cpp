// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/baseline_decoder.h"

#include <atomic>
#include <memory>
#include <utility>

#include "base/settings.h"
#include "codecs/image_format.h"
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

// Passes the planes to the sink, or the rows themselves to the caller.
void hand_over(DecodeTask& t, jpeg::RegionDecoder& decoder) {
  if (t.takes_rows && t.orientation() == 1) {
    t.rows = &decoder;
    return;
  }
  decode_upright(t.orientation(), t.height(), t.width(), t.region, t.pixel_bytes(), t.sink,
                 [&](const Region&, const PixelSink& to) { decoder.read_all(to); });
  decoder.release_large();
}

ImageInfo describe(const jpeg::ScanHeader& h) {
  return {.height = h.height, .width = h.width, .channels = h.components, .orientation = h.orientation, .scales = true};
}

// Three kilobytes, which cost a tenth of reading the header: a thread uses them again if nobody has them.
std::shared_ptr<jpeg::ScanHeader> new_header() {
  thread_local std::shared_ptr<jpeg::ScanHeader> last;
  if (!last || last.use_count() > 1) return last = std::make_shared<jpeg::ScanHeader>();
  std::atomic_thread_fence(std::memory_order_acquire);  // after the last user's thread
  *last = {};
  return last;
}

class PenstockJpeg final : public ImageDecoder {
 public:
  const char* name() const override { return "jpeg/penstock"; }

  ImageInfo probe(Bytes file, ParsedHeader* kept) const override {
    if (!kept) return penstock::describe(read_jpeg_header(file));
    JpegOfLibrary other;
    if (jpeg_choice().engine != JpegEngine::libjpeg_turbo) {
      const std::shared_ptr<jpeg::ScanHeader> header = new_header();
      other.why = jpeg::read_scan_header(file, *header);
      if (!other.why) {
        const ImageInfo info = describe(*header);
        kept->keep<jpeg::ScanHeader>(header);
        return info;
      }
    }
    other.header = read_jpeg_header(file);
    kept->keep(std::make_shared<const JpegOfLibrary>(other));
    return penstock::describe(other.header);
  }

  void decode_group(std::span<DecodeTask* const> tasks) const override;

 private:
  // nullptr, or why the task goes to libjpeg-turbo.
  static const char* prepare(const DecodeTask& t, jpeg::RegionDecoder& decoder, jpeg::TableCache& tables,
                             Target target) {
    if (const auto* other = t.header.get<JpegOfLibrary>(); other && other->why) return other->why;
    const Region stored = stored_region(t.orientation(), t.height(), t.width(), t.region);
    return decoder.prepare(t.file, t.header.share<jpeg::ScanHeader>(), t.params, stored, t.index, tables, target);
  }
};

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

void PenstockJpeg::decode_group(std::span<DecodeTask* const> tasks) const {
  const JpegChoice choice = jpeg_choice();
  if (choice.engine == JpegEngine::libjpeg_turbo) return;
  ThreadState& state = thread_state();
  auto& d = state.decoders;
  const char* why[kDecodeTogether] = {};
  bool ready[kDecodeTogether] = {}, complete[kDecodeTogether] = {};
  for (size_t i = 0; i < tasks.size(); ++i) {
    why[i] = prepare(*tasks[i], d[i], state.tables, choice.target);
    ready[i] = !why[i];
    if (ready[i]) why[i] = "the entropy-coded data is damaged";
  }
  // Two parts of one image in turn are better than two images: they end at about the same time.
  if (tasks.size() == 2 && ready[0] && ready[1] && !(d[0].can_split() && d[1].can_split()) && !d[0].can_share()) {
    jpeg::RegionDecoder::run_together(d[0], d[1], complete[0], complete[1]);
  } else {
    for (size_t i = 0; i < tasks.size(); ++i) complete[i] = ready[i] && d[i].run();
  }
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (complete[i]) {
      hand_over(*tasks[i], d[i]);
      tasks[i]->done = true;
    } else if (choice.engine == JpegEngine::own) {
      tasks[i]->error = Error(ErrorKind::data, fmt::format("{} cannot decode this file: {}", name(), why[i]));
      tasks[i]->fault = FileFault::no_decoder;
    }
  }
}

const jpeg::ScanHeader* jpeg::scan_header_of(Bytes file, const ParsedHeader& kept, ScanHeader& own, const char*& why) {
  if (const auto* header = kept.get<ScanHeader>()) return header;
  const auto* other = kept.get<JpegOfLibrary>();
  if (other && other->why) {
    why = other->why;
    return nullptr;
  }
  own = {};
  why = read_scan_header(file, own);
  return why ? nullptr : &own;
}

static const PenstockJpeg penstock_jpeg;

PENSTOCK_IMAGE_FORMAT({
    .id = "jpeg",
    .title = "JPEG",
    .place = 10,
    .signatures = {{0, "\xFF\xD8\xFF"}},
    .suffixes = {".jpg", ".jpeg", ".jpe", ".jfif"},
    .read_by_default = {10, {".jpg", ".jpeg"}},
    .four_channels_are_cmyk = true,
    .keeps_rows = true,
    .decoders = {&penstock_jpeg, &libjpeg_turbo_decoder()},
    .verify = &verify_jpeg,
    .taken = "[baseline, progressive, arithmetic; gray, YCbCr, RGB, CMYK](../explanation/entropy_index.md); lossless "
             "of 8 bits",
    .window_reads = "the MCUs that it touches",
    .library = "our own, then libjpeg-turbo",
});

}  // namespace penstock
