// SPDX-License-Identifier: Apache-2.0
// OpenEXR through the C library of OpenEXR 3.1, which is opened at run time: the first part, scan lines or tiles (of
// these the full resolution), channels of float16 and float32. The picture is the data window. The declarations follow
// OpenEXR's headers of 3.1, to whose file name (libOpenEXRCore-3_1.so.30) its interface is bound.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codecs/decode_errors.h"
#include "codecs/image_format.h"
#include "codecs/pixel_rows.h"
#include "codecs/runtime_library.h"

namespace penstock {

namespace {

extern "C" {
struct exr_context;
using exr_error_callback = int32_t (*)(const exr_context*, int32_t, const char*, ...);
struct exr_initializer {
  size_t size;
  void (*on_error)(const exr_context*, int32_t, const char*);
  void* (*alloc)(size_t);
  void (*free)(void*);
  void* user_data;
  int64_t (*read)(const exr_context*, void* user, void* buffer, uint64_t size, uint64_t offset, exr_error_callback);
  int64_t (*query_size)(const exr_context*, void* user);
  void* write;
  void* destroy;
  int most_width, most_height, most_tile_width, most_tile_height, zip_level;
  float dwa_quality;
  int flags;
};
struct exr_box {
  int32_t min_x, min_y, max_x, max_y;
};
struct exr_channel {
  int32_t name_length, name_allocated;
  const char* name;
  int pixel_type;
  uint8_t is_linear, reserved[3];
  int32_t x_sampling, y_sampling;
};
struct exr_channels {
  int count, allocated;
  const exr_channel* entries;
};
struct exr_chunk {
  int32_t index, start_x, start_y, height, width;
  uint8_t level_x, level_y, type, compression;
  uint64_t data_offset, packed_size, unpacked_size, sample_count_offset, sample_count_size;
};
struct exr_coding_channel {
  const char* name;
  int32_t height, width, x_samples, y_samples;
  uint8_t is_linear;
  int8_t bytes;
  uint16_t type;
  int16_t user_bytes;
  uint16_t user_type;
  int32_t user_pixel_stride, user_line_stride;
  uint8_t* to;
};
struct exr_decode {
  exr_coding_channel* channels;
  int16_t channel_count;
  uint16_t flags;
  int part;
  const exr_context* context;
  exr_chunk chunk;
  void* user_data;
  void* packed;
  size_t packed_size;
  void* unpacked;
  size_t unpacked_size;
  void* packed_counts;
  size_t packed_counts_size;
  int32_t* counts;
  size_t counts_size;
  void* scratch_1;
  size_t scratch_1_size;
  void* scratch_2;
  size_t scratch_2_size;
  void* functions[6];
  exr_coding_channel room[5];
};
}

enum { kScanLines = 0, kTiles = 1 };                  // kinds of storage
enum { kNone = 0, kRle, kZips, kZip, kPiz, kPxr24 };  // kinds of compression
enum { kHalf = 1, kFloat = 2 };                       // types of samples
enum { kSilentHeader = 2, kNoReconstruction = 4 };    // flags
enum { kOutOfMemory = 1 };                            // errors
constexpr int kMostChannels = 512;
constexpr int64_t kHeaderBytes = 1 << 20;

struct Library : OptionalLibrary {
  int32_t (*start_read)(exr_context**, const char* name, const exr_initializer*);
  int32_t (*finish)(exr_context**);
  const char* (*message)(int32_t);
  void (*version)(int*, int*, int*, const char**);
  int32_t (*storage)(const exr_context*, int part, int*);
  int32_t (*channels)(const exr_context*, int part, const exr_channels**);
  int32_t (*compression)(const exr_context*, int part, int*);
  int32_t (*data_window)(const exr_context*, int part, exr_box*);
  int32_t (*lines_of_chunk)(const exr_context*, int part, int32_t*);
  int32_t (*tile_sizes)(const exr_context*, int part, int level_x, int level_y, int32_t*, int32_t*);
  int32_t (*line_chunk)(const exr_context*, int part, int y, exr_chunk*);
  int32_t (*tile_chunk)(const exr_context*, int part, int x, int y, int level_x, int level_y, exr_chunk*);
  int32_t (*begin)(const exr_context*, int part, const exr_chunk*, exr_decode*);
  int32_t (*choose)(const exr_context*, int part, exr_decode*);
  int32_t (*update)(const exr_context*, int part, const exr_chunk*, exr_decode*);
  int32_t (*run)(const exr_context*, int part, exr_decode*);
  int32_t (*end)(const exr_context*, exr_decode*);

