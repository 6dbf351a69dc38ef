// SPDX-License-Identifier: Apache-2.0
// JPEG through libjpeg-turbo. If neither trimming nor conversion is needed, rows go directly to the sink.
//
// Damaged files are handled as in DALI. If the bytes end before the last requested row, the decode fails and names the
// row. Any other damage of the entropy-coded data that libjpeg can skip keeps the pixels that it produced. A
// progressive file that has its end marker and lacks scans, or a part of the last one, keeps its pixels, smoothed as
// libjpeg-turbo 3 smooths them, with a notice.
#include "codecs/jpeg_decoder.h"

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>  // jpeglib.h needs FILE and size_t
#include <cstring>

#include <jerror.h>
#include <jpeglib.h>

#include "base/notice.h"
#include "codecs/decode_errors.h"
#include "codecs/jpeg/lossless_decoder.h"
#include "codecs/jpeg_header.h"
#include "codecs/jpeg_smoothing.h"
#include "codecs/pixel_rows.h"

namespace penstock {

namespace {

constexpr int kMaxScans = 200;  // encoders write about 10; in a hostile file each scan can cost a whole pass
constexpr int64_t kMaxRowsAtOnce = 8;
constexpr int64_t kBufferBytes = 16 << 10;  // of rows at once: they should stay in L1

// All state of one decode. libjpeg leaves its functions by longjmp, so everything between setjmp and longjmp is plain
// data: the skipped frames have no destructors.
struct Session {
  jpeg_decompress_struct d{};
  jpeg_error_mgr errors{};
  jpeg_source_mgr source{};
  jmp_buf jump;
  bool ended = false;              // libjpeg asked for bytes after the last one
  bool premature = false;          // and needed them
  bool tolerant = false;           // then the decode goes on: DecodeParams::partial
  int64_t row = -1;                // the first that is not there, of a file with one scan
  size_t bytes = 0, scan_end = 0;  // of the file; where the last scan that is there ends
  JpegScanRecord scans;
  char message[JMSG_LENGTH_MAX] = "";

