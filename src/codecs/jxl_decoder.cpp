// SPDX-License-Identifier: Apache-2.0
// JPEG XL through libjxl, which is opened at run time: codestreams and containers, lossy and lossless, gray or RGB with
// or without alpha; of an animation the first frame. The declarations follow libjxl's headers from 0.7 on, and cover
// the functions that we call.
#include <algorithm>
#include <cstring>
#include <memory>

#include "codecs/decode_errors.h"
#include "codecs/image_format.h"
#include "codecs/pixel_rows.h"
#include "codecs/runtime_library.h"

namespace penstock {

namespace {

extern "C" {
struct jxl_decoder;
struct jxl_basic_info {
  int have_container;
  uint32_t width, height, bits, exponent_bits;
  float intensity_target, min_nits;
  int relative_to_max_display;
  float linear_below;
  int uses_original_profile, have_preview, have_animation, orientation;  // the orientation as EXIF counts them
  uint32_t color_channels, extra_channels, alpha_bits, alpha_exponent_bits;
  int alpha_premultiplied;
  uint32_t preview[2], animation[4], intrinsic_size[2];
  uint8_t reserved[100];
};
struct jxl_pixel_format {
  uint32_t channels;
  int type, endianness;
  size_t align;
};
struct jxl_extra_channel {
  int type;
  uint32_t numbers[9];
};
struct jxl_color_encoding {
  int color_space, white_point;
  double white_point_xy[2];
  int primaries;
  double primaries_xy[6];
  int transfer_function;
  double gamma;
  int rendering_intent;
};
struct jxl_memory_manager {
  void* opaque;
  void* (*alloc)(void*, size_t);
  void (*free)(void*, void*);
};
}

enum Status {
  kSuccess = 0,
  kError = 1,
  kNeedMoreInput = 2,
  kNeedImageOutBuffer = 5,
  kBasicInfo = 0x40,
  kColorEncoding = 0x100,
  kFullImage = 0x1000,
};
enum { kFloat = 0, kUint8 = 2, kUint16 = 3 };  // types of samples
enum { kOriginalProfile = 0 };
enum { kBlackChannel = 4 };
constexpr uint32_t kNoUnusedFormat = 9000;  // from this version on, GetColorAsEncodedProfile lacks an argument

struct Library : OptionalLibrary {
  uint32_t (*version)();
  jxl_decoder* (*create)(const jxl_memory_manager*);
  void (*destroy)(jxl_decoder*);
  int (*subscribe)(jxl_decoder*, int events);
  int (*keep_orientation)(jxl_decoder*, int);
  int (*unpremultiply)(jxl_decoder*, int);
  int (*set_input)(jxl_decoder*, const uint8_t*, size_t);
  int (*process)(jxl_decoder*);
  int (*basic_info)(const jxl_decoder*, jxl_basic_info*);
  int (*extra_channel)(const jxl_decoder*, size_t, jxl_extra_channel*);
  int (*prefer_profile)(jxl_decoder*, const jxl_color_encoding*);
  int (*buffer_size)(const jxl_decoder*, const jxl_pixel_format*, size_t*);
  int (*set_buffer)(jxl_decoder*, const jxl_pixel_format*, void*, size_t);
  void (*to_srgb)(jxl_color_encoding*, int is_gray);
  void* encoded_profile;

  Library()
      : OptionalLibrary(open_codec_library(
            "PENSTOCK_JXL", {"libjxl.so.0.11", "libjxl.so.0.10", "libjxl.so.0.9", "libjxl.so.0.8", "libjxl.so.0.7"})) {
    find(version, "JxlDecoderVersion");
    find(create, "JxlDecoderCreate");
    find(destroy, "JxlDecoderDestroy");
    find(subscribe, "JxlDecoderSubscribeEvents");
    find(keep_orientation, "JxlDecoderSetKeepOrientation");
    find(unpremultiply, "JxlDecoderSetUnpremultiplyAlpha");
    find(set_input, "JxlDecoderSetInput");
    find(process, "JxlDecoderProcessInput");
    find(basic_info, "JxlDecoderGetBasicInfo");
    find(extra_channel, "JxlDecoderGetExtraChannelInfo");
    find(prefer_profile, "JxlDecoderSetPreferredColorProfile");
    find(buffer_size, "JxlDecoderImageOutBufferSize");
    find(set_buffer, "JxlDecoderSetImageOutBuffer");
    find(to_srgb, "JxlColorEncodingSetToSRGB");
    find(encoded_profile, "JxlDecoderGetColorAsEncodedProfile");
  }

