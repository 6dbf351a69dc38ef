// SPDX-License-Identifier: Apache-2.0
// WebP through libwebp: lossy and lossless, 3 channels or 4 with alpha; of an animation the first picture on its
// canvas. For a region of a still picture, only the necessary part is decoded.
#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>

#include "codecs/byte_order.h"
#include "codecs/decode_errors.h"
#include "codecs/image_format.h"
#include "codecs/jpeg_header.h"
#include "codecs/pixel_rows.h"

namespace penstock {

namespace {

struct Demuxed {
  explicit Demuxed(Bytes file) {
    const WebPData data{file.data(), file.size()};
    demuxer = WebPDemuxPartial(&data, nullptr);
  }
  Demuxed(const Demuxed&) = delete;
  ~Demuxed() { WebPDemuxDelete(demuxer); }
  WebPDemuxer* demuxer = nullptr;
};

// The chunk EXIF follows the pictures; its payload may begin with JPEG's "Exif\0\0".
int orientation_of(Bytes file) {
  const Demuxed d(file);
  if (!d.demuxer || !(WebPDemuxGetI(d.demuxer, WEBP_FF_FORMAT_FLAGS) & EXIF_FLAG)) return 1;
  WebPChunkIterator chunk;
  int orientation = 1;
  if (WebPDemuxGetChunk(d.demuxer, "EXIF", 1, &chunk)) {
    Bytes exif{chunk.chunk.bytes, chunk.chunk.size};
    if (exif.size() > 6 && exif[0] == 'E') exif = exif.subspan(6);
    orientation = exif_orientation(exif);
  }
  WebPDemuxReleaseChunkIterator(&chunk);
  return orientation;
}

[[noreturn]] void refuse(VP8StatusCode status, const char* where) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY: bad_data("WebP: out of memory{}", where);
    case VP8_STATUS_BITSTREAM_ERROR: bad_data("WebP: the bit stream is damaged{}", where);
    case VP8_STATUS_UNSUPPORTED_FEATURE: bad_data("WebP: libwebp does not support a feature of the file{}", where);
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA: ends_early("WebP: premature end of file{}", where);
    default: bad_data("WebP: the file cannot be decoded{}", where);
  }
}

WebPBitstreamFeatures features_of(Bytes file) {
  WebPBitstreamFeatures f;
  const VP8StatusCode status = WebPGetFeatures(file.data(), file.size(), &f);
  if (status != VP8_STATUS_OK) refuse(status, " in the headers");
  return f;
}

using Pixels = std::vector<uint8_t>;

// The part of a still picture that `region` needs: rows of `part`.width pixels.
Pixels decode_still(Bytes file, int height, int width, int channels, const Region& region, Region& part) {
  // Even edges, and two pixels more, because chroma upsampling reads its neighbors.
  part.y = std::max<int64_t>(region.y - 2, 0) & ~1, part.x = std::max<int64_t>(region.x - 2, 0) & ~1;
  part.height = std::min<int64_t>(region.y + region.height + 2, height) - part.y;
  part.width = std::min<int64_t>(region.x + region.width + 2, width) - part.x;
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) bad_data("WebP: libwebp has an incompatible version");
  config.options.use_cropping = 1;
  config.options.crop_left = static_cast<int>(part.x), config.options.crop_top = static_cast<int>(part.y);
  config.options.crop_width = static_cast<int>(part.width), config.options.crop_height = static_cast<int>(part.height);
  const int64_t row = part.width * channels;
  Pixels pixels(static_cast<size_t>(row * part.height));
  config.output.colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {pixels.data(), static_cast<int>(row), pixels.size()};
  const VP8StatusCode status = WebPDecode(file.data(), file.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (status != VP8_STATUS_OK) refuse(status, "");
  return pixels;
}