  Session() = default;
  Session(const Session&) = delete;
  ~Session() { jpeg_destroy_decompress(&d); }
};

Session& session_of(j_common_ptr c) { return *static_cast<Session*>(c->client_data); }

[[noreturn]] void leave(j_common_ptr c) {
  Session& s = session_of(c);
  c->err->format_message(c, s.message);
  longjmp(s.jump, 1);
}

void on_message(j_common_ptr c, int level) {
  Session& s = session_of(c);
  if (c->err->msg_code == JTRC_RST) s.scans.restart(s.d, true);
  if (level >= 0) return;
  ++c->err->num_warnings;
  if (s.ended && (c->err->msg_code == JWRN_HIT_MARKER || c->err->msg_code == JWRN_JPEG_EOF)) {
    if (!s.premature && !s.d.buffered_image)
      s.row = int64_t{s.d.input_iMCU_row} * s.d.max_v_samp_factor * s.d.min_DCT_scaled_size;
    s.premature = true;
    if (!s.tolerant) longjmp(s.jump, 1);
  }
  if (c->err->msg_code == JWRN_HIT_MARKER) s.scans.data_ended(s.d);
}

// libjpeg reads ahead, so a request for more bytes is not an error yet: it gets an end marker, and the warning about
// missing data decides.
boolean on_end(j_decompress_ptr d) {
  static const JOCTET end_marker[2] = {0xFF, JPEG_EOI};
  Session& s = session_of(reinterpret_cast<j_common_ptr>(d));
  constexpr int kReady = 202;  // DSTATE_READY: jpeg_read_header has returned
  if (d->global_state < kReady || (s.ended && !s.tolerant)) {
    s.premature = true;
    longjmp(s.jump, 1);
  }
  s.ended = true;
  d->src->next_input_byte = end_marker;
  d->src->bytes_in_buffer = 2;
  return TRUE;
}

void on_skip(j_decompress_ptr d, long count) {
  if (count <= 0) return;
  if (static_cast<size_t>(count) > d->src->bytes_in_buffer) {
    on_end(d);
    return;
  }
  d->src->next_input_byte += count;
  d->src->bytes_in_buffer -= count;
}

boolean on_wrong_restart(j_decompress_ptr d, int desired) {
  const boolean done = jpeg_resync_to_restart(d, desired);
  session_of(reinterpret_cast<j_common_ptr>(d)).scans.restart(*d, d->unread_marker == 0);
  return done;
}

void begin(Session& s, Bytes file) {
  s.d.err = jpeg_std_error(&s.errors);
  s.errors.error_exit = leave;
  s.errors.emit_message = on_message;
  s.errors.output_message = [](j_common_ptr) {};
  s.d.client_data = &s;
  jpeg_create_decompress(&s.d);
  s.source.init_source = [](j_decompress_ptr) {};
  s.source.fill_input_buffer = on_end;
  s.source.skip_input_data = on_skip;
  s.source.resync_to_restart = on_wrong_restart;
  s.source.term_source = [](j_decompress_ptr) {};
  s.source.next_input_byte = file.data();
  s.source.bytes_in_buffer = s.bytes = file.size();
  s.d.src = &s.source;
}

// Runs `steps`. Returns false if libjpeg left it by a jump, else true. `steps` owns nothing.
template <class Steps>
[[gnu::noinline]] bool guarded(Session& s, const Steps& steps) {
  if (setjmp(s.jump)) return false;
  steps();
  return true;
}

// Reads a file of several scans to its end, as jpeg_start_decompress does outside the buffered-image mode. Owns
// nothing.
void read_scans(Session& s) {
  auto& d = s.d;
  int got = JPEG_REACHED_SOS;  // jpeg_start_decompress has begun the first scan
  for (; got != JPEG_REACHED_EOI; got = jpeg_consume_input(&d)) {
    if (got == JPEG_SCAN_COMPLETED) {
      s.scans.end_scan(d);
      if (!s.ended) s.scan_end = s.bytes - d.src->bytes_in_buffer - (d.unread_marker ? 2 : 0);
    }
    if (got != JPEG_REACHED_SOS) continue;
    if (d.input_scan_number > kMaxScans) {
      std::snprintf(s.message, sizeof s.message, "more than %d scans", kMaxScans);
      longjmp(s.jump, 1);
    }
    s.scans.begin_scan(d);
  }
  if (s.ended) {  // without an end marker scans may be missing
    s.premature = true;
    if (!s.tolerant) longjmp(s.jump, 1);
  }
}

[[noreturn]] void report(const Session& s, int64_t rows, int64_t height) {
  if (s.premature && rows < 0) ends_early("JPEG: premature end of file in the headers");
  if (s.premature) ends_early("JPEG: premature end of file at row {} of {}", rows, height);
  bad_data("JPEG: {}", s.message);
}

// The format in which the samples leave libjpeg, and the remaining conversion.
struct Output {
  J_COLOR_SPACE space;
  bool cmyk = false;
  RowConversion conversion;
};

Output choose_output(const jpeg_decompress_struct& d, const DecodeParams& params) {
  Output o;
  o.conversion.dtype = params.dtype;
  o.conversion.type = params.type;
  o.conversion.channels = 3;
  if (d.num_components == 4) {
    o.cmyk = true;
    o.space = JCS_CMYK;
    if (params.type == ImageType::any_data) o.conversion.type = ImageType::rgb;
    return o;
  }
  const bool stored_gray = d.jpeg_color_space == JCS_GRAYSCALE;
  switch (params.type) {
    case ImageType::gray: o.space = JCS_GRAYSCALE; break;
    case ImageType::any_data: o.space = stored_gray ? JCS_GRAYSCALE : JCS_RGB; break;
    case ImageType::bgr: o.space = JCS_EXT_BGR; break;
    default: o.space = JCS_RGB;
  }
  if (o.space == JCS_GRAYSCALE) o.conversion.channels = 1;
  if (params.type != ImageType::ycbcr) o.conversion.type = ImageType::any_data;  // only the depth remains to convert
  return o;
}

struct Scratch {
  std::vector<uint8_t> rows, rgb, depth;
};

uint8_t* at_least(std::vector<uint8_t>& v, size_t bytes) {
  if (v.size() < bytes) v.resize(bytes);
  return v.data();
}

struct RowWork {
  const Output& output;
  const Region& region;
  const JpegWindow& window;
  const PixelSink& sink;
  int64_t samples = 0, buffer_row = 0, rows_at_once = 0;
  bool direct = false;  // libjpeg writes directly to the sink
  uint8_t *buffer = nullptr, *rgb = nullptr;
};

// Owns nothing: libjpeg may leave it by a jump.
void read_rows(jpeg_decompress_struct& d, const RowWork& w, std::vector<uint8_t>& scratch) {
  const int64_t first = w.region.y, last = first + w.region.height;
  auto* const to = static_cast<uint8_t*>(w.sink.data);
  if (w.window.skip > 0) jpeg_skip_scanlines(&d, w.window.skip);
  while (d.output_scanline < last) {
    JSAMPROW rows[kMaxRowsAtOnce];
    const int64_t y = d.output_scanline;
    const bool wanted = y >= first;
    const int64_t count = std::min(w.rows_at_once, (wanted ? last : first) - y);
    for (int64_t i = 0; i < count; ++i)
      rows[i] = w.direct && wanted ? to + (y - first + i) * w.sink.row_bytes : w.buffer + i * w.buffer_row;
    // Reads all of them before the first is used: reading what the vector units have just written stalls.
    for (int64_t got = 0; got < count;) got += jpeg_read_scanlines(&d, rows + got, count - got);
    if (w.direct || !wanted) continue;
    for (int64_t i = 0; i < count; ++i) {
      const uint8_t* in = rows[i] + (w.region.x - w.window.x) * w.samples;
      if (w.output.cmyk) {
        cmyk_to_rgb_row(in, w.region.width, d.saw_Adobe_marker, w.rgb);
        in = w.rgb;
      }
      convert_row(w.output.conversion, in, w.region.width, to + (y - first + i) * w.sink.row_bytes, scratch);
    }
  }
}

JpegHeader header_of(const DecodeTask& t) {
  const auto* kept = t.header.get<JpegOfLibrary>();
  return kept ? kept->header : read_jpeg_header(t.file);
}

class LibjpegTurbo final : public FileDecoder {
 public:
  const char* name() const override { return "jpeg/libjpeg-turbo"; }
  ImageInfo probe(Bytes file, ParsedHeader*) const override { return describe(read_jpeg_header(file)); }

