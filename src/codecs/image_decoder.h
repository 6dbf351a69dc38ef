// SPDX-License-Identifier: Apache-2.0
// What every image format and engine offers: probe, say why not, decode a region into memory.
//
// Rules for damaged files (JPEG's are DALI's, measured):
// - A file that ends before the last row that was asked for is an error that names the row. A JPEG file of one scan may
//   lack its end marker alone (DALI refuses it); with several scans a missing end may hide a scan and is an error.
// - A progressive JPEG file that has its end marker and lacks scans or a part of the last one keeps its pixels, smoothed
//   as libjpeg-turbo 3 smooths them, with a notice.
// - Any other damage of a JPEG file's entropy-coded data that libjpeg can step over keeps the pixels, silently.
// - In PNG a wrong checksum of a chunk that pixels depend on, a wrong deflate stream and a missing end are errors.
// - A region is judged by what had to be read for it.
// Rules for colors are in codecs/pixel_rows.h. An EXIF orientation is read from JPEG's APP1 and PNG's eXIf.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"

namespace penstock {

using Bytes = std::span<const uint8_t>;

// DALI's numbers (types.RGB ...).
enum class ImageType : int8_t { rgb = 0, bgr = 1, gray = 2, ycbcr = 3, any_data = 4 };

struct ImageInfo {
  const char* format = "";  // that of sniff_format()
  int64_t height = 0, width = 0;  // after EXIF orientation where `orientation_applied`
  int channels = 0;         // as stored: 1 gray, 2 gray+alpha, 3, 4 (RGBA or CMYK)
  DType dtype = DType::uint8;  // uint8, uint16 for deeper samples, float32
  int orientation = 1;      // EXIF 1..8
  bool scales = false;      // decodes at eighths of its size: DecodeParams::eighths
};

struct Region {  // in the coordinates of the image after orientation
  int64_t y = 0, x = 0, height = 0, width = 0;
};

struct DecodeParams {
  ImageType type = ImageType::rgb;
  DType dtype = DType::uint8;   // see decodes_to(): rescaled to the type's range from 0 up, floating point to [0, 1]
  bool apply_orientation = true;
  bool fancy_upsampling = true;
  bool fast_idct = false;
  // Where ImageInfo::scales: the picture at eighths / 8 of its size (8, 4, 2 or 1; sizes round up), made by smaller
  // inverse transforms as libjpeg-turbo does. Regions are those of the small picture; ImageInfo stays that of the file.
  int eighths = 8;
  bool may_scale = false;  // the caller allows the planner to choose eighths
  int64_t max_pixels = 178956970;  // checked before memory is taken

  // So many times max_pixels, which may be any number.
  int64_t times_max_pixels(int64_t n) const { return max_pixels > INT64_MAX / n ? INT64_MAX : max_pixels * n; }
};

constexpr bool decodes_to(DType t) { return is_float(t) || (is_integer(t) && size_of(t) <= 4); }
constexpr const char* kDecodedTypes = "integers of 8, 16 or 32 bits or floating point";

// Decoded rows of a region: interleaved channels, `row_bytes` apart. libjpeg-turbo writes a row that starts at a
// multiple of 32 bytes past the caches (not rows that are trimmed or converted, which pass through a buffer): memory
// that is read again at once is better laid out so that its rows do not start there.
struct PixelSink {
  void* data = nullptr;
  int64_t row_bytes = 0;
};

// The name of the picture's format (codecs/file_formats.h) by its first bytes, or nullptr.
const char* sniff_format(Bytes file);

// Headers only. Throws ErrorKind::data naming the cause. Sizes are checked against params.max_pixels and > 0.
// height and width are those of the picture after orientation if params.apply_orientation.
ImageInfo probe_image(Bytes file, const DecodeParams& params);

// Extent of a dimension of the picture that params ask for.
inline int64_t scaled_extent(int64_t extent, const DecodeParams& params) { return (extent * params.eighths + 7) / 8; }

// Number of channels that decoding gives: rgb, bgr, ycbcr 3; gray 1; any_data as stored, but CMYK becomes RGB.
// ycbcr is DALI's (BT.601, studio range). gray of a color JPEG is its stored luma.
int output_channels(const ImageInfo& info, ImageType type);

// Decodes `region` (in bounds) so that each pixel equals the same pixel of a full decode. The sink holds
// region.height rows of region.width * channels elements of params.dtype.
void decode_image(Bytes file, const ImageInfo& info, const DecodeParams& params, const Region& region,
                  const PixelSink& sink);

class EntropyIndexAccess;

// A decoded region whose pixels are made row by row, when they are asked for.
class RegionRows {
 public:
  virtual ~RegionRows() = default;
  // Writes row y of the region, 0 <= y < region.height, in any order and again if asked: width * channels elements of
  // params.dtype. Up to kSlack bytes behind them may be written too.
  static constexpr int64_t kSlack = 128;
  virtual void read(int64_t y, void* to) = 0;
  // The same for uint8, each channel in a plane of its own (the filters like it, and it costs the decoder less).
  virtual void read_planes(int64_t y, uint8_t* const* planes) = 0;
};

// One region of one file, for decoders that work on several in turn. `info`, `params` and `region` are those of
// decode_image; afterwards either `error` is set, or `rows` where `takes_rows` allowed it and the engine can, or the
// sink is filled. `rows` belongs to the decoding thread and lives until its next call of decode_images.
struct DecodeTask {
  Bytes file;
  ImageInfo info;
  DecodeParams params;
  Region region;
  PixelSink sink;
  bool takes_rows = false;
  EntropyIndexAccess* index = nullptr;
  RegionRows* rows = nullptr;
  std::optional<Error> error;
};

// Decodes at most kDecodeTogether tasks in turn, which hides the latency of entropy decoding. Does not throw for what
// is wrong with a file or its task; running out of memory is thrown.
constexpr int kDecodeTogether = 2;
void decode_images(std::span<DecodeTask> tasks);

// One engine for one format; the functions above look through the list of all engines.
class ImageDecoder {
 public:
  virtual ~ImageDecoder() = default;
  virtual const char* name() const = 0;    // "jpeg/libjpeg-turbo"
  virtual const char* format() const = 0;  // "jpeg"
  // Empty if the engine takes this file with these parameters, else all reasons at once.
  virtual std::string cannot_decode(Bytes file, const ImageInfo& info, const DecodeParams& params) const = 0;
  virtual ImageInfo probe(Bytes file) const = 0;  // before orientation
  virtual void decode(Bytes file, const ImageInfo& info, const DecodeParams& params, const Region& region,
                      const PixelSink& sink) const = 0;
};
const std::vector<const ImageDecoder*>& image_decoders();
// The engine for the file's format. Error (data) where it is of none.
const ImageDecoder& image_decoder_for(Bytes file);

}  // namespace penstock