// The part of an animation's first picture that `region` needs, on a transparent canvas: decodes only that frame, and
// only what the region shows of it. libwebp's WebPAnimDecoder would need four whole canvases.
Pixels decode_first_frame(Bytes file, const Region& region) {
  const WebPData data{file.data(), file.size()};
  const std::unique_ptr<WebPDemuxer, void (*)(WebPDemuxer*)> demuxer(WebPDemux(&data), WebPDemuxDelete);
  WebPIterator frame{};
  const std::unique_ptr<WebPIterator, void (*)(WebPIterator*)> released(&frame, WebPDemuxReleaseIterator);
  if (!demuxer || !WebPDemuxGetFrame(demuxer.get(), 1, &frame) || !frame.complete)
    bad_data("WebP: the animation's first picture cannot be decoded");
  constexpr int kChannels = 4;
  Pixels canvas(static_cast<size_t>(kChannels * region.height * region.width));
  const int64_t top = std::max<int64_t>(region.y, frame.y_offset), left = std::max<int64_t>(region.x, frame.x_offset);
  const int64_t height = std::min<int64_t>(region.y + region.height, frame.y_offset + frame.height) - top;
  const int64_t width = std::min<int64_t>(region.x + region.width, frame.x_offset + frame.width) - left;
  if (height < 1 || width < 1) return canvas;
  const Region shown{top - frame.y_offset, left - frame.x_offset, height, width};
  Region part;
  const Pixels pixels =
      decode_still({frame.fragment.bytes, frame.fragment.size}, frame.height, frame.width, kChannels, shown, part);
  for (int64_t y = 0; y < height; ++y)
    std::copy_n(&pixels[((shown.y - part.y + y) * part.width + shown.x - part.x) * kChannels], width * kChannels,
                &canvas[((top - region.y + y) * region.width + left - region.x) * kChannels]);
  return canvas;
}

struct Header {
  WebPBitstreamFeatures features;
  int orientation = 1;
  int channels() const { return features.has_alpha || features.has_animation ? 4 : 3; }
};

class Libwebp final : public DecoderByHeader<Header> {
 public:
  const char* name() const override { return "webp/libwebp"; }

  Header read_header(Bytes file) const override {
    const WebPBitstreamFeatures f = features_of(file);
    if (f.width < 1 || f.height < 1) bad_data("WebP: the header says {} x {} pixels", f.height, f.width);
    return {f, orientation_of(file)};
  }
  ImageInfo describe(const Header& h) const override {
    return {
        .height = h.features.height, .width = h.features.width, .channels = h.channels(), .orientation = h.orientation};
  }

  void decode_region(Bytes file, const Header& h, const DecodeParams& params, const Region& region,
                     const PixelSink& sink) const override {
    const WebPBitstreamFeatures& f = h.features;
    if (f.width > params.max_pixels / f.height) bad_data("WebP: the headers are inconsistent");
    const int channels = h.channels();
    Region part = region;
    const Pixels pixels = f.has_animation ? decode_first_frame(file, region)
                                          : decode_still(file, f.height, f.width, channels, region, part);
    const RowConversion conversion{channels, DType::uint8, params.type, params.dtype};
    const Region inside{region.y - part.y, region.x - part.x, region.height, region.width};
    store_rows(conversion, inside, sink, [&](int64_t y) { return &pixels[y * part.width * channels]; });
  }
};

OwnEnd end_of_webp(Bytes file) {
  const uint64_t length = 8 + uint64_t{le32(&file[4])} + le32(&file[4]) % 2;
  return {length > file.size() ? OwnEnd::cut : OwnEnd::found, length};
}

const Libwebp libwebp;

PENSTOCK_IMAGE_FORMAT({
    .id = "webp",
    .title = "WebP",
    .place = 50,
    .signatures = {{8, "WEBPVP8"}},
    .suffixes = {".webp"},
    .read_by_default = {70, {".webp"}},
    .decoders = {&libwebp},
    .own_end = &end_of_webp,
    .taken = "lossy, lossless, alpha; the first picture of an animation",
    .window_reads = "up to its last row",
    .library = "libwebp",
});

}  // namespace

}  // namespace penstock
