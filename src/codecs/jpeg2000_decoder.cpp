// SPDX-License-Identifier: Apache-2.0
// JPEG 2000 through OpenJPEG: JP2 files and bare codestreams, samples of up to 16 bits (rescaled to 8, or to 16 for
// deeper samples), gray, RGB, sYCC (becomes RGB), palettes, alpha. Headers are checked before OpenJPEG sees them. For a
// region, only the code-blocks that it needs are decoded.
#include <openjpeg.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "codecs/decode_errors.h"
#include "codecs/image_format.h"
#include "codecs/jpeg2000_header.h"
#include "codecs/pixel_rows.h"

namespace penstock {

namespace {

struct Source {
  Bytes file;
  size_t at = 0;
};

OPJ_SIZE_T read(void* to, OPJ_SIZE_T bytes, void* user) {
  auto& s = *static_cast<Source*>(user);
  const size_t count = std::min(bytes, s.file.size() - s.at);
  if (count == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, s.file.data() + s.at, count);
  s.at += count;
  return count;
}

OPJ_OFF_T skip(OPJ_OFF_T bytes, void* user) {
  auto& s = *static_cast<Source*>(user);
  if (bytes < 0 || static_cast<size_t>(bytes) > s.file.size() - s.at) return -1;
  s.at += bytes;
  return bytes;
}

OPJ_BOOL seek(OPJ_OFF_T to, void* user) {
  auto& s = *static_cast<Source*>(user);
  if (to < 0 || static_cast<size_t>(to) > s.file.size()) return OPJ_FALSE;
  s.at = to;
  return OPJ_TRUE;
}

struct Session {
  std::unique_ptr<opj_stream_t, void (*)(opj_stream_t*)> stream{nullptr,
                                                                [](opj_stream_t* s) { opj_stream_destroy(s); }};
  std::unique_ptr<opj_codec_t, void (*)(opj_codec_t*)> codec{nullptr, [](opj_codec_t* c) { opj_destroy_codec(c); }};
  opj_image_t* image = nullptr;
  std::string message;

  ~Session() { opj_image_destroy(image); }
  [[noreturn]] void report(bool cut) const {
    const std::string text = message.empty() ? "the file cannot be decoded" : message;
    if (cut) ends_early("JPEG 2000: premature end of file: {}", text);
    bad_data("JPEG 2000: {}", text);
  }
};

void on_error(const char* text, void* user) {
  std::string& message = static_cast<Session*>(user)->message;
  if (message.empty()) message = text;
  while (!message.empty() && message.back() == '\n') message.pop_back();
}

// One component in the requested depth, however it is sampled.
struct Plane {
  const opj_image_comp_t* component = nullptr;
  int64_t low = 0, top = 255;

  explicit Plane(const opj_image_comp_t& c)
      : component(&c), low(c.sgnd ? -(int64_t{1} << (c.prec - 1)) : 0), top((int64_t{1} << c.prec) - 1) {}
  int64_t at(int64_t y, int64_t x, int64_t wanted_top) const {  // relative to the corner of the decoded part
    const auto& c = *component;
    const int64_t row = std::min<int64_t>(y / c.dy, c.h - 1), column = std::min<int64_t>(x / c.dx, c.w - 1);
    const int64_t v = std::clamp<int64_t>(c.data[row * c.w + column] - low, 0, top);
    return top == wanted_top ? v : (v * wanted_top + top / 2) / top;
  }
};

// Full-range ITU-R BT.601, which is what sYCC is (IEC 61966-2-1, amendment 1).
void to_rgb(int64_t* v, int64_t top) {
  const double y = static_cast<double>(v[0]), half = static_cast<double>(top + 1) / 2;
  const double cb = static_cast<double>(v[1]) - half, cr = static_cast<double>(v[2]) - half;
  const double rgb[3] = {y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb};
  for (int c = 0; c < 3; ++c) v[c] = std::clamp<int64_t>(std::llround(rgb[c]), 0, top);
}

class Openjpeg final : public DecoderByHeader<Jpeg2000Header> {
 public:
  const char* name() const override { return "jpeg2000/openjpeg"; }

  Jpeg2000Header read_header(Bytes file) const override { return read_jpeg2000_header(file); }
  ImageInfo describe(const Jpeg2000Header& h) const override {
    return {.height = h.height,
            .width = h.width,
            .channels = h.channels(),
            .dtype = h.depth() > 8 ? DType::uint16 : DType::uint8};
  }

