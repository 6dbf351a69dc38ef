// SPDX-License-Identifier: Apache-2.0
// The arguments of decoders.image that its variants with a window share.
#pragma once
#include "base/size_limits.h"
#include "operator/operator.h"

namespace penstock {

// Family: DecodeOperator or DecodeMapOperator.
template <class Family> struct DecoderArguments : Family {
  int output_type = 0;
  DType dtype = DType::uint8;
  bool adjust_orientation = true, use_fast_idct = false, jpeg_fancy_upsampling = false, partial = false;
  // Accepted without effect: these arguments tune engines of other devices.
  bool affine = true, memory_stats = false, split_stages = false, use_chunk_allocator = false;
  int64_t device_memory_padding = 16777216, device_memory_padding_jpeg2k = 0;
  int64_t host_memory_padding = 8388608, host_memory_padding_jpeg2k = 0;
  int64_t hybrid_huffman_threshold = 1000000, preallocate_height_hint = 0, preallocate_width_hint = 0;
  float hw_decoder_load = 0.65f;
  int64_t max_pixels = kMostPixels;
  std::string decode = "exact", decoder = "auto";

  void check_decoder() const {
    if (decode != "exact" && decode != "fast") bad_argument("decode must be 'exact' or 'fast', got '{}'", decode);
    if (decoder != "auto" && decoder != "cuda" && decoder != "hardware" && decoder != "cpu")
      bad_argument("decoder must be 'auto', 'cuda', 'hardware' or 'cpu', got '{}'", decoder);
    if (output_type < 0 || output_type > 4)
      bad_argument("output_type must be 0 (RGB), 1 (BGR), 2 (GRAY), 3 (YCbCr) or 4 (ANY_DATA), got {}", output_type);
    if (!decodes_to(dtype)) bad_type("images are decoded to {}, not to {}", kDecodedTypes, name_of(dtype));
  }
  DecodeParams decode_params() const override {
    DecodeParams p;
    p.type = static_cast<ImageType>(output_type);
    p.dtype = dtype;
    p.apply_orientation = adjust_orientation;
    p.fancy_upsampling = true;  // as jpeg_fancy_upsampling=False, which also acts on a CPU
    p.fast_idct = use_fast_idct;
    p.may_scale = decode == "fast";
    p.partial = partial;
    p.max_pixels = max_pixels;
    return p;
  }
  // Channels of the result if they do not depend on the file, else -1.
  int64_t known_channels() const { return output_type == 4 ? -1 : output_type == 2 ? 1 : 3; }
};

template <class Op> Schema<Op>&& decoder_arguments(Schema<Op>&& s) {
  constexpr const char* none = "Accepted without effect.";
  return std::move(s)
      .arg("output_type", &Op::output_type, "RGB, BGR, GRAY, YCbCr, or ANY_DATA: the channels of the file.")
      .arg("dtype", &Op::dtype,
           "Type of the result. Integers of 8, 16 or 32 bits are scaled to 0 to the largest value of the type, "
           "floating point to 0 to 1.")
      .arg("adjust_orientation", &Op::adjust_orientation,
           "Rotate and mirror the image as the orientation in the file "
           "says (EXIF; TIFF's tag; irot and imir of AVIF and HEIC; JPEG XL's header).")
      .arg("use_fast_idct", &Op::use_fast_idct,
           "Use a faster inverse transform for JPEG, which is less exact. Photographs are within about 10 of 255 up to "
           "quality 90. There is no bound: at quality 100 and for black and white noise, differences of up to 255 were "
           "measured.")
      .arg("jpeg_fancy_upsampling", &Op::jpeg_fancy_upsampling,
           "Accepted without effect: chroma is always interpolated.")
      .arg("decode", &Op::decode,
           "'exact': the pixels do not depend on the operators that follow. 'fast': they may differ if a resize of a "
           "JPEG image follows. To half the size or less, the image is decoded at 1/2, 1/4 or 1/8 of its size; "
           "otherwise the resize works before the conversion to RGB.")
      .arg("decoder", &Op::decoder,
           "What decodes for a GPU (device=\"mixed\"). 'cuda': kernels. 'hardware': the JPEG engine of the GPU. "
           "'cpu': the CPU, and the pixels are copied. 'auto': the first of these that is available. The CPU also "
           "decodes the images that kernels or engine do not support. No effect on the CPU.")
      .arg("partial", &Op::partial,
           "Keep what is there of a JPEG or PNG file that ends early: the rest of the picture is gray in JPEG, as "
           "cv2.imread gives it, and 0 in PNG. A warning names the file and the row; in C and C++ the status of the "
           "sample has the message. Files that end in their headers, and those of other formats, are errors as before.")
      .arg("max_pixels", &Op::max_pixels, kMaxPixelsText, within(1, kLargestLimit))
      .arg("affine", &Op::affine, none)
      .arg("device_memory_padding", &Op::device_memory_padding, none)
      .arg("device_memory_padding_jpeg2k", &Op::device_memory_padding_jpeg2k, none)
      .arg("host_memory_padding", &Op::host_memory_padding, none)
      .arg("host_memory_padding_jpeg2k", &Op::host_memory_padding_jpeg2k, none)
      .arg("hw_decoder_load", &Op::hw_decoder_load, none)
      .arg("hybrid_huffman_threshold", &Op::hybrid_huffman_threshold, none)
      .arg("memory_stats", &Op::memory_stats, none)
      .arg("preallocate_height_hint", &Op::preallocate_height_hint, none)
      .arg("preallocate_width_hint", &Op::preallocate_width_hint, none)
      .arg("split_stages", &Op::split_stages, none)
      .arg("use_chunk_allocator", &Op::use_chunk_allocator, none)
      .input_names({"encoded"})
      .oracle("dali");
}

}  // namespace penstock
