// SPDX-License-Identifier: Apache-2.0
#include "readers/picture_shapes.h"

#include <algorithm>
#include <cmath>

#include "base/progress.h"
#include "codecs/image_decoder.h"
#include "data/storage.h"
#include "readers/npy_numbers.h"

namespace penstock {

std::vector<PictureShape> picture_shapes(std::span<const int64_t> numbers) {
  if (numbers.size() % 2)
    bad_argument("bucket_shapes has height and width of each shape in turn, got {} numbers", numbers.size());
  std::vector<PictureShape> shapes;
  for (size_t i = 0; i < numbers.size(); i += 2) {
    shapes.push_back({numbers[i], numbers[i + 1]});
    if (std::min(numbers[i], numbers[i + 1]) < 1 || std::max(numbers[i], numbers[i + 1]) > INT32_MAX)
      bad_argument("bucket_shapes has a shape of {} x {}", numbers[i], numbers[i + 1]);
  }
  if (shapes.size() > UINT16_MAX) bad_argument("bucket_shapes has {} shapes, more than {}", shapes.size(), UINT16_MAX);
  return shapes;
}

std::vector<uint16_t> nearest_shapes(std::span<const PictureShape> shapes, std::span<const PictureShape> sizes) {
  const auto ratio = [](const PictureShape& s) { return static_cast<double>(s.height) / static_cast<double>(s.width); };
  std::vector<uint16_t> nearest;
  nearest.reserve(sizes.size());
  for (const PictureShape& size : sizes) {
    const auto factor = [&](const PictureShape& s) { return std::max(ratio(s) / ratio(size), ratio(size) / ratio(s)); };
    const auto best = std::min_element(shapes.begin(), shapes.end(),
                                       [&](const auto& a, const auto& b) { return factor(a) < factor(b); });
    nearest.push_back(static_cast<uint16_t>(best - shapes.begin()));
  }
  return nearest;
}

static PictureShape size_of_picture(const std::string& path, std::vector<uint8_t>& bytes) {
  constexpr int64_t kBeginning = 1 << 16;
  try {
    const OpenFile file(path);
    const int64_t all = file.stamp().bytes;
    for (int64_t some = std::min(all, kBeginning);; some = all) {
      bytes.resize(static_cast<size_t>(some));
      file.read(0, some, bytes.data());
      try {
        const ImageInfo info = probe_image(bytes, {.max_pixels = INT64_MAX});
        return {info.height, info.width};
      } catch (const Error&) {  // the header may be longer
        if (some == all) throw;
      }
    }
  } catch (Error& e) {
    if (e.source.empty()) e.source = path;
    throw;
  }
}

std::vector<PictureShape> sizes_in_headers(int64_t count, const std::function<std::string(int64_t)>& path_of) {
  std::vector<PictureShape> sizes(static_cast<size_t>(count));
  std::vector<uint8_t> bytes;
  Progress progress("sizes of pictures", "file", count);
  for (int64_t i = 0; i < count; ++i) {
    sizes[static_cast<size_t>(i)] = size_of_picture(path_of(i), bytes);
    progress.add(1);
  }
  return sizes;
}

std::vector<PictureShape> sizes_in_file(const std::string& path, int64_t count) {
  const NpyNumbers numbers = read_npy_numbers(path);
  if (numbers.shape != Shape{count, 2})
    fail_on(path, ErrorKind::data,
            "picture_sizes has the shape {}, expected one row of height and width for each of {} "
            "pictures",
            numbers.shape.text(), count);
  std::vector<PictureShape> sizes;
  for (size_t i = 0; i < numbers.values.size(); i += 2) {
    const auto height = static_cast<int64_t>(numbers.values[i]), width = static_cast<int64_t>(numbers.values[i + 1]);
    if (height < 1 || width < 1)
      fail_on(path, ErrorKind::data, "picture {} has the size {} x {}", i / 2, height, width);
    sizes.push_back({height, width});
  }
  return sizes;
}

}  // namespace penstock