  // Whether the profile of the original is one that can be told in a few numbers, not an ICC profile.
  bool has_encoded_profile(const jxl_decoder* decoder) const {
    jxl_color_encoding original{};
    if (version() >= kNoUnusedFormat)
      return reinterpret_cast<int (*)(const jxl_decoder*, int, jxl_color_encoding*)>(encoded_profile)(
                 decoder, kOriginalProfile, &original) == kSuccess;
    return reinterpret_cast<int (*)(const jxl_decoder*, const jxl_pixel_format*, int, jxl_color_encoding*)>(
               encoded_profile)(decoder, nullptr, kOriginalProfile, &original) == kSuccess;
  }
  std::string named() const {
    const uint32_t v = version();
    return fmt::format("libjxl {}.{}.{}", v / 1000000, v / 1000 % 1000, v % 1000);
  }
};

const Library& library() {
  static const Library loaded;
  if (!loaded.why_not().empty())
    no_decoder("JPEG XL files need libjxl of version 0.7 or later (Debian 12: libjxl0.7), which was not found: {}",
               loaded.why_not());
  return loaded;
}

// Memory for one decoder, from versions on that ask for all of it here (0.11). A frame may be larger than the picture,
// which is what the limit of pixels is about.
class Memory {
 public:
  explicit Memory(int64_t bytes) : left_(bytes) {}
  jxl_memory_manager manager() { return {this, &Memory::allocate, &Memory::release}; }

 private:
  static constexpr size_t kHead = alignof(std::max_align_t);
  static void* allocate(void* self, size_t size) {
    auto& left = static_cast<Memory*>(self)->left_;
    if (size > static_cast<size_t>(left)) return nullptr;
    auto* at = static_cast<uint8_t*>(std::malloc(size + kHead));
    if (!at) return nullptr;
    std::memcpy(at, &size, sizeof size);
    left -= static_cast<int64_t>(size);
    return at + kHead;
  }
  static void release(void* self, void* address) {
    if (!address) return;
    auto* at = static_cast<uint8_t*>(address) - kHead;
    size_t size = 0;
    std::memcpy(&size, at, sizeof size);
    static_cast<Memory*>(self)->left_ += static_cast<int64_t>(size);
    std::free(at);
  }
  int64_t left_;
};

struct Header {
  int64_t height = 0, width = 0;
  int channels = 3, orientation = 1;
  DType dtype = DType::uint8;
  bool any_profile = false;  // pixels are stored in the library's own color space
};

class Decoder {
 public:
  Decoder(Bytes file, int64_t memory, int events) : lib_(library()), memory_(memory), manager_(memory_.manager()) {
    decoder_ = lib_.create(&manager_);
    if (!decoder_) throw std::bad_alloc();
    if (lib_.subscribe(decoder_, events) != kSuccess || lib_.keep_orientation(decoder_, 1) != kSuccess ||
        lib_.set_input(decoder_, file.data(), file.size()) != kSuccess)
      bad_data("JPEG XL: {} cannot be set up", lib_.named());
    lib_.unpremultiply(decoder_, 1);
  }
  Decoder(const Decoder&) = delete;
  ~Decoder() { lib_.destroy(decoder_); }

  // Runs until the next event; `what` ends early if the file does.
  int next(const char* what) {
    const int status = lib_.process(decoder_);
    if (status == kNeedMoreInput) ends_early("JPEG XL: premature end of file in {}", what);
    if (status == kError) bad_data("JPEG XL: {} finds {} damaged", lib_.named(), what);
    return status;
  }
  const Library& lib() const { return lib_; }
  jxl_decoder* get() const { return decoder_; }

 private:
  const Library& lib_;
  Memory memory_;
  jxl_memory_manager manager_;
  jxl_decoder* decoder_ = nullptr;
};

constexpr int64_t kHeaderMemory = 64 << 20, kBytesOfPixel = 128;  // what libjxl takes for all planes of a frame

class Libjxl final : public DecoderByHeader<Header> {
 public:
  const char* name() const override { return "jxl/libjxl"; }

