// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "data/coco.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "data/storage.h"

namespace penstock {
namespace {

using Json = nlohmann::json;

// Numbers of the wrong kind become zero or an error; a value that does not fit is never cast.
int64_t integer(const Json& j, const char* key, int64_t fallback) {
  const auto it = j.find(key);
  if (it == j.end()) return fallback;
  if (it->is_number_unsigned() && it->get<uint64_t>() > INT64_MAX) return fallback;
  if (it->is_number_integer()) return it->get<int64_t>();
  if (it->is_number_float() && std::fabs(it->get<double>()) < 9e15) return static_cast<int64_t>(it->get<double>());
  if (it->is_boolean()) return it->get<bool>();
  return fallback;
}

class Annotations {
 public:
  explicit Annotations(const CocoOptions& options) : options_(options) {}

  void add_category(const Json& j) {
    const int64_t id = integer(j, "id", -1);
    if (id < 0 || id > INT32_MAX) bad_data("a category has no id");
    labels_.emplace(id, options_.avoid_class_remapping ? static_cast<int32_t>(id)
                                                       : static_cast<int32_t>(labels_.size()) + 1);
  }
  void add_image(const Json& j) {
    CocoImage image;
    image.id = integer(j, "id", -1);
    image.width = integer(j, "width", 0), image.height = integer(j, "height", 0);
    if (const auto name = j.find("file_name"); name != j.end() && name->is_string()) image.file_name = *name;
    if (image.id < 0 || image.file_name.empty()) bad_data("an image has no id or no file_name");
    constexpr int64_t kLargest = 1 << 20;
    if (image.width < 0 || image.height < 0 || image.width > kLargest || image.height > kLargest)
      bad_data("image {} has {} x {} pixels", image.id, image.width, image.height);
    images.push_back(std::move(image));
  }
  void add_annotation(const Json& j) {
    if (!options_.include_iscrowd && integer(j, "iscrowd", 0) != 0) return;
    CocoObject o;
    const auto box = j.find("bbox");
    const int64_t image = integer(j, "image_id", -1);
    if (box == j.end() || !box->is_array() || box->size() != 4)
      bad_data("an annotation of image {} has no bbox of 4 numbers", image);
    for (int k = 0; k < 4; ++k) {
      if (!(*box)[k].is_number()) bad_data("an annotation of image {} has no bbox of 4 numbers", image);
      o.box[k] = (*box)[k].get<float>();
    }
    if (o.box[2] < options_.size_threshold || o.box[3] < options_.size_threshold) return;
    pending_.push_back({image, integer(j, "category_id", -1)});
    if (const auto outline = j.find("segmentation"); options_.outlines && outline != j.end()) add_outline(*outline, o);
    objects_.push_back(std::move(o));
  }