  std::string cannot_decode(const DecodeTask& t) const override {
    const JpegHeader h = header_of(t);
    if (h.frame == jpeg::kLosslessFrame) return jpeg::cannot_decode_lossless(h);
    std::string reasons;
    auto add = [&](bool wrong, const std::string& reason) {
      if (wrong) reasons += (reasons.empty() ? "" : "; ") + reason;
    };
    add(h.precision != 8, fmt::format("{} bits per sample instead of 8", h.precision));
    add(h.components == 2, "two components");
    add((h.frame >= 0xC5 && h.frame <= 0xC7) || h.frame >= 0xCB,
        fmt::format("frame type {:02X} (hierarchical, or lossless with arithmetic codes)", h.frame));
    return reasons;
  }

  void decode(const DecodeTask& task, const Region& region, const PixelSink& sink) const override;
};

void LibjpegTurbo::decode(const DecodeTask& task, const Region& region, const PixelSink& sink) const {
  const Bytes file = task.file;
  const DecodeParams& params = task.params;
  if (!task.info.scales)  // lossless files do not scale: the others need no second check
    if (const JpegHeader h = header_of(task); h.frame == jpeg::kLosslessFrame)
      return jpeg::decode_lossless(file, h, params, region, sink);
  Session s;
  auto& d = s.d;
  Output output;
  JpegWindow window;
  if (!guarded(s, [&] {
        begin(s, file);
        s.tolerant = params.partial;
        jpeg_read_header(&d, TRUE);
        output = choose_output(d, params);
        d.out_color_space = output.space;
        d.dct_method = params.fast_idct ? JDCT_IFAST : JDCT_ISLOW;
        d.do_fancy_upsampling = params.fancy_upsampling;
        d.scale_num = static_cast<unsigned>(params.eighths);
        d.scale_denom = 8;
        d.buffered_image = jpeg_has_multiple_scans(&d);
        d.do_block_smoothing = FALSE;  // ours does not depend on the version that is linked
        jpeg_calc_output_dimensions(&d);
      }))
    report(s, -1, 0);
  const int64_t width = d.output_width, height = d.output_height;
  if (int64_t{d.image_width} * d.image_height > params.max_pixels || d.num_components != task.info.channels)
    bad_data("JPEG: the headers are inconsistent");
  if (region.y < 0 || region.x < 0 || region.height < 1 || region.width < 1 || region.height > height - region.y ||
      region.width > width - region.x)
    bad_argument("region ({}, {}) + ({}, {}) exceeds the image of {} x {}", region.y, region.x, region.height,
                 region.width, height, width);
  // Each block of the first component has at least one bit. So a small file with a huge frame fails before libjpeg
  // allocates memory for it.
  if (const auto& c = d.comp_info[0]; !d.arith_code && !params.partial) {
    const int64_t w = int64_t{d.image_width} * c.h_samp_factor / d.max_h_samp_factor;
    const int64_t h = int64_t{d.image_height} * c.v_samp_factor / d.max_v_samp_factor;
    if ((w / 8) * (h / 8) / 8 > static_cast<int64_t>(file.size()))
      ends_early("JPEG: premature end of file: {} bytes cannot hold {} x {} pixels", file.size(), d.image_height,
                 d.image_width);
  }
  bool smoothed = false;
  if (!guarded(s, [&] {
        jpeg_start_decompress(&d);
        if (d.buffered_image) {
          read_scans(s);
          smoothed = lacks_bits(d);
          if (smoothed) smooth_blocks(d, jpeg_read_coefficients(&d), s.scans);
          jpeg_start_output(&d, d.input_scan_number);
        }
        window = choose_jpeg_window(d, region);
        if (window.crop) {
          JDIMENSION x = window.x, w = window.width;
          jpeg_crop_scanline(&d, &x, &w);
          window.x = x;
          window.width = w;
        }
      })) {
    if (!s.tolerant || !s.ended || s.scan_end == 0 || s.scan_end >= file.size()) report(s, 0, height);
    DecodeTask whole_scans = task;  // the file ends in the tables of the next scan
    whole_scans.file = file.first(s.scan_end);
    return decode(whole_scans, region, sink);
  }
  if (smoothed && !s.premature)  // not an error for libjpeg, but not the picture that was stored
    notice("a progressive JPEG file ends before its last scans: the picture is smoothed as by libjpeg-turbo 3");

  thread_local Scratch scratch;
  RowWork work{output, region, window, sink};
  work.samples = d.output_components;
  work.direct = window.width == region.width && !output.cmyk && output.conversion.is_copy();
  work.buffer_row = (window.width * work.samples + 63) / 64 * 64;
  work.rows_at_once = std::clamp<int64_t>(kBufferBytes / work.buffer_row, 2, kMaxRowsAtOnce);
  // If a row is aligned to 32 bytes, libjpeg-turbo's color conversion writes past the caches; our rows are read at
  // once.
  work.buffer = at_least(scratch.rows, work.buffer_row * work.rows_at_once + 64);
  work.buffer += 40 - reinterpret_cast<uintptr_t>(work.buffer) % 32;
  if (output.cmyk) work.rgb = at_least(scratch.rgb, region.width * 3);
  if (!guarded(s, [&] { read_rows(d, work, scratch.depth); })) report(s, d.output_scanline, height);
  if (!s.premature) return;
  if (s.row < 0) throw KeptRows("JPEG: the file ends before its last scans: the picture is a coarse one");
  throw KeptRows(fmt::format("JPEG: the file ends at row {} of {}: the rest of the picture is gray", s.row, height));
}

}  // namespace

const FileDecoder& libjpeg_turbo_decoder() {
  static const LibjpegTurbo decoder;
  return decoder;
}

ImageInfo describe(const JpegHeader& h) {
  return {.height = h.height,
          .width = h.width,
          .channels = h.components,
          .orientation = h.orientation,
          .scales = h.frame != jpeg::kLosslessFrame};
}

JpegWindow choose_jpeg_window(const jpeg_decompress_struct& d, const Region& region) {
  const int64_t width = d.output_width, mcu_width = d.min_DCT_scaled_size * d.max_h_samp_factor;
  JpegWindow w;
  // At the edges of a crop chroma is upsampled as if the image ended there, which spoils one column. The margin of two
  // columns moves the crop by an iMCU only if the region begins or ends that close to a border of iMCUs. If a component
  // has a fourth or a third of the columns and the crop leaves it one sample, libjpeg-turbo chooses the upsampling of
  // all components again, by their few columns.
  const int64_t widest = d.max_h_samp_factor, margin = widest > 2 ? 2 * widest : widest > 1 ? 2 : 0;
  const int64_t left = std::max<int64_t>(0, (region.x - margin) / mcu_width * mcu_width);
  const int64_t right = std::min(width, region.x + region.width + margin);
  w.crop = left > 0 || right < width;
  w.x = left;
  w.width = right - left;
  w.skip = region.y;
  return w;
}

}  // namespace penstock
