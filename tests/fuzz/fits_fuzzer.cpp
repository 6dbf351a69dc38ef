// SPDX-License-Identifier: Apache-2.0
// Headers of FITS files and the values of their images; the first byte chooses the HDU.
#include <cstring>

#include "data/fits.h"
#include "fuzz_containers.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::vector<uint8_t> file(data + 1, data + size);
  const auto bytes = static_cast<int64_t>(file.size());
  const auto read = [&](int64_t offset, int64_t length, uint8_t* out) {
    if (offset < 0 || length < 0 || offset > bytes || length > bytes - offset) std::abort();
    if (length) std::memcpy(out, file.data() + offset, static_cast<size_t>(length));
  };
  fuzz::may_refuse([&] {
    const FitsImage image = find_fits_image(read, bytes, 1 + data[0] % 4);
    if (image.shape.volume() > 1 << 22) return;
    const auto count = static_cast<size_t>(image.shape.volume());
    std::vector<uint8_t> stored(count * size_of(image.stored)), values(count * size_of(image.dtype));
    read_fits_elements(read, image, stored.data());
    convert_fits(image, stored.data(), values.data());
  });
  return 0;
}
