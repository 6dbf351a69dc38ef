// SPDX-License-Identifier: Apache-2.0
// Pictures by aspect ratio: which of a few shapes each one is nearest to.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace penstock {

struct PictureShape {
  int64_t height = 0, width = 0;
};

// Heights and widths in turn. Error (argument) on another number of them, or one that is not positive.
std::vector<PictureShape> picture_shapes(std::span<const int64_t> numbers);

// For each size the number of the shape whose aspect ratio differs by the least factor; the first of equal ones.
std::vector<uint16_t> nearest_shapes(std::span<const PictureShape> shapes, std::span<const PictureShape> sizes);

// Sizes of the decoded pictures. Only the beginning of a file is read unless its header is longer.
std::vector<PictureShape> sizes_in_headers(int64_t count, const std::function<std::string(int64_t)>& path_of);
// The same from an .npy file of shape (count, 2).
std::vector<PictureShape> sizes_in_file(const std::string& path, int64_t count);

}  // namespace penstock