  // Called after all is read: the parts of the file may come in any order.
  void finish() {
    std::unordered_map<int64_t, size_t> place;
    std::stable_sort(images.begin(), images.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    for (size_t i = 0; i < images.size(); ++i) place[images[i].id] = i;
    for (size_t k = 0; k < objects_.size(); ++k) {
      const auto image = place.find(pending_[k].first);
      if (image == place.end()) continue;
      const auto label = labels_.find(pending_[k].second);
      if (label == labels_.end())
        bad_data("an annotation of image {} has the category {}, which does not exist", pending_[k].first,
                 pending_[k].second);
      objects_[k].label = label->second;
      images[image->second].objects.push_back(std::move(objects_[k]));
    }
  }
  std::vector<CocoImage> images;

 private:
  void add_outline(const Json& j, CocoObject& o) {
    if (j.is_array()) {
      for (const auto& polygon : j) {
        if (!polygon.is_array() || polygon.size() % 2) bad_data("a polygon is not a list of pairs");
        std::vector<float> points;
        for (const auto& v : polygon) {
          if (!v.is_number()) bad_data("a polygon has a point that is not a number");
          points.push_back(v.get<float>());
        }
        o.polygons.push_back(std::move(points));
      }
    } else if (j.is_object() && j.contains("counts")) {
      const auto size = j.find("size");
      if (size == j.end() || !size->is_array() || size->size() != 2 || !(*size)[0].is_number_unsigned() ||
          !(*size)[1].is_number_unsigned())
        bad_data("run lengths have no size");
      o.runs_height = (*size)[0].get<int64_t>(), o.runs_width = (*size)[1].get<int64_t>();
      if (j["counts"].is_string()) {
        o.runs = runs_of_text(j["counts"].get_ref<const std::string&>());
      } else if (j["counts"].is_array()) {
        for (const auto& v : j["counts"]) {
          if (!v.is_number_unsigned() || v.get<uint64_t>() > UINT32_MAX) bad_data("a run length is not a length");
          o.runs.push_back(v.get<uint32_t>());
        }
      }
    }
  }

  CocoOptions options_;
  std::map<int64_t, int32_t> labels_;
  std::vector<CocoObject> objects_;
  std::vector<std::pair<int64_t, int64_t>> pending_;  // image and category of each
};

// Where the outline enters another column, inside and outside are swapped from that point downwards.
void add_crossings(std::span<const float> polygon, int64_t height, int64_t width, std::vector<int64_t>& crossings) {
  constexpr double kGrid = 5;
  constexpr double kFarthest = 1e6;
  const size_t n = polygon.size() / 2;
  const auto point = [&](size_t i, int axis) {
    const double v = std::clamp(static_cast<double>(polygon[2 * (i % n) + axis]), -kFarthest, kFarthest);
    return static_cast<int64_t>(kGrid * v + 0.5);
  };
  bool has_last = false;
  int64_t last_x = 0, last_y = 0;
  const auto visit = [&](int64_t x, int64_t y) {
    if (has_last && x != last_x) {
      const double from = (static_cast<double>(x < last_x ? x : x - 1) + 0.5) / kGrid - 0.5;
      if (from == std::floor(from) && from >= 0 && from <= static_cast<double>(width - 1)) {
        const double row = std::clamp((static_cast<double>(std::min(y, last_y)) + 0.5) / kGrid - 0.5, 0.0,
                                      static_cast<double>(height));
        crossings.push_back(static_cast<int64_t>(from) * height + static_cast<int64_t>(std::ceil(row)));
      }
    }
    last_x = x, last_y = y, has_last = true;
  };
  for (size_t i = 0; i < n; ++i) {
    int64_t x0 = point(i, 0), y0 = point(i, 1), x1 = point(i + 1, 0), y1 = point(i + 1, 1);
    const int64_t dx = std::abs(x1 - x0), dy = std::abs(y1 - y0);
    const bool wide = dx >= dy;
    const bool backwards = wide ? x0 > x1 : y0 > y1;
    if (backwards) std::swap(x0, x1), std::swap(y0, y1);
    const int64_t steps = wide ? dx : dy;
    const double slope = steps == 0 ? 0 : static_cast<double>(wide ? y1 - y0 : x1 - x0) / static_cast<double>(steps);
    for (int64_t d = 0; d <= steps; ++d) {
      const int64_t t = backwards ? steps - d : d;
      const auto across =
          static_cast<int64_t>(static_cast<double>(wide ? y0 : x0) + slope * static_cast<double>(t) + 0.5);
      wide ? visit(x0 + t, across) : visit(across, y0 + t);
    }
  }
}

}  // namespace

std::vector<uint32_t> runs_of_text(std::string_view text) {
  std::vector<uint32_t> runs;
  for (size_t at = 0; at < text.size();) {
    int64_t value = 0;
    for (int shift = 0;; shift += 5) {
      if (at == text.size() || shift > 30) bad_data("the text of the run lengths is truncated");
      const int part = text[at++] - 48;
      if (part < 0 || part > 63) bad_data("the text of the run lengths has an invalid character");
      value |= static_cast<int64_t>(part & 31) << shift;
      if (part & 32) continue;
      if (part & 16) value -= int64_t{1} << (shift + 5);
      break;
    }
    if (runs.size() > 2) value += runs[runs.size() - 2];
    if (value < 0 || value > UINT32_MAX) bad_data("a run length is {}", value);
    runs.push_back(static_cast<uint32_t>(value));
  }
  return runs;
}

void draw_object(const CocoObject& object, int32_t value, int64_t height, int64_t width, std::span<int32_t> mask) {
  const int64_t area = height * width;
  const auto put = [&](int64_t from, int64_t to) {  // column by column
    for (int64_t i = from; i < to; ++i) mask[(i % height) * width + i / height] = value;
  };
  for (const auto& polygon : object.polygons) {
    std::vector<int64_t> crossings;
    if (polygon.size() >= 2) add_crossings(polygon, height, width, crossings);
    std::sort(crossings.begin(), crossings.end());
    for (size_t k = 0; k < crossings.size(); k += 2)
      put(std::min(crossings[k], area), k + 1 < crossings.size() ? std::min(crossings[k + 1], area) : area);
  }
  if (object.runs.empty()) return;
  if (object.runs_height != height || object.runs_width != width)
    bad_data("run lengths are for {} x {} pixels, but the image has {} x {}", object.runs_height, object.runs_width,
             height, width);
  int64_t at = 0;
  for (size_t k = 0; k < object.runs.size(); ++k) {
    const int64_t end = at + object.runs[k];
    if (end > area) bad_data("run lengths exceed the {} pixels of the image", area);
    if (k % 2) put(at, end);
    at = end;
  }
}

std::vector<CocoImage> read_coco_text(std::string_view text, const std::string& path,
                                      std::span<const std::string> names, const CocoOptions& options) {
  Annotations all(options);
  std::string part;
  // Processes and discards each entry as soon as it is complete: the files have hundreds of megabytes.
  const auto step = [&](int depth, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::key && depth == 1) part = value.get<std::string>();
    if (event == Json::parse_event_t::object_end && depth == 2) {
      if (part == "images") all.add_image(value);
      if (part == "annotations") all.add_annotation(value);
      if (part == "categories") all.add_category(value);
      return false;
    }
    return true;
  };
  std::vector<CocoImage> chosen;
  try {
    [[maybe_unused]] const Json rest = Json::parse(text.begin(), text.end(), step);
    all.finish();
    if (names.empty()) {
      chosen = std::move(all.images);
    } else {
      std::unordered_map<std::string, size_t> place;
      for (size_t i = 0; i < all.images.size(); ++i) place[all.images[i].file_name] = i;
      for (const auto& name : names) {
        const auto found = place.find(name);
        if (found == place.end()) bad_data("there is no image '{}'", name);
        chosen.push_back(all.images[found->second]);
      }
    }
  } catch (const Json::parse_error& e) {  // the exception's text may contain bytes of the file
    fail_on(path, ErrorKind::data, "the annotations cannot be read: invalid JSON at byte {}", e.byte);
  } catch (const Json::exception& e) {
    fail_on(path, ErrorKind::data, "the annotations cannot be read: {}", e.what());
  } catch (const Error& e) {
    fail_on(path, e.kind(), "{}", e.what());
  }
  if (options.skip_empty) std::erase_if(chosen, [](const CocoImage& i) { return i.objects.empty(); });
  if (chosen.empty()) fail_on(path, ErrorKind::data, "there are no images");
  return chosen;
}

std::vector<CocoImage> read_coco(const std::string& path, std::span<const std::string> images,
                                 const CocoOptions& options) {
  std::vector<uint8_t> bytes;
  read_file(path, bytes, int64_t{1} << 36);
  return read_coco_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path, images, options);
}

}  // namespace penstock
