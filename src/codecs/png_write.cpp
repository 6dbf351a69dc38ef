// SPDX-License-Identifier: Apache-2.0
#include "codecs/png_write.h"

#include <csetjmp>

#include <png.h>

#include "base/error.h"
#include "codecs/encode_image.h"

namespace penstock {

namespace {

struct PngWriter {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::vector<uint8_t> file;
  bool no_memory = false;
  jmp_buf jump;
  ~PngWriter() { png_destroy_write_struct(&png, &info); }
};

int color_type(int channels) {
  constexpr int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                           PNG_COLOR_TYPE_RGB_ALPHA};
  return types[channels - 1];
}

int filter_mask(PngFilter f) {
  constexpr int masks[] = {PNG_FILTER_NONE, PNG_FILTER_SUB,   PNG_FILTER_UP,
                           PNG_FILTER_AVG,  PNG_FILTER_PAETH, PNG_ALL_FILTERS};
  return masks[static_cast<int>(f)];
}

[[gnu::noinline]] bool write(PngWriter& w, const Picture& p, const PngSettings& s, int64_t row_bytes) {
  if (setjmp(w.jump)) return false;
  w.png = png_create_write_struct(
      PNG_LIBPNG_VER_STRING, &w,
      [](png_structp png, png_const_charp) { longjmp(static_cast<PngWriter*>(png_get_error_ptr(png))->jump, 1); },
      [](png_structp, png_const_charp) {});
  if (!w.png || !(w.info = png_create_info_struct(w.png))) return false;
  png_set_write_fn(
      w.png, &w,
      [](png_structp png, png_bytep data, size_t count) {
        auto& to = *static_cast<PngWriter*>(png_get_io_ptr(png));
        try {
          to.file.insert(to.file.end(), data, data + count);
          return;
        } catch (const std::bad_alloc&) {
          to.no_memory = true;
        }
        png_error(png, "");
      },
      nullptr);
  png_set_user_limits(w.png, 0x7FFFFFFF, 0x7FFFFFFF);
  png_set_IHDR(w.png, w.info, static_cast<png_uint_32>(p.width), static_cast<png_uint_32>(p.height), p.bits,
               color_type(p.channels), PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(w.png, s.level);
  png_set_filter(w.png, PNG_FILTER_TYPE_BASE, filter_mask(s.filter));
  if (s.strategy >= 0) png_set_compression_strategy(w.png, s.strategy);
  png_write_info(w.png, w.info);
  if (p.bits == 16) png_set_swap(w.png);  // a file has the high byte first
  for (int64_t y = 0; y < p.height; ++y) png_write_row(w.png, static_cast<const uint8_t*>(p.pixels) + y * row_bytes);
  png_write_end(w.png, nullptr);
  return true;
}

std::vector<uint8_t> written(const Picture& p, const PngSettings& settings, int64_t row_bytes) {
  constexpr int64_t longest = 0x7FFFFFFF;
  if (p.channels < 1 || p.channels > 4) bad_argument("PNG has from 1 to 4 channels, got {}", p.channels);
  if (p.height < 1 || p.width < 1 || p.height > longest || p.width > longest / (p.channels * p.bits / 8))
    bad_argument("PNG has from 1 to {} pixels along an axis and as many bytes in a row, got {} x {} with {} channels",
                 longest, p.height, p.width, p.channels);
  PngWriter w;
  if (!write(w, p, settings, row_bytes ? row_bytes : p.width * p.channels * p.bits / 8))
    fail(w.no_memory ? ErrorKind::out_of_memory : ErrorKind::internal, "libpng could not write {} x {} pixels",
         p.height, p.width);
  return std::move(w.file);
}

}  // namespace

std::vector<uint8_t> encode_png(const Picture& picture, const PngSettings& settings) {
  return written(picture, settings, 0);
}

std::vector<uint8_t> encode_png(const uint8_t* pixels, int64_t height, int64_t width, int channels, int64_t row_bytes) {
  if (channels != 1 && channels != 3)
    bad_argument("a PNG file needs uint8 pixels with 1 or 3 channels, got {} x {} x {}", height, width, channels);
  // Pictures for inspection: speed matters more than size.
  return written({pixels, height, width, channels}, {.level = 4}, row_bytes);
}

}  // namespace penstock
