// SPDX-License-Identifier: Apache-2.0
#include "data/coco_preprocessed.h"

#include <array>
#include <filesystem>

#include "data/number_at.h"
#include "data/replace_file.h"
#include "data/storage.h"

namespace penstock {
namespace {

using Polygon = std::array<int32_t, 3>;  // object, first vertex, the one after the last
using Vertex = std::array<float, 2>;
struct Runs {
  uint64_t height, width, count;
};

// Entries of all images, one after another.
struct CocoTables {
  std::vector<int32_t> offsets, counts, labels, ids, heights, widths, run_objects;
  std::vector<float> boxes;
  std::vector<Polygon> polygons;
  std::vector<Vertex> vertices;
  std::vector<int64_t> polygon_offsets, polygon_counts, vertex_offsets, vertex_counts, run_offsets, run_counts;

  // f(name of the file, entries)
  template <class F> void each(const CocoParts& parts, F&& f) {
    f("offsets.dat", offsets), f("boxes.dat", boxes), f("labels.dat", labels), f("counts.dat", counts);
    if (parts.outlines) {
      f("polygon_data.dat", polygons), f("polygon_offset.dat", polygon_offsets);
      f("polygons_count.dat", polygon_counts), f("vertices.dat", vertices);
      f("vertices_offset.dat", vertex_offsets), f("vertices_count.dat", vertex_counts);
    }
    if (parts.pixelwise) {
      f("masks_rles_idx.dat", run_objects), f("masks_offset.dat", run_offsets), f("mask_count.dat", run_counts);
      f("heights.dat", heights), f("widths.dat", widths);
    }
    if (parts.ids) f("original_ids.dat", ids);
  }
};
constexpr const char* kNames = "filenames.dat";
constexpr const char* kRuns = "masks_rles.dat";

template <class T> void append(std::vector<uint8_t>& to, const T* values, size_t n) {
  const auto* from = reinterpret_cast<const uint8_t*>(values);
  to.insert(to.end(), from, from + n * sizeof(T));
}
void append_count(std::vector<uint8_t>& to, size_t n, const std::string& path) {
  if (n > INT32_MAX) fail_on(path, ErrorKind::data, "{} entries are more than the format has room for", n);
  const auto count = static_cast<uint32_t>(n);
  append(to, &count, 1);
}

// ---- Loading.

template <class T> T at(const std::vector<uint8_t>& bytes, int64_t place) {
  return number_at<T>(bytes, place, "the file is truncated");
}

template <class T> void load_entries(const std::string& path, std::vector<T>& entries) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;  // there are none
  std::vector<uint8_t> bytes;
  read_file(path, bytes);
  const auto n = at<uint32_t>(bytes, 0);
  if (bytes.size() != sizeof n + n * sizeof(T))
    bad_data("{} entries of {} bytes do not make {} bytes", n, sizeof(T), bytes.size());
  entries.resize(n);
  if (n) std::memcpy(entries.data(), bytes.data() + sizeof n, n * sizeof(T));
}

std::vector<std::string> load_names(const std::string& path) {
  std::vector<uint8_t> bytes;
  read_file(path, bytes);
  std::vector<std::string> names(1);
  for (const uint8_t c : bytes) {
    if (c == '\n') names.emplace_back();
    else names.back() += static_cast<char>(c);
  }
  std::erase_if(names, [](const std::string& name) { return name.empty(); });
  return names;
}

std::vector<CocoObject> load_runs(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  std::vector<uint8_t> bytes;
  read_file(path, bytes);
  std::vector<CocoObject> all;
  int64_t place = 4;
  for (uint32_t left = at<uint32_t>(bytes, 0); left > 0; --left) {
    const auto head = at<Runs>(bytes, place);
    place += sizeof head;
    constexpr uint64_t kLargest = 1 << 20;
    if (head.height > kLargest || head.width > kLargest || head.count > (bytes.size() - static_cast<size_t>(place)) / 4)
      bad_data("{} run lengths of {} x {} pixels do not lie inside the file", head.count, head.height, head.width);
    CocoObject& o = all.emplace_back();
    o.runs_height = static_cast<int64_t>(head.height), o.runs_width = static_cast<int64_t>(head.width);
    for (uint64_t k = 0; k < head.count; ++k, place += 4) o.runs.push_back(at<uint32_t>(bytes, place));
  }
  return all;
}

// The entries of image i.
template <class T, class N>
std::span<const T> part_of(const std::vector<T>& all, const std::vector<N>& offsets, const std::vector<N>& counts,
                           size_t i, const char* what) {
  if (i >= offsets.size() || i >= counts.size()) bad_data("image {} has no entry for its {}", i, what);
  const auto offset = static_cast<int64_t>(offsets[i]), count = static_cast<int64_t>(counts[i]);
  const auto size = static_cast<int64_t>(all.size());
  if (offset < 0 || count < 0 || offset > size || count > size - offset)
    bad_data("the {} of image {} are entries {} to {} of {}", what, i, offset, offset + count, size);
  return std::span(all).subspan(static_cast<size_t>(offset), static_cast<size_t>(count));
}

void load_polygons(const CocoTables& t, size_t i, CocoImage& image) {
  const auto vertices = part_of(t.vertices, t.vertex_offsets, t.vertex_counts, i, "vertices");
  for (const auto& [object, first, end] : part_of(t.polygons, t.polygon_offsets, t.polygon_counts, i, "polygons")) {
    if (object < 0 || object >= static_cast<int64_t>(image.objects.size()) || first < 0 || end < first ||
        end > static_cast<int64_t>(vertices.size()))
      bad_data("image {} has a polygon of object {} from vertex {} to {}", i, object, first, end);
    auto& polygon = image.objects[static_cast<size_t>(object)].polygons.emplace_back();
    for (const Vertex& v : vertices.subspan(static_cast<size_t>(first), static_cast<size_t>(end - first)))
      polygon.insert(polygon.end(), v.begin(), v.end());
  }
}

void load_masks(const CocoTables& t, const std::vector<CocoObject>& runs, size_t i, CocoImage& image) {
  if (i >= t.heights.size() || i >= t.widths.size()) bad_data("image {} has no extents", i);
  image.height = t.heights[i], image.width = t.widths[i];
  constexpr int64_t kLargest = 1 << 20;
  if (image.width < 0 || image.height < 0 || image.width > kLargest || image.height > kLargest)
    bad_data("image {} has {} x {} pixels", i, image.width, image.height);
  const auto own = part_of(runs, t.run_offsets, t.run_counts, i, "run lengths");
  const auto objects = part_of(t.run_objects, t.run_offsets, t.run_counts, i, "run lengths");
  for (size_t k = 0; k < own.size(); ++k) {
    if (objects[k] < 0 || objects[k] >= static_cast<int64_t>(image.objects.size()))
      bad_data("image {} has run lengths of object {}", i, objects[k]);
    CocoObject& o = image.objects[static_cast<size_t>(objects[k])];
    o.runs = own[k].runs, o.runs_height = own[k].runs_height, o.runs_width = own[k].runs_width;
  }
}

}  // namespace

