// SPDX-License-Identifier: Apache-2.0
// COCO's annotations, run lengths as text, outlines.
#include <cstring>

#include "data/coco.h"
#include "fuzz_containers.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(data, data + size);
  CocoOptions options;
  options.outlines = true;
  fuzz::may_refuse([&] {
    for (const auto& image : read_coco_text(text, "annotations", {}, options)) {
      if (image.width * image.height > 4096) continue;
      std::vector<int32_t> mask(static_cast<size_t>(image.width * image.height));
      for (const auto& o : image.objects) fuzz::may_refuse([&] { draw_object(o, 1, image.height, image.width, mask); });
    }
  });
  fuzz::may_refuse([&] { runs_of_text(text); });
  CocoObject o;
  o.polygons.emplace_back(std::min<size_t>(size / 8, 16) * 2);
  if (!o.polygons[0].empty()) std::memcpy(o.polygons[0].data(), data, 4 * o.polygons[0].size());
  for (float& v : o.polygons[0]) v = v > -500 && v < 500 ? v : 0;  // long walks are slow, not wrong
  std::vector<int32_t> mask(7 * 9);
  draw_object(o, 1, 7, 9, mask);
  return 0;
}
