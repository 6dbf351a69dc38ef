// SPDX-License-Identifier: Apache-2.0
// A folder of annotations in the form that a reader gives them, which loads faster than COCO's JSON. The files are
// those of DALI's readers.coco: a number of entries (32 bits), then the entries.
#pragma once
#include "data/coco.h"

namespace penstock {

// What the folder holds beside names, boxes and labels.
struct CocoParts {
  bool outlines = false;   // polygons
  bool pixelwise = false;  // run lengths and the extents of images
  bool ids = false;
};

// Makes the folder if it does not exist. Error (data) with the path if a file cannot be written.
void save_coco(const std::string& folder, std::span<const CocoImage> images, const CocoParts& parts);
// Without ids, an image's is its place. Errors (data) with the path: a file is missing, or does not fit to the others.
std::vector<CocoImage> load_coco(const std::string& folder, const CocoParts& parts);

}  // namespace penstock
