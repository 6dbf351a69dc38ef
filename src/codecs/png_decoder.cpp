// SPDX-License-Identifier: Apache-2.0
// PNG through libpng. Alpha is dropped unless any_data requests it; a tRNS chunk is ignored, as in DALI. A palette
// gives RGB. Gamma and color profiles are not applied. Damage is an error: a wrong checksum of a chunk that pixels
// depend on, a wrong deflate stream, a file that ends early. For a region, only the rows that it reads count.
#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstring>

#include <png.h>

#include "codecs/byte_order.h"
#include "codecs/decode_errors.h"
#include "codecs/image_format.h"
#include "codecs/png_header.h"
#include "codecs/pixel_rows.h"

namespace penstock {

namespace {

constexpr int64_t kDeflateRatio = 1032;  // no deflate stream expands more
constexpr png_alloc_size_t kLargestChunk = 8 << 20;
constexpr size_t kReadAtOnce = 8192;  // libpng's default

// Plain data, for the reason given in jpeg_decoder.cpp.
struct Session {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const uint8_t* next = nullptr;
  size_t left = 0;
  bool premature = false;
  char message[128] = "";
  jmp_buf jump;

  Session() = default;
  Session(const Session&) = delete;
  ~Session() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  auto& s = *static_cast<Session*>(png_get_error_ptr(png));
  std::strncpy(s.message, text, sizeof s.message - 1);
  longjmp(s.jump, 1);
}

void on_read(png_structp png, png_bytep to, size_t count) {
  auto& s = *static_cast<Session*>(png_get_io_ptr(png));
  if (count > s.left) {
    s.premature = true;
    png_error(png, "");
  }
  std::memcpy(to, s.next, count);
  s.next += count;
  s.left -= count;
}

template <class Steps>
[[gnu::noinline]] bool guarded(Session& s, const Steps& steps) {
  if (setjmp(s.jump)) return false;
  steps();
  return true;
}

[[noreturn]] void report(const Session& s, int64_t row, int64_t height) {
  if (s.premature && row < 0) ends_early("PNG: premature end of file in the headers");
  if (s.premature) ends_early("PNG: premature end of file at row {} of {}", row, height);
  if (row < 0) bad_data("PNG: {}", s.message);
  bad_data("PNG: {} at row {} of {}", s.message, row, height);
}

void begin(Session& s, Bytes file, const PngHeader& header) {
  s.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, on_error, [](png_structp, png_const_charp) {});
  if (!s.png || !(s.info = png_create_info_struct(s.png))) {
    std::strcpy(s.message, "out of memory");
    longjmp(s.jump, 1);
  }
  s.next = file.data();
  s.left = file.size();
  png_set_read_fn(s.png, &s, on_read);
  // The probe has checked the size. Texts, profiles and so on are skipped, not inflated: they may be decompression
  // bombs.
  png_set_user_limits(s.png, 0x7FFFFFFF, 0x7FFFFFFF);
  png_set_chunk_malloc_max(s.png, kLargestChunk);
  png_set_keep_unknown_chunks(s.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_keep_unknown_chunks(s.png, PNG_HANDLE_CHUNK_NEVER, reinterpret_cast<png_const_bytep>("tRNS"), 1);
  png_read_info(s.png, s.info);
  if (header.color_type == 3) png_set_palette_to_rgb(s.png);
  if (header.color_type == 0 && header.bits < 8) png_set_expand_gray_1_2_4_to_8(s.png);
  if (header.bits == 16 && std::endian::native == std::endian::little) png_set_swap(s.png);
}

struct Scratch {
  std::vector<uint8_t> row, converted, depth;
};

uint8_t* at_least(std::vector<uint8_t>& v, size_t bytes) {
  if (v.size() < bytes) v.resize(bytes);
  return v.data();
}

struct Job {
  const PngHeader& header;
  const RowConversion& conversion;
  const Region& region;
  uint8_t* to;
  int64_t to_row;
  int64_t in_bytes, out_bytes;  // per pixel
  int64_t row = -1;             // being read, for messages; -1: a header
};

void read_plain(Session& s, Job& j, Scratch& scratch) {
  const Region& r = j.region;
  const bool direct = j.conversion.is_copy() && r.width == j.header.width;
  uint8_t* const buffer = at_least(scratch.row, j.header.width * j.in_bytes);
  if (!guarded(s, [&] {
        for (j.row = 0; j.row < r.y + r.height; ++j.row) {
          const bool wanted = j.row >= r.y;
          uint8_t* const out = wanted ? j.to + (j.row - r.y) * j.to_row : nullptr;
          png_read_row(s.png, direct && wanted ? out : buffer, nullptr);
          if (wanted && !direct) convert_row(j.conversion, buffer + r.x * j.in_bytes, r.width, out, scratch.depth);
        }
        if (r.y + r.height == j.header.height) png_read_end(s.png, nullptr);  // the checksums of the last chunk
      }))
    report(s, j.row, j.header.height);
}

// Each of the seven passes is a coarse picture; its pixels are copied to their positions one by one.
void read_interlaced(Session& s, Job& j, Scratch& scratch) {
  const Region& r = j.region;
  const int64_t width = j.header.width, height = j.header.height;
  uint8_t* const buffer = at_least(scratch.row, width * j.in_bytes);
  uint8_t* const converted = at_least(scratch.converted, width * j.out_bytes);
  auto read_pass = [&](int pass) {
    const int64_t x0 = PNG_PASS_START_COL(pass), y0 = PNG_PASS_START_ROW(pass);
    const int64_t x_step = PNG_PASS_COL_OFFSET(pass), y_step = PNG_PASS_ROW_OFFSET(pass);
    const int64_t columns = width > x0 ? (width - x0 + x_step - 1) / x_step : 0;
    if (columns == 0) return;
    const int64_t first = r.x > x0 ? (r.x - x0 + x_step - 1) / x_step : 0;
    const int64_t last = std::min(columns, (std::max<int64_t>(r.x + r.width - x0, 0) + x_step - 1) / x_step);
    for (j.row = y0; j.row < height; j.row += y_step) {
      if (pass == 6 && j.row >= r.y + r.height) return;
      png_read_row(s.png, buffer, nullptr);
      if (j.row < r.y || j.row >= r.y + r.height || first >= last) continue;
      convert_row(j.conversion, buffer + first * j.in_bytes, last - first, converted, scratch.depth);
      uint8_t* out = j.to + (j.row - r.y) * j.to_row + (x0 + first * x_step - r.x) * j.out_bytes;
      for (int64_t i = 0; i < last - first; ++i, out += x_step * j.out_bytes)
        std::memcpy(out, converted + i * j.out_bytes, j.out_bytes);
    }
  };
  if (!guarded(s, [&] {
        for (int pass = 0; pass < 7; ++pass) read_pass(pass);
        if (r.y + r.height == height) png_read_end(s.png, nullptr);
      }))
    report(s, j.row, height);
}

void read_picture(Bytes file, Job& job, size_t read_at_once) {
  Session s;
  if (!guarded(s, [&] {
        begin(s, file, job.header);
        png_set_compression_buffer_size(s.png, read_at_once);
        png_start_read_image(s.png);
      }))
    report(s, -1, job.header.height);
  thread_local Scratch scratch;
  job.header.interlaced ? read_interlaced(s, job, scratch) : read_plain(s, job, scratch);
}

// Byte by byte: what libpng requests at once and does not get in full is lost.
void read_what_is_there(Bytes file, Job& job) {
  for (int64_t y = 0; y < job.region.height; ++y)
    std::memset(job.to + y * job.to_row, 0, static_cast<size_t>(job.region.width * job.out_bytes));
  job.row = -1;
  try {
    read_picture(file, job, 1);
  } catch (const EndsEarly& e) {
    const int64_t row = job.row, height = job.header.height;
    if (row < 0) throw;
    if (row >= height) throw KeptRows("PNG: the file ends before its end marker");
    if (job.header.interlaced) throw KeptRows("PNG: the file ends early: pixels of its last passes are 0");
    throw KeptRows(fmt::format("PNG: the file ends at row {} of {}: the rest of the picture is 0", row, height));
  }
}

class Libpng final : public DecoderByHeader<PngHeader> {
 public:
  const char* name() const override { return "png/libpng"; }

