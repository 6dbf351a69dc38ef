// SPDX-License-Identifier: Apache-2.0
// Any bytes as an image of any format: pixels or an error of the data, and a region holds what the whole picture holds
// there. The last 8 bytes choose the region and the type. AVIF and HEIC: only the boxes and headers; what follows
// them is libheif's, as this machine has it; PENSTOCK_HEIF=libheif.so.1 lets it take part, PENSTOCK_JXL=libjxl.so.0.7
// and PENSTOCK_OPENEXR=libOpenEXRCore-3_1.so.30 the libraries of JPEG XL and OpenEXR.
#include <cstdlib>
#include <cstring>

#include "codecs/image_decoder.h"
#include "codecs/verify_image.h"
#include "fuzz_images.h"

using namespace penstock;

namespace {

std::vector<uint8_t> decoded(const std::vector<uint8_t>& file, const ImageInfo& info, const DecodeParams& params,
                             const Region& r) {
  const int64_t row = r.width * output_channels(info, params.type) * static_cast<int64_t>(size_of(params.dtype));
  std::vector<uint8_t> out(static_cast<size_t>(row * r.height));
  decode_image(file, info, params, r, {out.data(), row});
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  for (const char* name : {"PENSTOCK_HEIF", "PENSTOCK_JXL", "PENSTOCK_OPENEXR"}) setenv(name, "off", 0);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 16) return 0;
  const uint8_t* choice = data + size - 8;
  const std::vector<uint8_t> exact(data, data + size - 8);  // its end is the end of its memory
  DecodeParams params;
  params.max_pixels = 1 << 16;
  params.type = static_cast<ImageType>(choice[4] % 5);
  verify_image(exact, "", params.max_pixels);  // has an answer to any bytes
  params.dtype = choice[5] % 3 == 0 ? DType::float32 : choice[5] % 3 == 1 ? DType::uint16 : DType::uint8;
  try {
    const ImageInfo info = probe_image(exact, params);
    const Region r = fuzz::region_of(choice, info);
    const auto whole = decoded(exact, info, params, {0, 0, info.height, info.width});
    const auto part = decoded(exact, info, params, r);
    const size_t row = part.size() / r.height, pixel = row / r.width;
    for (int64_t y = 0; y < r.height; ++y)
      if (std::memcmp(&part[y * row], &whole[((r.y + y) * info.width + r.x) * pixel], row)) std::abort();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::data) std::abort();
  }
  return 0;
}
