// SPDX-License-Identifier: Apache-2.0
// Annotations of COCO's "instances" files: boxes, categories, outlines as polygons or run lengths.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penstock {

struct CocoOptions {
  bool include_iscrowd = true, avoid_class_remapping = false, skip_empty = false;
  double size_threshold = 0.1;  // boxes that are narrower or lower, in pixels, are left out
  bool outlines = false;        // read segmentations, too
};

struct CocoObject {
  float box[4] = {};  // x, y, width, height in pixels
  int32_t label = 0;
  std::vector<std::vector<float>> polygons;  // x, y, x, y ...
  std::vector<uint32_t> runs;  // column by column: outside, inside, outside ...; of height x width of its own
  int64_t runs_height = 0, runs_width = 0;
};

struct CocoImage {
  int64_t id = 0;
  std::string file_name;
  int64_t width = 0, height = 0;
  std::vector<CocoObject> objects;  // in the order of the file
};

// Images sorted by id. `images`: names of the images to read, in this order; empty: all. Labels are 1, 2 ... in the
// order of the categories, or their ids. Errors (data) with path and cause.
std::vector<CocoImage> read_coco(const std::string& path, std::span<const std::string> images,
                                 const CocoOptions& options);
std::vector<CocoImage> read_coco_text(std::string_view text, const std::string& path,
                                      std::span<const std::string> images, const CocoOptions& options);

// Run lengths in the form of a text (6 bits a character, differences to the one before the last). Error (data).
std::vector<uint32_t> runs_of_text(std::string_view text);

// Writes `value` where the object is; mask: height x width, row by row. The outline of a polygon is followed on a grid
// of five points a pixel, as COCO's own programs do, so that masks are the same.
void draw_object(const CocoObject& object, int32_t value, int64_t height, int64_t width, std::span<int32_t> mask);

}  // namespace penstock