  PngHeader read_header(Bytes file) const override { return read_png_header(file); }
  ImageInfo describe(const PngHeader& h) const override {
    return {.height = h.height,
            .width = h.width,
            .channels = h.channels(),
            .dtype = h.bits == 16 ? DType::uint16 : DType::uint8,
            .orientation = h.orientation};
  }

  void decode_region(Bytes file, const PngHeader& h, const DecodeParams& params, const Region& region,
                     const PixelSink& sink) const override {
    const int64_t bits = h.bits * (h.color_type == 3 ? 1 : h.channels());
    if (h.width > params.max_pixels / h.height) bad_data("PNG: the headers are inconsistent");
    if (!params.partial && h.width * h.height * bits / 8 / kDeflateRatio > static_cast<int64_t>(file.size()))
      ends_early("PNG: premature end of file: {} bytes cannot hold {} x {} pixels", file.size(), h.height, h.width);
    const RowConversion conversion{h.channels(), h.bits == 16 ? DType::uint16 : DType::uint8, params.type,
                                   params.dtype};
    Job job{h,
            conversion,
            region,
            static_cast<uint8_t*>(sink.data),
            sink.row_bytes,
            h.channels() * (h.bits == 16 ? 2 : 1),
            conversion.output_bytes(1)};
    try {
      read_picture(file, job, kReadAtOnce);
    } catch (const EndsEarly&) {
      if (!params.partial) throw;
      read_what_is_there(file, job);
    }
  }
};

OwnEnd end_of_png(Bytes file) {
  for (uint64_t at = 8; file.size() - at >= 12;) {
    const uint64_t length = be32(&file[at]);
    if (length > file.size() - at - 12) break;
    at += 12 + length;
    if (!std::memcmp(&file[at - length - 8], "IEND", 4)) return {OwnEnd::found, at};
  }
  return {};  // libpng detects this too
}

const Libpng libpng;

PENSTOCK_IMAGE_FORMAT({
    .id = "png",
    .title = "PNG",
    .place = 20,
    .signatures = {{0, "\x89PNG\r\n\x1A\n"}},
    .suffixes = {".png"},
    .read_by_default = {20, {".png"}},
    .keeps_rows = true,
    .decoders = {&libpng},
    .own_end = &end_of_png,
    .taken = "all",
    .window_reads = "up to its last row",
    .library = "libpng",
});

}  // namespace

}  // namespace penstock