  Library() : OptionalLibrary(open_codec_library("PENSTOCK_OPENEXR", {"libOpenEXRCore-3_1.so.30"})) {
    find(start_read, "exr_start_read");
    find(finish, "exr_finish");
    find(message, "exr_get_default_error_message");
    find(version, "exr_get_library_version");
    find(storage, "exr_get_storage");
    find(channels, "exr_get_channels");
    find(compression, "exr_get_compression");
    find(data_window, "exr_get_data_window");
    find(lines_of_chunk, "exr_get_scanlines_per_chunk");
    find(tile_sizes, "exr_get_tile_sizes");
    find(line_chunk, "exr_read_scanline_chunk_info");
    find(tile_chunk, "exr_read_tile_chunk_info");
    find(begin, "exr_decoding_initialize");
    find(choose, "exr_decoding_choose_default_routines");
    find(update, "exr_decoding_update");
    find(run, "exr_decoding_run");
    find(end, "exr_decoding_destroy");
  }
  std::string named() const {
    int major = 0, minor = 0, patch = 0;
    const char* extra = nullptr;
    version(&major, &minor, &patch, &extra);
    return fmt::format("OpenEXR {}.{}.{}", major, minor, patch);
  }
};

const Library& library() {
  static const Library loaded;
  if (!loaded.why_not().empty())
    no_decoder("OpenEXR files need the library of OpenEXR 3.1 (Debian: libopenexr-3-1-30), which was not found: {}",
               loaded.why_not());
  return loaded;
}

// What the library may allocate at once, on this thread: its functions for memory get no argument of ours.
thread_local size_t largest_block = 0;
// Of damaged data, less may be decompressed than a block holds: the rest is 0, not what was in memory.
void* allocate(size_t size) { return size <= largest_block ? std::calloc(1, size) : nullptr; }

// A file that the library has opened. It reads through us, so that we know whether it read past the end.
class OpenFile {
 public:
  OpenFile(Bytes file, int64_t largest) : lib_(library()), file_(file) {
    largest_block = static_cast<size_t>(largest);
    exr_initializer how{};
    how.size = sizeof how;
    how.on_error = [](const exr_context*, int32_t, const char* text) { said() = text ? text : ""; };
    how.alloc = &allocate;
    how.free = &std::free;
    how.user_data = this;
    how.read = &OpenFile::read;
    how.zip_level = -2, how.dwa_quality = -1;  // the library's own
    how.flags = kSilentHeader | kNoReconstruction;
    said().clear();
    const int32_t code = lib_.start_read(&context_, "picture", &how);
    if (code != 0) {
      close();
      refuse(code, "the header");
    }
    reads_header_ = ran_out_ = false;
  }
  OpenFile(const OpenFile&) = delete;
  ~OpenFile() { close(); }

  void check(int32_t code, const std::string& where) const {
    if (code != 0 || ran_out_) refuse(code, where);  // 3.1.5 does not compare how much it has read of raw rows
  }
  const Library& lib() const { return lib_; }
  const exr_context* get() const { return context_; }
  Bytes bytes() const { return file_; }

 private:
  static std::string& said() {
    thread_local std::string text;
    return text;
  }
  [[noreturn]] void refuse(int32_t code, const std::string& where) const {
    if (ran_out_) ends_early("OpenEXR: premature end of file in {}", where);
    if (code == kOutOfMemory) bad_data("OpenEXR: {} needs more memory than a picture of the limit", where);
    const char* text = said().empty() ? lib_.message(code) : said().c_str();
    bad_data("OpenEXR: {} finds {} damaged: {}", lib_.named(), where, text ? text : "");
  }
  void close() {
    if (context_) lib_.finish(&context_);
    context_ = nullptr;
  }
  static int64_t read(const exr_context*, void* user, void* buffer, uint64_t size, uint64_t offset,
                      exr_error_callback) {
    auto* self = static_cast<OpenFile*>(user);
    const uint64_t there = offset < self->file_.size() ? self->file_.size() - offset : 0;
    // Headers are read in blocks, of which the last one of a small file is shorter.
    if (self->reads_header_ ? there == 0 : size > there) self->ran_out_ = true;
    const uint64_t n = std::min(size, there);
    if (n) std::memcpy(buffer, self->file_.data() + offset, n);
    return static_cast<int64_t>(n);
  }

  const Library& lib_;
  Bytes file_;
  exr_context* context_ = nullptr;
  bool reads_header_ = true, ran_out_ = false;
};

struct Header {
  int64_t height = 0, width = 0;
  exr_box window{};
  bool tiled = false;
  std::vector<std::string> names;  // of the channels, in the order of the decoded picture

