// SPDX-License-Identifier: Apache-2.0
// TIFF through libtiff: the first page, strips or tiles, interleaved or planar, with every compression that libtiff
// supports. Samples of 1, 2, 4, 8 and 16 bits and float32; gray, RGB, palettes (3 channels), CMYK (becomes RGB), each
// with extra channels (at most 512), which any_data returns. libtiff converts YCbCr, CIE L*a*b* and others to RGB of 8
// bits. The tag Orientation counts as EXIF's. For a region, only the strips or tiles that it touches are read.
#include "codecs/tiff_decoder.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "codecs/image_format.h"
#include "codecs/pixel_rows.h"
#include "codecs/tiff_file.h"

namespace penstock {

namespace {

constexpr int kMostChannels = 512;
constexpr int64_t kHeaderBytes = 64 << 20;  // of one tag's values

struct Header {
  int64_t height = 0, width = 0;
  int bits = 1, samples = 1, format = SAMPLEFORMAT_UINT, photometric = PHOTOMETRIC_MINISBLACK, orientation = 1;
  int compression = COMPRESSION_NONE;
  bool planar = false, tiled = false;
  bool by_libtiff = false;   // libtiff makes RGBA of 8 bits
  bool rgb_of_jpeg = false;  // libjpeg converts the stored YCbCr

  bool palette() const { return photometric == PHOTOMETRIC_PALETTE; }
  bool cmyk() const { return photometric == PHOTOMETRIC_SEPARATED; }
  int channels() const { return by_libtiff || palette() || cmyk() ? 3 : samples; }
  DType sample_type() const {
    return format == SAMPLEFORMAT_IEEEFP ? DType::float32 : bits == 16 ? DType::uint16 : DType::uint8;
  }
  DType stored() const { return by_libtiff || palette() ? DType::uint8 : sample_type(); }
};

// A file that libtiff has opened, and so has parsed. Its handle serves one decode at a time: who uses it takes it.
class OpenFile {
 public:
  explicit OpenFile(std::unique_ptr<TiffFile> file) : file_(file.release()) {}
  OpenFile(OpenFile&& other) noexcept : file_(other.file_.exchange(nullptr)) {}
  ~OpenFile() { delete file_.load(); }
  // nullptr if it is taken, or not a file of these bytes.
  std::unique_ptr<TiffFile> take(Bytes bytes) const {
    std::unique_ptr<TiffFile> file(file_.exchange(nullptr));
    return file && file->bytes().data() == bytes.data() && file->bytes().size() == bytes.size() ? std::move(file)
                                                                                                : nullptr;
  }
  void give_back(std::unique_ptr<TiffFile> file) const { delete file_.exchange(file.release()); }

