// SPDX-License-Identifier: Apache-2.0
#include "codecs/png_write.h"

#include <csetjmp>

#include <png.h>

#include "base/error.h"

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

[[gnu::noinline]] bool write(PngWriter& w, const uint8_t* pixels, int64_t height, int64_t width, int channels,
                             int64_t row_bytes) {
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
  png_set_IHDR(w.png, w.info, width, height, 8, channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(w.png, 4);  // pictures for inspection: speed matters more than size
  png_write_info(w.png, w.info);
  for (int64_t y = 0; y < height; ++y) png_write_row(w.png, pixels + y * row_bytes);
  png_write_end(w.png, nullptr);
  return true;
}

}  // namespace

std::vector<uint8_t> encode_png(const uint8_t* pixels, int64_t height, int64_t width, int channels, int64_t row_bytes) {
  constexpr int64_t longest = 0x7FFFFFFF;
  if (height < 1 || width < 1 || height > longest || width > longest / 3 || (channels != 1 && channels != 3))
    bad_argument("a PNG file needs uint8 pixels with 1 or 3 channels, got {} x {} x {}", height, width, channels);
  PngWriter w;
  if (!write(w, pixels, height, width, channels, row_bytes ? row_bytes : width * channels))
    fail(w.no_memory ? ErrorKind::out_of_memory : ErrorKind::internal, "libpng could not write {} x {} pixels", height,
         width);
  return std::move(w.file);
}

}  // namespace penstock
