// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <webp/encode.h>

#include "base/error.h"
#include "codecs/encode_image.h"

namespace penstock {
namespace {

// The encoder's own memory, whatever way its user leaves.
struct WebpPicture {
  WebPPicture picture;
  WebPMemoryWriter writer;
  WebpPicture() {
    WebPMemoryWriterInit(&writer);
    if (!WebPPictureInit(&picture)) fail(ErrorKind::internal, "libwebp has another version than its header");
    picture.writer = WebPMemoryWrite, picture.custom_ptr = &writer;
  }
  ~WebpPicture() {
    WebPPictureFree(&picture);
    WebPMemoryWriterClear(&writer);
  }
  WebpPicture(const WebpPicture&) = delete;
};

WebPConfig config_of(const WebpSettings& s) {
  WebPConfig c;
  if (!WebPConfigInit(&c)) fail(ErrorKind::internal, "libwebp has another version than its header");
  c.quality = s.quality, c.method = s.method, c.lossless = s.lossless;
  c.exact = s.lossless;  // also the colors of transparent pixels
  if (!WebPValidateConfig(&c)) bad_argument("libwebp refuses quality {} with method {}", s.quality, s.method);
  return c;
}

}  // namespace

std::vector<uint8_t> encode_webp(const Picture& p, const WebpSettings& settings) {
  constexpr int64_t kLongest = WEBP_MAX_DIMENSION;
  if (p.bits != 8 || (p.channels != 3 && p.channels != 4))
    bad_argument("WebP has 3 or 4 channels of uint8, got {} channels of {} bits", p.channels, p.bits);
  if (p.height < 1 || p.width < 1 || p.height > kLongest || p.width > kLongest)
    bad_argument("WebP has from 1 to {} pixels along an axis, got {} x {}: resize or crop the image before", kLongest,
                 p.height, p.width);
  const WebPConfig config = config_of(settings);
  WebpPicture w;
  w.picture.use_argb = settings.lossless;
  w.picture.height = static_cast<int>(p.height), w.picture.width = static_cast<int>(p.width);
  const auto* pixels = static_cast<const uint8_t*>(p.pixels);
  const int stride = static_cast<int>(p.width) * p.channels;
  const auto import = p.channels == 3 ? &WebPPictureImportRGB : &WebPPictureImportRGBA;
  if (!import(&w.picture, pixels, stride) || !WebPEncode(&config, &w.picture)) {
    const bool memory = w.picture.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY ||
                        w.picture.error_code == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY;
    fail(memory ? ErrorKind::out_of_memory : ErrorKind::internal, "libwebp could not encode {} x {}: error {}",
         p.height, p.width, static_cast<int>(w.picture.error_code));
  }
  return {w.writer.mem, w.writer.mem + w.writer.size};
}

}  // namespace penstock