void save_coco(const std::string& folder, std::span<const CocoImage> images, const CocoParts& parts) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail_on(folder, ErrorKind::data, "the folder cannot be made: {}", error.message());
  CocoTables t;
  std::vector<uint8_t> runs;
  std::string names;
  for (const CocoImage& image : images) {
    if (image.file_name.find('\n') != std::string::npos)
      fail_on(folder, ErrorKind::data, "the file name of image {} has a line break", image.id);
    names += image.file_name + "\n";
    t.offsets.push_back(static_cast<int32_t>(t.labels.size()));
    t.counts.push_back(static_cast<int32_t>(image.objects.size()));
    t.ids.push_back(static_cast<int32_t>(image.id));
    t.heights.push_back(static_cast<int32_t>(image.height)), t.widths.push_back(static_cast<int32_t>(image.width));
    t.polygon_offsets.push_back(static_cast<int64_t>(t.polygons.size()));
    t.vertex_offsets.push_back(static_cast<int64_t>(t.vertices.size()));
    t.run_offsets.push_back(static_cast<int64_t>(t.run_objects.size()));
    for (size_t k = 0; k < image.objects.size(); ++k) {
      const CocoObject& o = image.objects[k];
      const auto object = static_cast<int32_t>(k);
      t.boxes.insert(t.boxes.end(), std::begin(o.box), std::end(o.box));
      t.labels.push_back(o.label);
      for (const auto& polygon : o.polygons) {
        const auto first = static_cast<int32_t>(static_cast<int64_t>(t.vertices.size()) - t.vertex_offsets.back());
        for (size_t v = 0; v + 1 < polygon.size(); v += 2) t.vertices.push_back({polygon[v], polygon[v + 1]});
        t.polygons.push_back({object, first, first + static_cast<int32_t>(polygon.size() / 2)});
      }
      if (o.runs.empty()) continue;
      t.run_objects.push_back(object);
      const Runs head{static_cast<uint64_t>(o.runs_height), static_cast<uint64_t>(o.runs_width), o.runs.size()};
      append(runs, &head, 1), append(runs, o.runs.data(), o.runs.size());
    }
    t.polygon_counts.push_back(static_cast<int64_t>(t.polygons.size()) - t.polygon_offsets.back());
    t.vertex_counts.push_back(static_cast<int64_t>(t.vertices.size()) - t.vertex_offsets.back());
    t.run_counts.push_back(static_cast<int64_t>(t.run_objects.size()) - t.run_offsets.back());
  }
  t.each(parts, [&](const char* name, const auto& entries) {
    const std::string path = path_in(folder, name);
    std::vector<uint8_t> bytes;
    append_count(bytes, entries.size(), path);
    append(bytes, entries.data(), entries.size());
    replace_file(path, bytes);
  });
  if (parts.pixelwise) {
    const std::string path = path_in(folder, kRuns);
    std::vector<uint8_t> bytes;
    append_count(bytes, t.run_objects.size(), path);
    bytes.insert(bytes.end(), runs.begin(), runs.end());
    replace_file(path, bytes);
  }
  replace_file(path_in(folder, kNames), {reinterpret_cast<const uint8_t*>(names.data()), names.size()});
}

