// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/box_window.h"

#include "base/notice.h"
#include "ops/shared/random_streams.h"

namespace penstock {

namespace {
constexpr uint64_t kDraws = 8;  // random numbers of an attempt: the threshold, three extents, three positions
constexpr int64_t kMostAttempts = 1'000'000;

const BoxExtent kWhole{{0, 0, 0}, {1, 1, 1}};

bool range_of(const std::vector<float>& v, size_t at) { return v[at] <= v[at + 1]; }
}  // namespace

void BoxWindow::check_box_window() const {
  const auto shown = [](const std::vector<float>& v) {
    return to_text(Value{std::vector<double>(v.begin(), v.end())});
  };
  if (scaling.size() != 2 || !(scaling[0] >= 0) || !range_of(scaling, 0) || !(scaling[1] > 0) || !(scaling[1] <= 1e6f))
    bad_argument("scaling must be a range of positive numbers, got {}", shown(scaling));
  bool fits = aspect_ratio.size() == 2 || aspect_ratio.size() == 6;
  for (size_t k = 0; fits && k < aspect_ratio.size(); k += 2) fits = aspect_ratio[k] > 0 && range_of(aspect_ratio, k);
  if (!fits) bad_argument("aspect_ratio must be one range of positive numbers, or three, got {}", shown(aspect_ratio));
  if (thresholds.empty()) bad_argument("thresholds must not be empty");
  for (float t : thresholds)
    if (!(t >= 0 && t <= 1)) bad_argument("thresholds must be from 0 to 1, got {}", shown(thresholds));
  if (threshold_type != "iou" && threshold_type != "overlap")
    bad_argument("threshold_type must be iou or overlap, got '{}'", threshold_type);
  if (bbox_prune_threshold.given() && !(*bbox_prune_threshold >= 0 && *bbox_prune_threshold <= 1))
    bad_argument("bbox_prune_threshold must be from 0 to 1, got {}", *bbox_prune_threshold);
  if (crop_shape.given() && !input_shape.given()) bad_argument("crop_shape needs input_shape");
}

std::vector<int64_t> BoxWindow::pixels_of(const PerSample<std::vector<int64_t>>& shape, const char* name, int sample,
                                          int dims) const {
  const std::vector<int64_t> given = shape[sample];
  const std::string layout = shape_layout.empty() ? (dims == 2 ? "WH" : "WHD") : shape_layout;
  std::vector<int64_t> out;
  for (int a = 0; a < dims; ++a) {
    const size_t at = layout.find("WHD"[a]);
    if (at == std::string::npos || at >= given.size())
      bad_argument("{} has {} numbers in the layout '{}', but boxes have {} dimensions", name, given.size(), layout,
                   dims);
    if (given[at] < 1 || given[at] > INT32_MAX)
      bad_argument("{} must have positive 32-bit numbers, got {}", name, given[at]);
    out.push_back(given[at]);
  }
  return out;
}

// Whether the result is a window of an allowed aspect ratio.
bool BoxWindow::draw(const RandomStream& random, uint64_t first, int dims, const std::vector<int64_t>& image,
                     const std::vector<int64_t>& crop, Found& found) const {
  double extent[3], largest = 0;
  bool fixed = false;
  for (int a = 0; a < dims; ++a) {
    if (!crop.empty()) {
      extent[a] = static_cast<double>(crop[a]) / static_cast<double>(image[a]);
      continue;
    }
    double low = scaling[0], high = scaling[1];
    for (int b = 0; b < a; ++b) {  // the ratios x/y, x/z, y/z limit this extent, given those already drawn
      const size_t pair = aspect_ratio.size() == 2 ? 0 : 2 * static_cast<size_t>(a + b - 1);
      const double unit =
          extent[b] * (image.empty() ? 1.0 : static_cast<double>(image[b]) / static_cast<double>(image[a]));
      const double least = unit / aspect_ratio[pair + 1], most = unit / aspect_ratio[pair];
      if (aspect_ratio[pair] == aspect_ratio[pair + 1] && b == 0)
        low = high = most, fixed = true;  // a range of one ratio takes precedence over scaling
      else low = std::max(low, least), high = std::min(high, most);
    }
    if (!(low <= high * (1 + 1e-6))) return false;
    extent[a] = low + (std::max(low, high) - low) * random.uniform(first + 1 + static_cast<uint64_t>(a));
    if (!(extent[a] > 0)) return false;
    largest = std::max(largest, extent[a]);
  }
  if (fixed && largest > 1) {  // scaling then applies to the largest extent: the window stays inside the image
    const double factor = std::min(extent[0], 1.0) / largest;
    for (int a = 0; a < dims; ++a) extent[a] *= factor;
  }
  found.pixels.clear();
  for (int a = 0; a < dims; ++a) {
    const uint64_t place = first + 4 + static_cast<uint64_t>(a);
    double low;
    if (!crop.empty()) {  // whole pixels
      const int64_t space = image[a] - crop[a],
                    at = std::min<int64_t>(0, space) + below(random.draw(place), std::abs(space) + 1);
      found.pixels.push_back(at);
      low = static_cast<double>(at) / static_cast<double>(image[a]);
    } else {
      low = (1 - extent[a]) * random.uniform(place);
    }
    found.window.low[a] = low, found.window.high[a] = low + extent[a];
  }
  return true;
}

double BoxWindow::overlap(const BoxExtent& window, const std::vector<BoxExtent>& boxes,
                          const std::vector<double>& volumes, int dims, double enough) const {
  const bool of_union = threshold_type == "iou";
  const double own = volume_of(window, dims);
  double least = 1e300, most = -1;
  for (size_t i = 0; i < boxes.size(); ++i) {
    const double common = volume_of(common_part(window, boxes[i]), dims);
    const double whole = of_union ? own + volumes[i] - common : volumes[i];
    const double v = whole > 0 ? common / whole : 0;
    least = std::min(least, v), most = std::max(most, v);
    if (all_boxes_above_threshold ? least < enough : most >= enough) break;
  }
  return boxes.empty() ? 1 : all_boxes_above_threshold ? least : most;
}

void BoxWindow::keep_boxes(const std::vector<BoxExtent>& boxes, int dims, Found& found) const {
  found.rows.clear(), found.boxes.clear();
  for (size_t i = 0; i < boxes.size(); ++i) {
    const BoxExtent part = common_part(found.window, boxes[i]);
    bool stays = true;
    if (bbox_prune_threshold.given()) {
      const double common = volume_of(part, dims), own = volume_of(boxes[i], dims);
      stays = common > 0 && common >= static_cast<double>(*bbox_prune_threshold) * own * (1 - 1e-9);
    } else {
      for (int a = 0; a < dims; ++a) {
        const double middle = (boxes[i].low[a] + boxes[i].high[a]) / 2;
        stays &= middle >= found.window.low[a] && middle <= found.window.high[a];
      }
    }
    if (!stays) continue;
    BoxExtent b = boxes[i];
    for (int a = 0; a < dims; ++a) {
      const double start = found.window.low[a], unit = found.window.high[a] - start;
      b.low[a] = std::clamp((b.low[a] - start) / unit, 0.0, 1.0),
      b.high[a] = std::clamp((b.high[a] - start) / unit, 0.0, 1.0);
    }
    found.rows.push_back(static_cast<int64_t>(i));
    found.boxes.push_back(b);
  }
}

BoxWindow::Found BoxWindow::find(const SampleContext& s, const std::vector<BoxExtent>& boxes, int dims) const {
  const RandomStream random = stream_of(s);
  const std::vector<int64_t> image =
      input_shape.given() ? pixels_of(input_shape, "input_shape", s.index, dims) : std::vector<int64_t>{};
  const std::vector<int64_t> crop =
      crop_shape.given() ? pixels_of(crop_shape, "crop_shape", s.index, dims) : std::vector<int64_t>{};
  if (aspect_ratio.size() == 6 && dims != 3)
    bad_argument("three ranges of aspect_ratio need boxes of three dimensions");
  const int64_t limit = total_num_attempts >= 0 ? total_num_attempts : kMostAttempts;
  const auto choices = static_cast<int64_t>(thresholds.size()) + (allow_no_crop && crop.empty());
  std::vector<double> volumes;
  for (const BoxExtent& b : boxes) volumes.push_back(volume_of(b, dims));
  Found found, best;
  best.window = found.window = kWhole;
  double highest = -1, threshold = 0;
  for (int64_t i = 0; i < limit; ++i) {
    const uint64_t first = static_cast<uint64_t>(i) * kDraws;
    if (i % num_attempts == 0) {
      const int64_t choice = below(random.draw(first), choices);
      if (choice == static_cast<int64_t>(thresholds.size())) {  // the whole image
        found.window = kWhole;
        keep_boxes(boxes, dims, found);
        return found;
      }
      threshold = thresholds[choice];
    }
    if (!draw(random, first, dims, image, crop, found)) continue;
    // The best window needs all overlaps; without one, the first box that decides is enough.
    const double least = threshold * (1 - 1e-6);
    const double enough = total_num_attempts < 0 ? least : all_boxes_above_threshold ? std::min(least, highest) : 1e300;
    const double v = overlap(found.window, boxes, volumes, dims, enough);
    if (total_num_attempts >= 0 && v > highest) highest = v, best = found;
    if (v < least) continue;
    keep_boxes(boxes, dims, found);
    if (boxes.empty() || !found.rows.empty()) return found;
  }
  if (total_num_attempts < 0)
    bad_argument(
        "no window of {} keeps a box under thresholds and aspect_ratio; give total_num_attempts to accept the best "
        "window",
        limit);
  if (!quiet) notice("[random_bbox_crop] no window met its threshold within total_num_attempts: using the best one");
  if (highest < 0 && !crop.empty()) best.pixels.assign(dims, 0);
  keep_boxes(boxes, dims, best);
  return best;
}

}  // namespace penstock