  Header read_header(Bytes file) const override {
    Decoder d(file, kHeaderMemory, kBasicInfo);
    if (d.next("the header") != kBasicInfo) bad_data("JPEG XL: the file has no header");
    jxl_basic_info info{};
    if (d.lib().basic_info(d.get(), &info) != kSuccess) bad_data("JPEG XL: the header is damaged");
    for (uint32_t i = 0; i < info.extra_channels; ++i) {
      jxl_extra_channel channel{};
      if (d.lib().extra_channel(d.get(), i, &channel) == kSuccess && channel.type == kBlackChannel)
        no_decoder("JPEG XL: pictures in CMYK are not supported");
    }
    if (info.width < 1 || info.height < 1 || (info.color_channels != 1 && info.color_channels != 3))
      bad_data("JPEG XL: the header says {} x {} pixels with {} channels", info.height, info.width,
               info.color_channels);
    return {.height = info.height,
            .width = info.width,
            .channels = static_cast<int>(info.color_channels) + (info.alpha_bits ? 1 : 0),
            .orientation = info.orientation >= 1 && info.orientation <= 8 ? info.orientation : 1,
            .dtype = info.exponent_bits || info.bits > 16 ? DType::float32
                     : info.bits > 8                      ? DType::uint16
                                                          : DType::uint8,
            .any_profile = !info.uses_original_profile};
  }

  ImageInfo describe(const Header& h) const override {
    return {
        .height = h.height, .width = h.width, .channels = h.channels, .dtype = h.dtype, .orientation = h.orientation};
  }

  void decode_region(Bytes file, const Header& h, const DecodeParams& params, const Region& region,
                     const PixelSink& sink) const override {
    if (h.width > params.max_pixels / h.height) bad_data("JPEG XL: the headers are inconsistent");
    const int64_t most = params.times_max_pixels(kBytesOfPixel);
    Decoder d(file, std::max(most, kHeaderMemory), kColorEncoding | kFullImage);
    const int type = h.dtype == DType::float32 ? kFloat : h.dtype == DType::uint16 ? kUint16 : kUint8;
    const jxl_pixel_format format{static_cast<uint32_t>(h.channels), type, 0, 0};
    const auto row_bytes = static_cast<size_t>(h.width * h.channels) * size_of(h.dtype);
    const size_t bytes = row_bytes * static_cast<size_t>(h.height);
    std::unique_ptr<uint8_t[]> pixels;
    for (int event; (event = d.next("the picture")) != kFullImage;) {
      if (event == kColorEncoding) {
        prefer_srgb(d, h);
      } else if (event == kNeedImageOutBuffer) {
        size_t needed = 0;
        if (d.lib().buffer_size(d.get(), &format, &needed) != kSuccess || needed > bytes)
          bad_data("JPEG XL: the headers are inconsistent");
        pixels = std::make_unique_for_overwrite<uint8_t[]>(bytes);
        if (d.lib().set_buffer(d.get(), &format, pixels.get(), bytes) != kSuccess)
          bad_data("JPEG XL: {} cannot decode the picture", d.lib().named());
      } else {
        bad_data("JPEG XL: the file has no picture");
      }
    }
    if (!pixels) bad_data("JPEG XL: the file has no picture");
    store_rows(RowConversion{h.channels, h.dtype, params.type, params.dtype}, region, sink,
               [&](int64_t y) { return pixels.get() + static_cast<size_t>(y) * row_bytes; });
  }

 private:
  // libjxl cannot convert to the color space of an ICC profile, and would return linear light.
  static void prefer_srgb(const Decoder& d, const Header& h) {
    if (!h.any_profile || h.dtype == DType::float32 || d.lib().has_encoded_profile(d.get())) return;
    jxl_color_encoding srgb{};
    d.lib().to_srgb(&srgb, h.channels <= 2);
    d.lib().prefer_profile(d.get(), &srgb);
  }
};

const Libjxl libjxl;

PENSTOCK_IMAGE_FORMAT({
    .id = "jxl",
    .title = "JPEG XL",
    .place = 62,
    .signatures = {{0, "\xFF\x0A"}, {0, std::string_view("\0\0\0\x0CJXL \r\n\x87\n", 12)}},
    .suffixes = {".jxl"},
    .decoders = {&libjxl},
    .taken = "the first frame; integers and floating point of up to 32 bits; gray, RGB, alpha",
    .window_reads = "all",
    .library = "libjxl, loaded at run time",
    .needs = "libjxl",
});

}  // namespace

std::string require_jxl() { return library().named(); }

}  // namespace penstock