 private:
  mutable std::atomic<TiffFile*> file_;
};

struct ParsedTiff {
  Header header;
  OpenFile file;
};

void set_up(const TiffFile& file, const Header& h) {
  if (h.rgb_of_jpeg) TIFFSetField(file.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
}

Header read_header(const TiffFile& file) {
  TIFF* t = file.get();
  Header h;
  h.width = file.tag<uint32_t>(TIFFTAG_IMAGEWIDTH, 0);
  h.height = file.tag<uint32_t>(TIFFTAG_IMAGELENGTH, 0);
  h.bits = file.tag<uint16_t>(TIFFTAG_BITSPERSAMPLE, 1);
  h.samples = file.tag<uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1);
  h.format = file.tag<uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  if (h.format == SAMPLEFORMAT_VOID) h.format = SAMPLEFORMAT_UINT;
  h.orientation = file.tag<uint16_t>(TIFFTAG_ORIENTATION, 1);
  if (h.orientation < 1 || h.orientation > 8) h.orientation = 1;
  h.planar = file.tag<uint16_t>(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  h.tiled = TIFFIsTiled(t);
  uint16_t photometric = 0;
  h.photometric = TIFFGetField(t, TIFFTAG_PHOTOMETRIC, &photometric) ? photometric
                  : h.samples >= 3                                   ? PHOTOMETRIC_RGB
                                                                     : PHOTOMETRIC_MINISBLACK;
  constexpr int64_t kLongest = 0x7FFFFFFF;
  if (h.width < 1 || h.height < 1 || h.width > kLongest || h.height > kLongest)
    bad_data("TIFF: the header says {} x {} pixels", h.height, h.width);
  if (h.samples < 1 || h.samples > kMostChannels)
    bad_data("TIFF: {} channels are not between 1 and {}", h.samples, kMostChannels);
  h.compression = file.tag<uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (!TIFFIsCODECConfigured(h.compression)) bad_data("TIFF: this libtiff lacks compression {}", h.compression);

  h.rgb_of_jpeg = h.photometric == PHOTOMETRIC_YCBCR && h.compression == COMPRESSION_JPEG && h.bits == 8 &&
                  h.samples == 3 && !h.planar;
  set_up(file, h);
  if (h.rgb_of_jpeg) h.photometric = PHOTOMETRIC_RGB;
  const bool gray = h.photometric == PHOTOMETRIC_MINISBLACK || h.photometric == PHOTOMETRIC_MINISWHITE;
  const bool whole = h.format == SAMPLEFORMAT_UINT && (h.bits == 8 || h.bits == 16);
  const bool small = h.format == SAMPLEFORMAT_UINT && (h.bits == 1 || h.bits == 2 || h.bits == 4) && h.samples == 1;
  const bool real = h.format == SAMPLEFORMAT_IEEEFP && h.bits == 32 && h.photometric != PHOTOMETRIC_MINISWHITE;
  const bool direct = (gray && (whole || small || real)) ||
                      (h.photometric == PHOTOMETRIC_RGB && h.samples >= 3 && (whole || real)) ||
                      (h.palette() && h.samples == 1 && (small || (whole && h.bits == 8))) ||
                      (h.cmyk() && h.samples >= 4 && whole && h.bits == 8);
  char why[1024] = "";
  if (!direct && !(h.by_libtiff = TIFFRGBAImageOK(t, why)))
    bad_data("TIFF: {} samples of {} bits, format {}, photometric interpretation {} are not supported: {}", h.samples,
             h.bits, h.format, h.photometric, why);
  return h;
}

ParsedTiff parse(Bytes bytes) {
  auto file = std::make_unique<TiffFile>(bytes, kHeaderBytes);
  const Header h = read_header(*file);
  return {h, OpenFile(std::move(file))};
}

// The handle that the header was read with. Its limit cannot change, and libtiff may allocate a multiple of a block's
// bytes at once (128 times for the runs of a fax's row): if blocks are large, libtiff opens the file again.
std::unique_ptr<TiffFile> file_to_decode(Bytes bytes, const ParsedTiff& parsed, int64_t largest) {
  constexpr int64_t kSmallBlock = kHeaderBytes / 256;
  auto file = parsed.file.take(bytes);
  if (file) {
    const uint64_t block = parsed.header.tiled ? TIFFTileSize64(file->get()) : TIFFStripSize64(file->get());
    if (block <= kSmallBlock || largest == kHeaderBytes) return file;
  }
  file = std::make_unique<TiffFile>(bytes, largest);
  set_up(*file, parsed.header);
  return file;
}

struct Samples {  // rows of the picture from `first` on, with pixels of `pixel` bytes
  std::vector<uint8_t> bytes;
  int64_t first = 0, rows = 0, row = 0, pixel = 0;
};

// Copies row y of a block to the samples, from column x on. Samples of less than 8 bits get one byte each.
void place(const Header& h, const uint8_t* in, int64_t count, int plane, uint8_t* to, int64_t pixel) {
  const int64_t sample = h.bits <= 8 ? 1 : h.bits / 8;
  if (h.bits < 8) {
    for (int64_t x = 0; x < count; ++x)
      to[x] = in[x * h.bits / 8] >> (8 - h.bits - x * h.bits % 8) & ((1 << h.bits) - 1);
  } else if (!h.planar) {
    std::memcpy(to, in, count * pixel);
  } else {
    for (int64_t x = 0; x < count; ++x) std::memcpy(to + x * pixel + plane * sample, in + x * sample, sample);
  }
}

// For blocks that are missing in the file's tables of strips or tiles, libtiff reads from the start of the file.
void check_block(const TiffFile& file, uint32_t block) {
  if (TIFFGetStrileOffset(file.get(), block) == 0) bad_data("TIFF: a strip or tile is not in the file");
}

Samples read_samples(const TiffFile& file, const Header& h, const Region& region, int64_t largest) {
  TIFF* t = file.get();
  Samples s;
  s.pixel = h.samples * (h.bits <= 8 ? 1 : h.bits / 8);
  s.row = h.width * s.pixel;
  s.first = region.y, s.rows = region.height;
  if (s.row > largest / s.rows)
    bad_data("TIFF: {} rows of {} bytes are more than the limit of {}", s.rows, s.row, largest);
  int64_t block_height, block_width = h.width;
  if (h.tiled) {
    block_width = file.tag<uint32_t>(TIFFTAG_TILEWIDTH, 0);
    block_height = file.tag<uint32_t>(TIFFTAG_TILELENGTH, 0);
  } else {
    block_height = std::min<int64_t>(file.tag<uint32_t>(TIFFTAG_ROWSPERSTRIP, 0xFFFFFFFF), h.height);
  }
  const int64_t bytes = h.tiled ? TIFFTileSize64(t) : TIFFStripSize64(t);
  const int64_t block_row = h.tiled ? TIFFTileRowSize64(t) : TIFFScanlineSize64(t);
  const int64_t needed = (block_width * h.bits * (h.planar ? 1 : h.samples) + 7) / 8;
  if (block_width < 1 || block_height < 1 || bytes < 1 || bytes > largest || block_row < needed ||
      block_row > bytes / block_height)
    bad_data("TIFF: the header says strips or tiles of {} x {} pixels and {} bytes", block_height, block_width, bytes);
  const auto each_block = [&](const auto& visit) {  // (number of the block, its plane, row and column)
    for (int plane = 0; plane < (h.planar ? h.samples : 1); ++plane)
      for (int64_t y0 = region.y / block_height * block_height; y0 < region.y + region.height; y0 += block_height)
        for (int64_t x0 = region.x / block_width * block_width; x0 < region.x + region.width; x0 += block_width) {
          const auto row = static_cast<uint32_t>(y0);
          const auto column = static_cast<uint32_t>(x0);
          visit(h.tiled ? TIFFComputeTile(t, column, row, 0, plane) : TIFFComputeStrip(t, row, plane), plane, y0, x0);
        }
  };
  each_block([&](uint32_t number, int, int64_t, int64_t) { check_block(file, number); });  // before memory is allocated
  s.bytes.resize(static_cast<size_t>(s.row * s.rows));
  std::vector<uint8_t> block(static_cast<size_t>(bytes));
  each_block([&](uint32_t number, int plane, int64_t y0, int64_t x0) {
    const tmsize_t got = h.tiled ? TIFFReadEncodedTile(t, number, block.data(), bytes)
                                 : TIFFReadEncodedStrip(t, number, block.data(), bytes);
    const int64_t y1 = std::min(y0 + block_height, region.y + region.height);
    if (got < (y1 - y0) * block_row)
      file.refuse("a strip or tile is too short", fmt::format(" at row {} of {}", y0, h.height));
    const int64_t count = std::min(block_width, h.width - x0);
    for (int64_t y = std::max(y0, region.y); y < y1; ++y)
      place(h, &block[(y - y0) * block_row], count, plane, &s.bytes[(y - region.y) * s.row + x0 * s.pixel], s.pixel);
  });
  return s;
}

struct Palette {
  uint8_t color[256][3] = {};
  Palette(const TiffFile& file, int bits) {
    uint16_t* map[3];
    if (!TIFFGetField(file.get(), TIFFTAG_COLORMAP, &map[0], &map[1], &map[2]))
      bad_data("TIFF: the palette is missing");
    bool wide = false;  // some writers store 8 bits where 16 are required
    for (int i = 0; i < 1 << bits; ++i) wide |= (map[0][i] | map[1][i] | map[2][i]) > 255;
    for (int i = 0; i < 1 << bits; ++i)
      for (int c = 0; c < 3; ++c)
        color[i][c] = static_cast<uint8_t>(wide ? (map[c][i] * 255u + 32767) / 65535 : map[c][i]);
  }
};

template <class T>
void invert(uint8_t* row, int64_t pixels, int64_t channels) {  // only gray, not the extra channels
  for (int64_t x = 0; x < pixels; ++x) {
    T v;
    std::memcpy(&v, row + x * channels * sizeof(T), sizeof v);
    v = static_cast<T>(~v);
    std::memcpy(row + x * channels * sizeof(T), &v, sizeof v);
  }
}

class Libtiff final : public DecoderByHeader<ParsedTiff> {
 public:
  const char* name() const override { return "tiff/libtiff"; }
  ParsedTiff read_header(Bytes bytes) const override { return parse(bytes); }
  ImageInfo describe(const ParsedTiff& parsed) const override {
    const Header& h = parsed.header;
    return {.height = h.height,
            .width = h.width,
            .channels = h.channels(),
            .dtype = h.stored(),
            .orientation = h.orientation};
  }

  void decode_region(Bytes bytes, const ParsedTiff& parsed, const DecodeParams& params, const Region& region,
                     const PixelSink& sink) const override {
    const Header& h = parsed.header;
    if (h.width > params.max_pixels / h.height) bad_data("TIFF: the headers are inconsistent");
    const int64_t largest = std::max(params.times_max_pixels(16), kHeaderBytes);
    const std::unique_ptr<TiffFile> opened = file_to_decode(bytes, parsed, largest);
    const TiffFile& file = *opened;
    const RowConversion conversion{h.channels(), h.stored(), params.type, params.dtype};
    if (h.by_libtiff) return decode_by_libtiff(file, h, conversion, region, sink);
    Samples s = read_samples(file, h, region, largest);
    if (h.palette()) {
      const Palette palette(file, h.bits);
      return store(s, h, conversion, region, sink, 3, [&](uint8_t* in, uint8_t* out) {
        for (int64_t x = 0; x < h.width; ++x) std::memcpy(out + 3 * x, palette.color[in[x]], 3);
        return out;
      });
    }
    store(s, h, conversion, region, sink, 3, [&](uint8_t* in, uint8_t* out) {
      if (h.bits < 8)
        for (int64_t x = 0; x < h.width; ++x) in[x] = static_cast<uint8_t>(in[x] * 255 / ((1 << h.bits) - 1));
      if (h.photometric == PHOTOMETRIC_MINISWHITE)
        h.bits == 16 ? invert<uint16_t>(in, h.width, h.samples) : invert<uint8_t>(in, h.width, h.samples);
      if (!h.cmyk()) return in;
      for (int64_t x = 0; x < h.width; ++x) cmyk_to_rgb_row(in + x * h.samples, 1, false, out + 3 * x);
      return out;
    });
  }

 private:
  // finish(samples, room for a row) returns the row.
  template <class Finish>
  static void store(Samples& s, const Header& h, const RowConversion& conversion, const Region& region,
                    const PixelSink& sink, int out_channels, const Finish& finish) {
    std::vector<uint8_t> row(static_cast<size_t>(h.width) * out_channels);
    store_rows(conversion, region, sink,
               [&](int64_t y) { return finish(&s.bytes[(y - s.first) * s.row], row.data()); });
  }

  static void decode_by_libtiff(const TiffFile& file, const Header& h, const RowConversion& conversion,
                                const Region& region, const PixelSink& sink) {
    TIFFRGBAImage image;
    const uint32_t blocks = h.tiled ? TIFFNumberOfTiles(file.get()) : TIFFNumberOfStrips(file.get());
    for (uint32_t i = 0; i < blocks; ++i) check_block(file, i);
    char why[1024] = "";
    if (!TIFFRGBAImageBegin(&image, file.get(), 1, why)) bad_data("TIFF: {}", why);
    image.orientation = image.req_orientation = ORIENTATION_TOPLEFT;  // rotated later
    std::vector<uint32_t> raster(static_cast<size_t>(h.width) * h.height);
    const bool done =
        TIFFRGBAImageGet(&image, raster.data(), static_cast<uint32_t>(h.width), static_cast<uint32_t>(h.height));
    TIFFRGBAImageEnd(&image);
    if (!done) file.refuse("the file cannot be decoded");
    std::vector<uint8_t> row(static_cast<size_t>(h.width) * 3);
    store_rows(conversion, region, sink, [&](int64_t y) {
      for (int64_t x = 0; x < h.width; ++x) {
        const uint32_t p = raster[y * h.width + x];
        row[3 * x] = TIFFGetR(p), row[3 * x + 1] = TIFFGetG(p), row[3 * x + 2] = TIFFGetB(p);
      }
      return row.data();
    });
  }
};

const Libtiff libtiff;

using namespace std::string_view_literals;  // signatures contain zeros
PENSTOCK_IMAGE_FORMAT({
    .id = "tiff",
    .title = "TIFF",
    .place = 40,
    .signatures = {{0, "II*\0"sv}, {0, "MM\0*"sv}, {0, "II+\0"sv}, {0, "MM\0+"sv}},
    .suffixes = {".tif", ".tiff"},
    .read_by_default = {40, {".tif", ".tiff"}},
    .decoders = {&libtiff},
    .taken = "the first page; strips, tiles, planes; 1 to 16 bits, float32; gray, RGB, palette, CMYK and up to 512 "
             "channels; others as RGB",
    .window_reads = "the strips or tiles that it touches",
    .library = "libtiff",
});

}  // namespace

std::string tiff_is_unusual(Bytes bytes, const ParsedHeader& read) {
  const auto* kept = read.get<ParsedTiff>();
  const std::optional<ParsedTiff> own = kept ? std::nullopt : std::optional(parse(bytes));
  const ParsedTiff& parsed = kept ? *kept : *own;
  const Header& h = parsed.header;
  std::string reasons;
  auto add = [&](const std::string& reason) { reasons += (reasons.empty() ? "" : "; ") + reason; };
  constexpr int kLossless[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,
                               COMPRESSION_PACKBITS};
  if (std::ranges::find(kLossless, h.compression) == std::end(kLossless))
    add(fmt::format("the compression is {}", h.compression));
  if (h.bits != 8 || h.format != SAMPLEFORMAT_UINT)
    add(fmt::format("samples have {} bits of format {}", h.bits, h.format));
  if (h.photometric != PHOTOMETRIC_RGB && h.photometric != PHOTOMETRIC_MINISBLACK)
    add(fmt::format("the photometric interpretation is {}", h.photometric));
  if (h.planar && h.samples > 1) add("channels are in separate planes");
  if (h.samples > 16) add(fmt::format("there are more than 16 channels: {}", h.samples));
  auto opened = parsed.file.take(bytes);
  if (!opened) opened = std::make_unique<TiffFile>(bytes, kHeaderBytes);
  TIFF* const t = opened->get();
  const uint32_t blocks = h.tiled ? TIFFNumberOfTiles(t) : TIFFNumberOfStrips(t);
  for (uint32_t i = 0; i < blocks; ++i) {
    const uint64_t at = TIFFGetStrileOffset(t, i), length = TIFFGetStrileByteCount(t, i);
    if (length > 0 && at <= bytes.size() && length <= bytes.size() - at) continue;
    add("a strip or tile is not in the file");
    break;
  }
  parsed.file.give_back(std::move(opened));
  return reasons;
}

}  // namespace penstock