  int channels() const { return static_cast<int>(names.size()); }
};

// R, G, B and A, or Y and A, of the picture itself or else of the first layer that has them ("left.R"); then the other
// channels in the order of the file, which is that of their names.
std::vector<std::string> ordered(const std::vector<std::string>& names) {
  const auto layer_of = [](const std::string& name) {
    const size_t dot = name.rfind('.');
    return dot == name.npos ? std::string() : name.substr(0, dot + 1);
  };
  std::vector<std::string> layers{""}, first;
  for (const std::string& name : names) layers.push_back(layer_of(name));
  const auto has = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
  for (const std::string& layer : layers) {
    if (has(layer + "R") && has(layer + "G") && has(layer + "B")) first = {layer + "R", layer + "G", layer + "B"};
    else if (has(layer + "Y") && !has(layer + "RY")) first = {layer + "Y"};
    else continue;
    if (has(layer + "A")) first.push_back(layer + "A");
    break;
  }
  for (const std::string& name : names)
    if (std::ranges::find(first, name) == first.end()) first.push_back(name);
  return first;
}

Header header_of(const OpenFile& file) {
  const Library& lib = file.lib();
  Header h;
  int storage = 0;
  file.check(lib.storage(file.get(), 0, &storage), "the header");
  if (storage != kScanLines && storage != kTiles) no_decoder("OpenEXR: deep pictures are not supported");
  h.tiled = storage == kTiles;
  int compression = 0;
  file.check(lib.compression(file.get(), 0, &compression), "the header");
  // Of B44, 3.1.5 returns other pixels than OpenEXR 3.5 (it reads memory that it has not written), and it lacks DWA.
  if (compression < kNone || compression > kPxr24)
    no_decoder("OpenEXR: the compression {} (B44, B44A, DWAA, DWAB) is not supported; ZIP and PIZ are", compression);
  file.check(lib.data_window(file.get(), 0, &h.window), "the header");
  h.width = int64_t{h.window.max_x} - h.window.min_x + 1, h.height = int64_t{h.window.max_y} - h.window.min_y + 1;
  if (h.width < 1 || h.height < 1) bad_data("OpenEXR: the header says {} x {} pixels", h.height, h.width);
  const exr_channels* list = nullptr;
  file.check(lib.channels(file.get(), 0, &list), "the header");
  if (!list || list->count < 1 || list->count > kMostChannels)
    bad_data("OpenEXR: {} channels are not between 1 and {}", list ? list->count : 0, kMostChannels);
  std::vector<std::string> names;
  for (int i = 0; i < list->count; ++i) {
    const exr_channel& c = list->entries[i];
    const std::string name(c.name, static_cast<size_t>(c.name_length));
    if (c.pixel_type != kHalf && c.pixel_type != kFloat)
      no_decoder("OpenEXR: the channel {} has integers of 32 bits, which are not supported", name);
    if (c.x_sampling != 1 || c.y_sampling != 1)
      no_decoder("OpenEXR: the channel {} has fewer samples than the picture has pixels, which is not supported", name);
    names.push_back(name);
  }
  h.names = ordered(names);
  return h;
}

// Decodes a row of chunks, those of scan lines or of tiles, at a time.
class ChunkRows {
 public:
  ChunkRows(const OpenFile& file, const Header& h, const Region& region, int64_t largest)
      : file_(file), h_(h), region_(region), largest_(static_cast<uint64_t>(largest)) {
    const Library& lib = file.lib();
    int32_t width = 0, height = 0;
    if (h.tiled) file.check(lib.tile_sizes(file.get(), 0, 0, 0, &width, &height), "the header");
    else file.check(lib.lines_of_chunk(file.get(), 0, &height), "the header");
    if (height < 1 || (h.tiled && width < 1)) bad_data("OpenEXR: the header says tiles of {} x {}", height, width);
    tile_width_ = width;
    height_ = std::min<int64_t>(height, h.height), stride_ = height;
    const int64_t row = h.width * h.channels() * int64_t{sizeof(float)};
    if (row > INT32_MAX || row > largest / height_)
      bad_data("OpenEXR: {} rows of {} bytes are more than the limit of {}", height_, row, largest);
    row_.resize(static_cast<size_t>(h.width * h.channels()));
  }
  ChunkRows(const ChunkRows&) = delete;
  ~ChunkRows() {
    if (begun_) file_.lib().end(file_.get(), &decode_);
  }

  const void* row(int64_t y) {
    const int64_t chunk = y / stride_;
    if (chunk != held_) {
      if (h_.tiled) {
        for (int64_t x = region_.x / tile_width_; x * tile_width_ < region_.x + region_.width; ++x) read_tile(x, chunk);
      } else {
        read_lines(chunk);
      }
      held_ = chunk;
    }
    const int channels = h_.channels();
    const float* in = &planes_[static_cast<size_t>((y - chunk * stride_) * h_.width)];
    if (channels == 1) return in;
    for (int c = 0; c < channels; ++c, in += height_ * h_.width)
      for (int64_t x = region_.x; x < region_.x + region_.width; ++x)
        row_[static_cast<size_t>(x * channels + c)] = in[x];
    return row_.data();
  }

 private:
  std::string at_row(int64_t y) const { return fmt::format("row {} of {}", y, h_.height); }

