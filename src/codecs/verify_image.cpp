// SPDX-License-Identifier: Apache-2.0
#include "codecs/verify_image.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "codecs/byte_order.h"
#include "codecs/decode_errors.h"
#include "codecs/file_formats.h"
#include "codecs/jpeg/region_decoder.h"
#include "codecs/jpeg_decoder.h"
#include "codecs/jpeg_session.h"

namespace penstock {
namespace {

using Findings = std::vector<Finding>;

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
    found.push_back(
        {s.ended() ? "truncated" : "undecodable", fmt::format("{} at row {} of {}", s.message(), rows, info.height)});
    return;
  }
  if (s.ended()) {
    const bool whole = early < 0 && s.warnings() <= 1 &&  // libjpeg warns of the missing marker as well
                       (s.warnings() == 0 || s.first_warning_code() == JWRN_JPEG_EOF);
    if (whole && !s.in.progressive_mode) found.push_back({"no end", "the end marker is missing"});
    else
      found.push_back({"truncated", early >= 0 ? fmt::format("the data end at row {} of {}", early, info.height)
                                               : std::string("the data end inside a scan")});
    if (whole || early >= 0) return;
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
}

// Where the file ends by its own lengths.
struct OwnEnd {
  enum { unknown, found, missing, cut } kind = unknown;
  uint64_t at = 0;  // of the end; of a cut file the length that it should have, 0 where that is not known
};

OwnEnd end_of_png(Bytes file) {
  for (uint64_t at = 8; file.size() - at >= 12;) {
    const uint64_t length = be32(&file[at]);
    if (length > file.size() - at - 12) break;
    at += 12 + length;
    if (!std::memcmp(&file[at - length - 8], "IEND", 4)) return {OwnEnd::found, at};
  }
  return {};  // which libpng finds too
}

OwnEnd end_of_gif(Bytes file) {
  uint64_t at = 6;
  const auto skip = [&](uint64_t bytes) { return at += bytes, at <= file.size(); };
  const auto skip_colors = [&](uint8_t flags) { return !(flags & 0x80) || skip(uint64_t{6} << (flags & 7)); };
  const auto skip_blocks = [&] {
    while (at < file.size() && file[at] != 0)
      if (!skip(1 + uint64_t{file[at]})) return false;
    return at < file.size() && skip(1);
  };
  if (!skip(7) || !skip_colors(file[10])) return {OwnEnd::cut};
  while (at < file.size()) {
    const uint8_t kind = file[at++];
    if (kind == 0x3B) return {OwnEnd::found, at};
    if (kind == 0x21 ? !skip(1) || !skip_blocks()
                     : kind == 0x2C && (!skip(9) || !skip_colors(file[at - 1]) || !skip(1) || !skip_blocks()))
      return {OwnEnd::cut};
    if (kind != 0x21 && kind != 0x2C) return {};  // damage, or what stands after the last picture
  }
  return {OwnEnd::missing};
}

OwnEnd own_end(Bytes file, std::string_view format) {
  if (format == "png") return end_of_png(file);
  if (format == "gif") return end_of_gif(file);
  if (format != "webp") return {};
  const uint64_t length = 8 + uint64_t{le32(&file[4])} + le32(&file[4]) % 2;
  return {length > file.size() ? OwnEnd::cut : OwnEnd::found, length};
}

void verify_by_decoding(Bytes file, const ImageInfo& info, const DecodeParams& params, Findings& found) {
  const OwnEnd end = own_end(file, info.format);
  if (end.kind == OwnEnd::cut) {
    found.push_back({"truncated", end.at ? fmt::format("the header says {} bytes, {} are there", end.at, file.size())
                                         : std::string("the data end inside of a block")});
    return;
  }
  try {
    const ImageDecoder& engine = image_decoder_for(file);
    DecodeParams as_stored = params;
    as_stored.type = ImageType::any_data;
    as_stored.dtype = info.dtype;
    if (const std::string why = engine.cannot_decode(file, info, as_stored); !why.empty()) {
      found.push_back({"undecodable", fmt::format("{} cannot decode this file: {}", engine.name(), why)});
      return;
    }
    const size_t row = static_cast<size_t>(info.width) * output_channels(info, as_stored.type) * size_of(info.dtype);
    std::vector<uint8_t> pixels(row * static_cast<size_t>(info.height));
    // Not decode_image(), which gives plain Errors.
    engine.decode(file, info, as_stored, {0, 0, info.height, info.width}, {pixels.data(), static_cast<int64_t>(row)});
    if (end.kind == OwnEnd::missing) found.push_back({"no end", "the end marker is missing"});
    if (end.kind == OwnEnd::found && end.at < file.size())
      found.push_back({"trailing", fmt::format("{} bytes after the end of the picture", file.size() - end.at)});
  } catch (const Error& e) {
    found.push_back(finding_of(e, "damaged"));
  }
}

}  // namespace

Finding finding_of(const Error& e, const char* otherwise) {
  if (dynamic_cast<const EndsEarly*>(&e)) return {"truncated", e.what()};
  if (dynamic_cast<const NoDecoder*>(&e)) return {"undecodable", e.what()};
  if (e.kind() != ErrorKind::data) throw Error(e);
  return {otherwise, e.what()};
}

void compare_name(const std::string& name, const char* format, std::vector<Finding>& found) {
  const FileFormat* said = format_of_name(name);
  if (!said || !format || !std::strcmp(said->name, format)) return;
  found.push_back({"extension", fmt::format("the name says {}, the bytes are {}", said->name, format)});
}

Findings verify_image(Bytes file, const std::string& name, int64_t max_pixels) {
  Findings found;
  DecodeParams params;
  params.apply_orientation = false;
  constexpr int64_t kMost = int64_t{1} << 40;  // so that the number of bytes fits, whatever is asked for
  max_pixels = std::min(max_pixels, kMost);
  params.max_pixels = INT64_MAX;  // of the probe; what is larger than the caller's limit is a finding of its own
  const char* format = sniff_format(file);
  compare_name(name, format, found);
  ImageInfo info;
  try {
    info = probe_image(file, params);
  } catch (const Error& e) {
    found.push_back(format ? finding_of(e, "header") : Finding{"format", e.what()});
    return found;
  }
  if (info.height * info.width > max_pixels) {
    found.push_back({"too large",
                     fmt::format("{} x {} pixels are more than the limit of {}", info.height, info.width, max_pixels)});
    return found;
  }
  params.max_pixels = max_pixels;
  // What libjpeg decodes, it can say more of than that there is an error.
  const ImageDecoder& library = libjpeg_turbo_decoder();
  if (info.scales && library.cannot_decode(file, info, params).empty()) verify_jpeg(file, info, found);
  else verify_by_decoding(file, info, params, found);
  return found;
}

}  // namespace penstock
