// SPDX-License-Identifier: Apache-2.0
#include "codecs/verify_image.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "codecs/jpeg/region_decoder.h"
#include "codecs/jpeg_session.h"

namespace penstock {
namespace {

using Findings = std::vector<Finding>;

std::string format_of_name(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || name.find('/', dot) != std::string::npos) return "";
  std::string e = name.substr(dot + 1);
  for (char& c : e) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  constexpr const char* kNames[][2] = {{"jpg", "jpeg"},  {"jpeg", "jpeg"}, {"jpe", "jpeg"},     {"jfif", "jpeg"},
                                       {"png", "png"},   {"gif", "gif"},   {"bmp", "bmp"},      {"webp", "webp"},
                                       {"tif", "tiff"},  {"tiff", "tiff"}, {"jp2", "jpeg2000"}, {"j2k", "jpeg2000"},
                                       {"ppm", "pnm"},   {"pgm", "pnm"},   {"pbm", "pnm"},      {"pnm", "pnm"},
                                       {"avif", "avif"}, {"heic", "heic"}, {"jxl", "jxl"}};
  for (const auto& [ending, format] : kNames)
    if (e == ending) return format;
  return "";
}

// The number of the MCU in which our decoder meets invalid data; -1 where it meets none or does not take the file.
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
  if (decoder->prepare(file, {}, last, &every, *tables, best_target())) return -1;
  decoder->run();
  return every.whole ? -1 : decoder->recorded() - 1;
}

void verify_jpeg(Bytes file, const ImageInfo& info, Findings& found) {
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
    found.push_back({s.ended() ? "truncated" : "undecodable",
                     fmt::format("{} at row {} of {}", s.message(), rows, info.height)});
    return;
  }
  if (s.ended()) {
    const bool whole = early < 0 && s.warnings() <= 1 &&  // libjpeg warns of the missing marker as well
                       (s.warnings() == 0 || std::strstr(s.first_warning(), "Premature end of JPEG file"));
    if (whole && !s.in.progressive_mode) found.push_back({"no end", "the end marker is missing"});
    else found.push_back({"truncated", early >= 0 ? fmt::format("the data end at row {} of {}", early, info.height)
                                                  : std::string("the data end inside a scan")});
    if (whole || early >= 0) return;
  }
  if (s.warnings() > 0 && !s.ended()) {
    std::string text = s.first_warning();
    if (s.first_warning_row() >= 0) {
      const int64_t row = s.first_warning_row(), columns = s.in.MCUs_per_row, mcu = faulty_mcu(file, info);
      text += fmt::format(", in row {} of MCUs (pixel row {}){}, near byte {}", row,
                          row * s.in.max_v_samp_factor * DCTSIZE,
                          mcu >= 0 && mcu / columns == row ? fmt::format(", MCU {} of the row", mcu % columns) : "",
                          s.first_warning_at());
    }
    if (s.warnings() > 1) text += fmt::format("; {} more places", s.warnings() - 1);
    found.push_back({"damaged", text});
  }
  if (!s.ended() && s.left() > 0)
    found.push_back({"trailing", fmt::format("{} bytes behind the end marker", s.left())});
}

// Bytes behind the IEND chunk; -1 where there is none.
int64_t behind_png(Bytes file) {
  size_t at = 8;
  while (file.size() - at >= 12) {
    const uint8_t* p = file.data() + at;
    const size_t length = size_t{p[0]} << 24 | size_t{p[1]} << 16 | size_t{p[2]} << 8 | p[3];
    if (length > file.size() - at - 12) return -1;
    at += 12 + length;
    if (!std::memcmp(p + 4, "IEND", 4)) return static_cast<int64_t>(file.size() - at);
  }
  return -1;
}

void verify_by_decoding(Bytes file, const ImageInfo& info, const DecodeParams& params, Findings& found) {
  try {
    DecodeParams as_stored = params;
    as_stored.type = ImageType::any_data;
    as_stored.dtype = info.dtype;
    const size_t row = static_cast<size_t>(info.width) * output_channels(info, as_stored.type) * size_of(info.dtype);
    std::vector<uint8_t> pixels(row * static_cast<size_t>(info.height));
    decode_image(file, info, as_stored, {0, 0, info.height, info.width},
                 {pixels.data(), static_cast<int64_t>(row)});
    if (const int64_t behind = std::strcmp(info.format, "png") ? 0 : behind_png(file); behind > 0)
      found.push_back({"trailing", fmt::format("{} bytes behind the last chunk", behind)});
  } catch (const Error& e) {
    const std::string text = e.what();
    const bool cut = text.find("premature end") != std::string::npos;
    found.push_back({cut ? "truncated" : "damaged", text});
  }
}

}  // namespace

Findings verify_image(Bytes file, const std::string& name, int64_t max_pixels) {
  Findings found;
  DecodeParams params;
  params.apply_orientation = false;
  params.max_pixels = INT64_MAX;
  const char* format = sniff_format(file);
  const std::string said = format_of_name(name);
  if (format && !said.empty() && said != format)
    found.push_back({"extension", fmt::format("the name says {}, the bytes are {}", said, format)});
  ImageInfo info;
  try {
    info = probe_image(file, params);
  } catch (const Error& e) {
    const std::string_view text = e.what();
    const bool cut = text.find("premature end") != text.npos || text.find(" ends ") != text.npos;
    found.push_back({!format ? "format" : cut ? "truncated" : "header", e.what()});
    return found;
  }
  if (info.height * info.width > max_pixels) {
    found.push_back({"too large", fmt::format("{} x {} pixels are more than the limit of {}", info.height, info.width,
                                              max_pixels)});
    return found;
  }
  if (!std::strcmp(format, "jpeg")) verify_jpeg(file, info, found);
  else verify_by_decoding(file, info, params, found);
  return found;
}

}  // namespace penstock
