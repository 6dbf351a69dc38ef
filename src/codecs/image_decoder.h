// SPDX-License-Identifier: Apache-2.0
// The interface for users of pictures: read the headers of a file, decode a region into memory. To decode several files
// in turn: codecs/decode_task.h. The definition of a format: codecs/image_format.h.
//
// Rules for damaged files (for JPEG they are DALI's, measured):
// - A file that ends before the last requested row is an error that names the row. A JPEG file with one scan may
//   lack only its end marker (DALI refuses it); with several scans a missing end may hide a scan and is an error.
// - A progressive JPEG file that has its end marker and lacks scans or a part of the last one keeps its pixels,
//   smoothed as libjpeg-turbo 3 smooths them, with a notice.
// - Any other damage of a JPEG file's entropy-coded data that libjpeg can skip keeps the pixels, without a notice.
// - In PNG a wrong checksum of a chunk that pixels depend on, a wrong deflate stream and a missing end are errors.
// - For a region, only the data that had to be read for it counts.
// - With DecodeParams::partial a JPEG or PNG file that ends early, after its headers, gives the rows that are there.
//   The rest is what libjpeg makes of missing blocks (gray in most files), in PNG 0. DecodeTask::lacking says what is
//   missing.
// Rules for colors are in codecs/pixel_rows.h. The EXIF orientation is read from JPEG's APP1 and PNG's eXIf.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "base/dtype.h"
#include "base/error.h"
#include "codecs/parsed_header.h"

namespace penstock {

using Bytes = std::span<const uint8_t>;

// DALI's numbers (types.RGB ...).
enum class ImageType : int8_t { rgb = 0, bgr = 1, gray = 2, ycbcr = 3, any_data = 4 };

struct ImageFormat;
class EntropyIndexAccess;

struct ImageInfo {
  const ImageFormat* format = nullptr;  // set by probe_image(); codecs/image_format.h
  int64_t height = 0, width = 0;        // after EXIF orientation if `orientation_applied`
  int channels = 0;                     // as stored: 1 gray, 2 gray+alpha, 3, 4 (RGBA or CMYK)
  DType dtype = DType::uint8;           // uint8, uint16 for deeper samples, float32
  int orientation = 1;                  // EXIF 1..8
  bool scales = false;                  // can decode at eighths of its size: DecodeParams::eighths
};

struct Region {  // in the coordinates of the image after orientation
  int64_t y = 0, x = 0, height = 0, width = 0;
};

struct DecodeParams {
  ImageType type = ImageType::rgb;
  DType dtype = DType::uint8;  // see decodes_to(): rescaled to the type's range from 0 up, floating point to [0, 1]
  bool apply_orientation = true;
  bool fancy_upsampling = true;
  bool fast_idct = false;
  // If ImageInfo::scales: the picture at eighths / 8 of its size (8, 4, 2 or 1; sizes round up), by smaller inverse
  // transforms as in libjpeg-turbo. Regions are those of the small picture; ImageInfo stays that of the file.
  int eighths = 8;
  bool may_scale = false;          // the caller allows the planner to choose eighths
  bool partial = false;            // keep what is there of a file that ends early
  int64_t max_pixels = 178956970;  // checked before memory is allocated

  // n times max_pixels, which may be any number.
  int64_t times_max_pixels(int64_t n) const { return max_pixels > INT64_MAX / n ? INT64_MAX : max_pixels * n; }
};

constexpr bool decodes_to(DType t) {
  return (is_float(t) && t != DType::bfloat16) || (is_integer(t) && size_of(t) <= 4);
}
constexpr const char* kDecodedTypes = "integers of 8, 16 or 32 bits or floating point";

// Decoded rows of a region: interleaved channels, `row_bytes` apart. If a row starts at a multiple of 32 bytes,
// libjpeg-turbo writes it past the caches (not rows that are trimmed or converted: they go through a buffer). So if the
// memory is read again at once, lay it out such that its rows do not start there.
struct PixelSink {
  void* data = nullptr;
  int64_t row_bytes = 0;
};

// Reads only the headers. Throws ErrorKind::data with the cause. Checks that sizes are > 0 and within
// params.max_pixels. height and width are those of the picture after orientation if params.apply_orientation. `kept`,
// if not null, gets what decode_image() or a decoder on a GPU can use of the headers.
ImageInfo probe_image(Bytes file, const DecodeParams& params, ParsedHeader* kept = nullptr);

// Extent of a dimension of the picture that params request.
inline int64_t scaled_extent(int64_t extent, const DecodeParams& params) { return (extent * params.eighths + 7) / 8; }

// Number of channels of the decoded picture: rgb, bgr, ycbcr 3; gray 1; any_data as stored, but CMYK becomes RGB. ycbcr
// is DALI's (BT.601, studio range). gray of a color JPEG is its stored luma.
int output_channels(const ImageInfo& info, ImageType type);

// Decodes `region` (in bounds) so that each pixel equals the same pixel of a full decode. The sink has region.height
// rows of region.width * channels elements of params.dtype. `header`: what probe_image() kept, else it is read again.
// `lacking`, if not null, gets DecodeTask::lacking.
void decode_image(Bytes file, const ImageInfo& info, const DecodeParams& params, const Region& region,
                  const PixelSink& sink, const ParsedHeader& header = {}, std::string* lacking = nullptr);

// All formats: "JPEG, PNG, ..., and AVIF and HEIC where libheif is installed".
std::string image_formats_text();

}  // namespace penstock
