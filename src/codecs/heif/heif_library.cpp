// SPDX-License-Identifier: Apache-2.0
// The declarations below follow libheif's header and cover the functions that we call, of versions from 1.15 on.
#include "codecs/heif/heif_library.h"

#include <sched.h>

#include <cstring>

#include "codecs/decode_errors.h"
#include "codecs/heif/box_reader.h"
#include "codecs/runtime_library.h"

namespace penstock::heif {

namespace {

extern "C" {
struct heif_context;
struct heif_image_handle;
struct heif_image;
struct heif_result {
  int code, detail;
  const char* message;
};
struct heif_options {  // the library allocates them; later versions have more members at the end
  uint8_t version, ignore_transformations;
  void* callbacks[3];
  void* user;
  uint8_t convert_to_8_bits, strict;  // strict: leaks if a color is unknown, and detects no more damage
  const char* decoder;
  uint8_t conversion_version;  // members from here on exist if version >= 5
  int downsampling, upsampling;
  uint8_t no_other_sampling;
};
}

enum Format { kFormatHevc = 1, kFormatAv1 = 4 };
enum ColorSpace { kRgb = 1, kMonochrome = 2 };
enum Sampling { kNearest = 1 };
constexpr int kRgbPlanes = 3, kGrayPlanes = 0;  // of chroma: 4:4:4, 4:0:0
constexpr int kLumaChannel = 0, kRed = 3, kGreen = 4, kBlue = 5;
constexpr uint32_t kOldest = 0x010F0000;

struct Library : OptionalLibrary {
  uint32_t (*version)();
  heif_result (*init)(void*);
  int (*has_decoder)(int format);
  heif_context* (*create)();
  void (*destroy)(heif_context*);
  void (*set_threads)(heif_context*, int);
  heif_result (*read)(heif_context*, const void*, size_t, const void*);
  heif_result (*primary)(heif_context*, heif_image_handle**);
  void (*release_handle)(const heif_image_handle*);
  heif_options* (*make_options)();
  void (*free_options)(heif_options*);
  heif_result (*decode)(const heif_image_handle*, heif_image**, int color_space, int chroma, const heif_options*);
  void (*release_image)(const heif_image*);
  int (*width)(const heif_image*, int channel);
  int (*height)(const heif_image*, int channel);
  int (*bits)(const heif_image*, int channel);
  const uint8_t* (*plane)(const heif_image*, int channel, int* row_bytes);
  std::string too_old;