std::vector<CocoImage> load_coco(const std::string& folder, const CocoParts& parts) {
  std::string path;  // the file that is read
  try {
    CocoTables t;
    t.each(parts, [&](const char* name, auto& entries) { load_entries(path = path_in(folder, name), entries); });
    std::vector<CocoObject> runs;
    if (parts.pixelwise) runs = load_runs(path = path_in(folder, kRuns));
    const std::vector<std::string> names = load_names(path = path_in(folder, kNames));
    path = folder;
    if (names.empty()) bad_data("there are no images");
    if (t.boxes.size() != 4 * t.labels.size())
      bad_data("{} numbers of boxes do not fit to {} labels", t.boxes.size(), t.labels.size());
    if (parts.ids && t.ids.size() != names.size())
      bad_data("it has ids of {} images of {}: save it with image_ids=True", t.ids.size(), names.size());
    std::vector<CocoImage> images;
    for (size_t i = 0; i < names.size(); ++i) {
      CocoImage& image = images.emplace_back();
      image.file_name = names[i], image.id = parts.ids ? t.ids[i] : static_cast<int64_t>(i);
      const auto labels = part_of(t.labels, t.offsets, t.counts, i, "objects");
      const auto first = static_cast<size_t>(t.offsets[i]);
      for (size_t k = 0; k < labels.size(); ++k) {
        CocoObject& o = image.objects.emplace_back();
        o.label = labels[k];
        std::copy_n(t.boxes.begin() + static_cast<int64_t>(4 * (first + k)), 4, o.box);
      }
      if (parts.outlines) load_polygons(t, i, image);
      if (parts.pixelwise) load_masks(t, runs, i, image);
    }
    return images;
  } catch (Error& e) {
    if (e.source.empty()) e.source = path;
    throw;
  }
}

}  // namespace penstock