  void read_lines(int64_t chunk) {
    const int64_t y = chunk * stride_;
    exr_chunk info{};
    file_.check(file_.lib().line_chunk(file_.get(), 0, static_cast<int>(h_.window.min_y + y), &info), at_row(y));
    if (info.width != h_.width || info.start_y != h_.window.min_y + y) bad_data("OpenEXR: a chunk is at another place");
    decode(info, y, 0);
  }
  void read_tile(int64_t column, int64_t chunk) {
    const int64_t y = chunk * stride_, x = column * tile_width_;
    exr_chunk info{};
    file_.check(file_.lib().tile_chunk(file_.get(), 0, static_cast<int>(column), static_cast<int>(chunk), 0, 0, &info),
                at_row(y));
    if (info.width > h_.width - x) bad_data("OpenEXR: a tile is larger than the picture");
    decode(info, y, x);
  }
  void decode(const exr_chunk& info, int64_t y, int64_t x) {
    const Library& lib = file_.lib();
    if (info.height < 1 || info.width < 1 || info.height > height_ || info.height > h_.height - y)
      bad_data("OpenEXR: a chunk is larger than the picture");
    if (info.unpacked_size > largest_)
      bad_data("OpenEXR: a chunk of {} bytes is more than the limit of {}", info.unpacked_size, largest_);
    if (info.packed_size > file_.bytes().size()) ends_early("OpenEXR: premature end of file at {}", at_row(y));
    file_.check((begun_ ? lib.update : lib.begin)(file_.get(), 0, &info, &decode_), at_row(y));
    const bool first = !begun_;
    begun_ = true;
    const int channels = h_.channels();
    if (planes_.empty()) planes_.resize(static_cast<size_t>(h_.width * channels * height_));  // the file has a chunk
    if (decode_.channel_count != channels) bad_data("OpenEXR: a chunk has other channels");
    for (int i = 0; i < channels; ++i) {
      exr_coding_channel& c = decode_.channels[i];
      const auto place = std::ranges::find(h_.names, c.name) - h_.names.begin();
      c.user_type = kFloat, c.user_bytes = sizeof(float);
      c.user_pixel_stride = sizeof(float);
      c.user_line_stride = static_cast<int32_t>(h_.width * int64_t{sizeof(float)});
      c.to = reinterpret_cast<uint8_t*>(&planes_[static_cast<size_t>(place * height_ * h_.width + x)]);
    }
    if (first) file_.check(lib.choose(file_.get(), 0, &decode_), at_row(y));
    file_.check(lib.run(file_.get(), 0, &decode_), at_row(y));
  }

  const OpenFile& file_;
  const Header& h_;
  const Region region_;
  const uint64_t largest_;
  int64_t tile_width_ = 0, height_ = 0, stride_ = 1, held_ = -1;
  std::vector<float> planes_, row_;  // where it interleaves four channels, 3.1.5 exchanges them
  exr_decode decode_{};
  bool begun_ = false;
};

class OpenExr final : public DecoderByHeader<Header> {
 public:
  const char* name() const override { return "exr/openexr"; }
  Header read_header(Bytes file) const override { return header_of(OpenFile(file, largest_of_header(file))); }
  ImageInfo describe(const Header& h) const override {
    return {.height = h.height, .width = h.width, .channels = h.channels(), .dtype = DType::float32};
  }

  void decode_region(Bytes bytes, const Header& h, const DecodeParams& params, const Region& region,
                     const PixelSink& sink) const override {
    if (h.width > params.max_pixels / h.height) bad_data("OpenEXR: the headers are inconsistent");
    const int64_t largest = std::max(params.times_max_pixels(16), largest_of_header(bytes));
    const OpenFile file(bytes, largest);
    ChunkRows rows(file, h, region, largest);
    store_rows(RowConversion{h.channels(), DType::float32, params.type, params.dtype}, region, sink,
               [&](int64_t y) { return rows.row(y); });
  }

 private:
  // No value of a header is longer than the file.
  static int64_t largest_of_header(Bytes file) { return static_cast<int64_t>(file.size()) + kHeaderBytes; }
};

const OpenExr openexr;

PENSTOCK_IMAGE_FORMAT({
    .id = "exr",
    .title = "OpenEXR",
    .place = 64,
    .signatures = {{0, "\x76\x2F\x31\x01"}},
    .suffixes = {".exr"},
    .decoders = {&openexr},
    .taken = "the data window of the first part; scan lines and tiles; float16 and float32; RGB, gray, alpha, layers, "
             "up to 512 channels",
    .window_reads = "the blocks of scan lines, or the tiles, that it touches",
    .library = "OpenEXR 3.1, loaded at run time",
    .needs = "OpenEXR 3.1",
});

}  // namespace

std::string require_openexr() { return library().named(); }

}  // namespace penstock