  Library() : OptionalLibrary(open_codec_library("PENSTOCK_HEIF", {"libheif.so.1"})) {
    find(version, "heif_get_version_number");
    find(init, "heif_init");
    find(has_decoder, "heif_have_decoder_for_format");
    find(create, "heif_context_alloc");
    find(destroy, "heif_context_free");
    find(set_threads, "heif_context_set_max_decoding_threads");
    find(read, "heif_context_read_from_memory_without_copy");
    find(primary, "heif_context_get_primary_image_handle");
    find(release_handle, "heif_image_handle_release");
    find(make_options, "heif_decoding_options_alloc");
    find(free_options, "heif_decoding_options_free");
    find(decode, "heif_decode_image");
    find(release_image, "heif_image_release");
    find(width, "heif_image_get_width");
    find(height, "heif_image_get_height");
    find(bits, "heif_image_get_bits_per_pixel_range");
    find(plane, "heif_image_get_plane_readonly");
    if (!why_not().empty()) return;
    if (const uint32_t v = version(); v < kOldest)
      too_old = fmt::format("version {}.{} is too old", v >> 24, v >> 16 & 255);
    else init(nullptr);
  }
};

const Library& library(Codec codec) {
  static const Library loaded;
  const char* kind = codec == Codec::av1 ? "AVIF" : "HEIC";
  const std::string& why = loaded.why_not().empty() ? loaded.too_old : loaded.why_not();
  if (!why.empty())
    no_decoder("{} files need libheif of version 1.15 or later (Debian: libheif1), which was not found: {}", kind, why);
  if (!loaded.has_decoder(codec == Codec::av1 ? kFormatAv1 : kFormatHevc))
    no_decoder("{} files need an {} decoder in libheif, which has none (Debian from 13 on: libheif-plugin-{})", kind,
               codec == Codec::av1 ? "AV1" : "HEVC", codec == Codec::av1 ? "dav1d" : "libde265");
  return loaded;
}

// dav1d starts as many threads as its caller may use processors; here every worker is such a caller.
class OneProcessor {
 public:
  OneProcessor() {
    cpu_set_t one;
    CPU_ZERO(&one);
    const int here = sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    CPU_SET(here, &one);
    narrowed_ = sched_setaffinity(0, sizeof one, &one) == 0;
  }
  OneProcessor(const OneProcessor&) = delete;
  ~OneProcessor() {
    if (narrowed_) sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_;
  bool narrowed_ = false;
};

class Writer {
 public:
  Writer& number(uint64_t v, int count) {
    for (int shift = 8 * (count - 1); shift >= 0; shift -= 8) bytes.push_back(static_cast<uint8_t>(v >> shift));
    return *this;
  }
  Writer& copy(Bytes b) {
    bytes.insert(bytes.end(), b.begin(), b.end());
    return *this;
  }
  template <class Fill> Writer& box(uint32_t type, const Fill& fill) {
    const size_t at = bytes.size();
    number(0, 4).number(type, 4);
    fill();
    const auto size = static_cast<uint32_t>(bytes.size() - at);
    for (int i = 0; i < 4; ++i) bytes[at + i] = static_cast<uint8_t>(size >> (24 - 8 * i));
    return *this;
  }
  std::vector<uint8_t> bytes;
};

// Versions before 1.19 return color planes only as RGB. So the color box declares them as RGB (G, B, R in place of Y,
// Cb, Cr, full range): they then come unchanged, with the samples of smaller planes repeated. All versions do this.
std::vector<uint8_t> file_of(Codec codec, const CodedItem& item, const std::vector<uint8_t>& coded) {
  const bool av1 = codec == Codec::av1;
  const uint32_t brand = av1 ? four("avif") : four("heic");
  Writer w;
  w.box(four("ftyp"), [&] { w.number(brand, 4).number(0, 4).number(brand, 4).number(four("mif1"), 4); });
  size_t place = 0;
  w.box(four("meta"), [&] {
    w.number(0, 4);
    w.box(four("hdlr"), [&] { w.number(0, 8).number(four("pict"), 4).number(0, 8).number(0, 5); });
    w.box(four("pitm"), [&] { w.number(0, 4).number(1, 2); });
    w.box(four("iloc"), [&] {
      w.number(0, 4).number(0x4400, 2).number(1, 2).number(1, 2).number(0, 2).number(1, 2);
      place = w.bytes.size();
      w.number(0, 4).number(coded.size(), 4);
    });
    w.box(four("iinf"), [&] {
      w.number(0, 4).number(1, 2);
      w.box(four("infe"), [&] {
        w.number(0x02000000, 4).number(1, 2).number(0, 2).number(av1 ? four("av01") : four("hvc1"), 4).number(0, 1);
      });
    });
    w.box(four("iprp"), [&] {
      w.box(four("ipco"), [&] {
        w.box(av1 ? four("av1C") : four("hvcC"), [&] { w.copy(item.configuration); });
        w.box(four("ispe"), [&] { w.number(0, 4).number(item.width, 4).number(item.height, 4); });
        w.box(four("colr"), [&] { w.number(four("nclx"), 4).number(2, 2).number(2, 2).number(0, 2).number(128, 1); });
      });
      w.box(four("ipma"),
            [&] { w.number(0, 4).number(1, 4).number(1, 2).number(3, 1).number(0x81, 1).number(2, 1).number(3, 1); });
    });
  });
  w.box(four("mdat"), [&] {
    for (int i = 0; i < 4; ++i) w.bytes[place + i] = static_cast<uint8_t>(w.bytes.size() >> (24 - 8 * i));
    w.copy(coded);
  });
  return std::move(w.bytes);
}

template <class T, class F> auto owned(T* p, F* release) { return std::unique_ptr<T, F*>(p, release); }

}  // namespace

DecodedItem decode_item(Codec codec, const CodedItem& item, const std::vector<uint8_t>& coded,
                        const CodedHeader& header) {
  const Library& lib = library(codec);
  const char* kind = codec == Codec::av1 ? "AVIF" : "HEIC";
  if (coded.size() > UINT32_MAX / 2) bad_data("{}: an item of {} bytes is too large", kind, coded.size());
  const std::vector<uint8_t> file = file_of(codec, item, coded);
  const auto require = [&](const heif_result& r) {
    if (r.code) bad_data("{}: {}", kind, r.message && *r.message ? r.message : "libheif cannot decode it");
  };
  const auto context = owned(lib.create(), lib.destroy);
  const auto options = owned(lib.make_options(), lib.free_options);
  if (!context || !options) throw std::bad_alloc();
  lib.set_threads(context.get(), 0);
  require(lib.read(context.get(), file.data(), file.size(), nullptr));
  heif_image_handle* found = nullptr;
  require(lib.primary(context.get(), &found));
  const auto handle = owned(found, lib.release_handle);
  options->ignore_transformations = 1;
  if (options->version >= 5) options->upsampling = kNearest, options->no_other_sampling = 1;
  const bool gray = header.chroma == Chroma::none;
  heif_image* made = nullptr;
  {
    const OneProcessor here;
    const heif_result r =
        lib.decode(handle.get(), &made, gray ? kMonochrome : kRgb, gray ? kGrayPlanes : kRgbPlanes, options.get());
    if (r.code && made) lib.release_image(made), made = nullptr;
    require(r);
  }
  DecodedItem d;
  d.owner = std::shared_ptr<const heif_image>(made, lib.release_image);
  d.chroma = header.chroma, d.bits = header.bits;
  for (int c = 0; c < (gray ? 1 : 3); ++c) {
    const int channel = gray ? kLumaChannel : c == 0 ? kGreen : c == 1 ? kBlue : kRed;
    int row_bytes = 0;
    const uint8_t* data = lib.plane(made, channel, &row_bytes);
    const int64_t height = lib.height(made, channel), width = lib.width(made, channel);
    if (!data || height < item.height || width < item.width)
      bad_data("{}: decoded {} x {} pixels, but the file says {} x {}", kind, height, width, item.height, item.width);
    if (lib.bits(made, channel) != header.bits || row_bytes < width * (header.bits > 8 ? 2 : 1))
      bad_data("{}: decoded samples of {} bits, but the file says {}", kind, lib.bits(made, channel), header.bits);
    const int dy = c && d.chroma == Chroma::half_both ? 2 : 1, dx = c && d.chroma != Chroma::full ? 2 : 1;
    d.planes[c] = {data, int64_t{row_bytes} * dy, (item.height + dy - 1) / dy, (item.width + dx - 1) / dx, dx};
  }
  return d;
}

}  // namespace penstock::heif

namespace penstock {
void require_avif() { heif::library(heif::Codec::av1); }
void require_heic() { heif::library(heif::Codec::hevc); }
}  // namespace penstock
