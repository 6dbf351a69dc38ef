// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "codecs/jpeg/region_decoder.h"
#include "codecs/jpeg_decoder.h"
#include "codecs/jpeg_session.h"
#include "codecs/verify_image.h"

namespace penstock {
namespace {

// The number of the MCU in which our decoder finds invalid data; -1 if it finds none or does not accept the file.
int64_t faulty_mcu(Bytes file, const ImageInfo& info) {
  struct EveryMcu final : EntropyIndexAccess {
    bool find(Bytes, EntropyIndex&) override { return false; }
    int wanted_step() const override { return 1; }
    void offer(Bytes, const EntropyIndex&) override { whole = true; }
    bool whole = false;
  } every;
  const auto tables = std::make_unique<jpeg::TableCache>();
  const auto decoder = std::make_unique<jpeg::RegionDecoder>();
  const Region last{info.height - 1, info.width - 1, 1, 1};
  if (decoder->prepare(file, nullptr, {}, last, &every, *tables, best_target())) return -1;
  decoder->run();
  return every.whole ? -1 : decoder->recorded() - 1;
}

}  // namespace

bool verify_jpeg(const DecodeTask& task, std::vector<Finding>& found) {
  const Bytes file = task.file;
  const ImageInfo& info = task.info;
  if (!info.scales || !libjpeg_turbo_decoder().cannot_decode(task).empty()) return false;
  JpegSession s(file);
  std::vector<uint8_t> row(static_cast<size_t>(info.width) * 4);
  int64_t rows = 0, early = -1;
  const bool done = s.guarded([&] {
    jpeg_read_header(&s.in, TRUE);
    s.in.out_color_space = s.in.jpeg_color_space;
    s.in.do_fancy_upsampling = FALSE;
    jpeg_start_decompress(&s.in);
    JSAMPROW to = row.data();
    while (s.in.output_scanline < s.in.output_height) {
      const int before = s.warnings();
      jpeg_read_scanlines(&s.in, &to, 1);
      if (s.ended() && early < 0 && s.warnings() > before) early = rows;
      rows = s.in.output_scanline;
    }
    jpeg_finish_decompress(&s.in);
  });
  if (!done) {
    found.push_back(
        {s.ended() ? "truncated" : "undecodable", fmt::format("{} at row {} of {}", s.message(), rows, info.height)});
    return true;
  }
  if (s.ended()) {
    const bool whole = early < 0 && s.warnings() <= 1 &&  // libjpeg warns about the missing marker as well
                       (s.warnings() == 0 || s.first_warning_code() == JWRN_JPEG_EOF);
    if (whole && !s.in.progressive_mode) found.push_back({"no end", "the end marker is missing"});
    else
      found.push_back({"truncated", early >= 0 ? fmt::format("the data ends at row {} of {}", early, info.height)
                                               : std::string("the data ends inside a scan")});
    if (whole || early >= 0) return true;
  }
  if (s.warnings() > 0 && !s.ended()) {
    std::string text = s.first_warning();
    if (s.first_warning_row() >= 0) {
      const int64_t row = s.first_warning_row(), columns = s.in.MCUs_per_row, mcu = faulty_mcu(file, info);
      text +=
          fmt::format(", in row {} of MCUs (pixel row {}){}, near byte {}", row, row * s.in.max_v_samp_factor * DCTSIZE,
                      mcu >= 0 && mcu / columns == row ? fmt::format(", MCU {} of the row", mcu % columns) : "",
                      s.first_warning_at());
    }
    if (s.warnings() > 1) text += fmt::format("; {} more places", s.warnings() - 1);
    found.push_back({"damaged", text});
  }
  if (!s.ended() && s.left() > 0) found.push_back({"trailing", fmt::format("{} bytes after the end marker", s.left())});
  return true;
}

}  // namespace penstock