  void decode_region(Bytes file, const Jpeg2000Header& h, const DecodeParams& params, const Region& region,
                     const PixelSink& sink) const override {
    if (h.width > params.max_pixels / h.height || h.components > params.times_max_pixels(16) / (h.width * h.height))
      bad_data("JPEG 2000: {} components of {} x {} samples are more than the limit", h.components, h.height, h.width);
    Session s;
    Source source{file};
    // If components have different grids, the whole picture is decoded: a region's edge would fall between samples.
    const Region part = h.subsampled ? Region{0, 0, h.height, h.width} : region;
    run(s, source, h, part);
    const int channels = static_cast<int>(s.image->numcomps);
    if (channels != h.channels())
      bad_data("JPEG 2000: decoded {} channels, but the header says {}", channels, h.channels());
    std::vector<Plane> planes;
    for (int c = 0; c < channels; ++c) {
      const opj_image_comp_t& component = s.image->comps[c];
      if (!component.data || !component.w || !component.h || component.prec < 1 || component.prec > 16)
        bad_data("JPEG 2000: component {} was not decoded", c);
      if (!h.subsampled && (component.w < part.width || component.h < part.height))
        bad_data("JPEG 2000: component {} has {} x {} samples instead of {} x {}", c, component.h, component.w,
                 part.height, part.width);
      planes.emplace_back(component);
    }
    const bool wide = h.depth() > 8, ycc = h.ycc && channels >= 3;
    const int64_t top = wide ? 65535 : 255;
    const RowConversion conversion{channels, wide ? DType::uint16 : DType::uint8, params.type, params.dtype};
    std::vector<uint8_t> row(static_cast<size_t>(part.width) * channels * (wide ? 2 : 1));
    const Region inside{region.y - part.y, region.x - part.x, region.height, region.width};
    std::vector<int64_t> pixel(channels);
    store_rows(conversion, inside, sink, [&](int64_t y) {
      for (int64_t x = 0; x < part.width; ++x) {
        for (int c = 0; c < channels; ++c) pixel[c] = planes[c].at(y, x, top);
        if (ycc) to_rgb(pixel.data(), top);
        for (int c = 0; c < channels; ++c) {
          const int64_t at = x * channels + c;
          if (wide) reinterpret_cast<uint16_t*>(row.data())[at] = static_cast<uint16_t>(pixel[c]);
          else row[at] = static_cast<uint8_t>(pixel[c]);
        }
      }
      return row.data();
    });
  }

 private:
  static void run(Session& s, Source& source, const Jpeg2000Header& h, const Region& part) {
    s.stream.reset(opj_stream_create(64 << 10, OPJ_TRUE));
    s.codec.reset(opj_create_decompress(h.boxed ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K));
    if (!s.stream || !s.codec) throw std::bad_alloc();
    opj_stream_set_user_data(s.stream.get(), &source, nullptr);
    opj_stream_set_user_data_length(s.stream.get(), source.file.size());
    opj_stream_set_read_function(s.stream.get(), read);
    opj_stream_set_skip_function(s.stream.get(), skip);
    opj_stream_set_seek_function(s.stream.get(), seek);
    opj_set_error_handler(s.codec.get(), on_error, &s);
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    const auto left = static_cast<OPJ_INT32>(h.left + part.x), top = static_cast<OPJ_INT32>(h.top + part.y);
    if (!opj_setup_decoder(s.codec.get(), &parameters) || !opj_decoder_set_strict_mode(s.codec.get(), OPJ_TRUE) ||
        !opj_read_header(s.stream.get(), s.codec.get(), &s.image) ||
        !opj_set_decode_area(s.codec.get(), s.image, left, top, static_cast<OPJ_INT32>(left + part.width),
                             static_cast<OPJ_INT32>(top + part.height)) ||
        !opj_decode(s.codec.get(), s.stream.get(), s.image))
      s.report(h.cut);
  }
};

const Openjpeg openjpeg;

using namespace std::string_view_literals;  // a signature contains zeros
PENSTOCK_IMAGE_FORMAT({
    .id = "jpeg2000",
    .title = "JPEG 2000",
    .place = 30,
    .signatures = {{0, "\0\0\0\x0CjP  "sv}, {0, "\xFF\x4F\xFF\x51"}},
    .suffixes = {".jp2", ".j2k", ".j2c", ".jpc", ".jpf", ".jpx"},
    .read_by_default = {60, {".jp2"}},
    .decoders = {&openjpeg},
    .taken = "JP2 files and bare codestreams, up to 16 bits, sYCC, palettes, alpha",
    .window_reads = "the code-blocks that it touches",
    .library = "OpenJPEG",
});

}  // namespace

}  // namespace penstock
