// SPDX-License-Identifier: Apache-2.0
// Boxes and their labels, for operators that drop some of them: rows of coordinates in a layout, and one label per row.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "families/team/kernels/overlap.h"
#include "operator/operator.h"
#include "operator/stored.h"

namespace penstock {

struct BoxExtent {
  std::array<double, 3> low{}, high{};  // x, y[, z]
};

// Meaning of the numbers of a row: x, y, z are where a box starts, X, Y, Z where it ends, W, H, D its extents. Three
// layouts have names: ltrb (left, top, right, bottom), xywh (left, top, width, height) and cxcywh, which starts with
// the center.
class BoxLayout {
 public:
  explicit BoxLayout(const std::string& given) : name_(given) {
    centered_ = given == "cxcywh";
    const std::string letters = given == "ltrb" ? "xyXY" : given == "xywh" || centered_ ? "xyWH" : given;
    dims_ = static_cast<int>(letters.size() / 2);
    bool fits = letters.size() == 4 || letters.size() == 6, ends = false, extents = false;
    for (int a = 0; a < dims_ && fits; ++a) {
      const size_t end = letters.find("XYZ"[a]), extent = letters.find("WHD"[a]), start = letters.find("xyz"[a]);
      ends |= end != std::string::npos, extents |= extent != std::string::npos;
      fits = start != std::string::npos && ends != extents && (ends ? end : extent) != std::string::npos;
      start_[a] = static_cast<int>(start), second_[a] = static_cast<int>(ends ? end : extent);
    }
    if (!fits)
      bad_argument(
          "bbox_layout must be ltrb, xywh or cxcywh, or have the letters of xyXY, xyWH, xyzXYZ or xyzWHD in any order, "
          "got '{}'",
          given);
    extents_ = extents;
  }
  int dims() const { return dims_; }
  const std::string& name() const { return name_; }
  // For a GPU, of two axes.
  BoxForm form() const { return {{start_[0], start_[1]}, {second_[0], second_[1]}, extents_, centered_}; }
  BoxExtent read(const float* row) const {
    BoxExtent b;
    for (int a = 0; a < dims_; ++a) {
      b.low[a] = row[start_[a]] - (centered_ ? row[second_[a]] / 2.0 : 0.0);
      b.high[a] = row[second_[a]] + (extents_ ? b.low[a] : 0.0);
    }
    return b;
  }
  void write(const BoxExtent& b, float* row) const {
    for (int a = 0; a < dims_; ++a) {
      row[start_[a]] = static_cast<float>(centered_ ? (b.low[a] + b.high[a]) / 2 : b.low[a]);
      row[second_[a]] = static_cast<float>(extents_ ? b.high[a] - b.low[a] : b.high[a]);
    }
  }

 private:
  std::string name_;
  int dims_ = 0;
  bool extents_ = false, centered_ = false;
  int start_[3] = {}, second_[3] = {};
};

inline double volume_of(const BoxExtent& b, int dims) {
  double v = 1;
  for (int a = 0; a < dims; ++a) v *= std::max(0.0, b.high[a] - b.low[a]);
  return v;
}
inline BoxExtent common_part(const BoxExtent& a, const BoxExtent& b) {
  BoxExtent c;
  for (int d = 0; d < 3; ++d) c.low[d] = std::max(a.low[d], b.low[d]), c.high[d] = std::min(a.high[d], b.high[d]);
  return c;
}

// An input of float32 boxes, (N, numbers).
inline void check_box_type(const ValueType& in) {
  if (in.dtype != DType::float32 && in.dtype != DType::none)
    bad_type("boxes must be float32, got {}", name_of(in.dtype));
  if (in.ndim >= 0 && in.ndim != 2)
    bad_type("boxes must be rows of a matrix, but the input has {} dimensions", in.ndim);
}
inline void check_box_shape(const Shape& in, int numbers) {
  if (in.size() != 2 || (in[1] >= 0 && in[1] != numbers))
    bad_argument("boxes must have {} numbers each, got the shape {}", numbers, in.text());
}
// The view may be strided.
inline std::vector<BoxExtent> read_boxes(const View& in, const BoxLayout& layout) {
  check_box_shape(in.shape, 2 * layout.dims());
  std::vector<BoxExtent> boxes;
  for (int64_t i = 0; i < in.shape[0]; ++i) {
    float row[6];
    for (int64_t k = 0; k < in.shape[1]; ++k) row[k] = in.as<float>()[i * in.strides[0] + k * in.strides[1]];
    boxes.push_back(layout.read(row));
    for (int a = 0; a < layout.dims(); ++a)
      if (!std::isfinite(boxes.back().low[a]) || !std::isfinite(boxes.back().high[a]))
        bad_argument("box {} is not finite", i);
  }
  return boxes;
}

inline std::vector<float> rows_of(const std::vector<BoxExtent>& boxes, const BoxLayout& layout) {
  const auto numbers = static_cast<size_t>(2 * layout.dims());
  std::vector<float> rows(boxes.size() * numbers);
  for (size_t k = 0; k < boxes.size(); ++k) layout.write(boxes[k], rows.data() + k * numbers);
  return rows;
}

// How far boxes may extend beyond their image, in fractions of it. A partly visible object may extend so far; a box in
// another unit extends further.
constexpr double kBoxSlack = 1;
constexpr double kDalisBoxSlack = 1e-3;  // for operators where DALI refuses boxes too

// Throws if box i of a sample is not inside its image. `extents` along x, y[, z]; null: 1, for fractions of the
// image.
inline void check_box(const BoxExtent& b, const BoxLayout& layout, const double* extents, int64_t i, int sample,
                      double slack = kBoxSlack) {
  for (int a = 0; a < layout.dims(); ++a) {
    const double whole = extents ? extents[a] : 1, low = b.low[a], high = b.high[a];
    const char axis = "xyz"[a];
    const char* unit = extents ? "pixels" : "fractions of the image";
    if (high < low)
      bad_argument("box {} of sample {} extends from {} to {} along {}: read as '{}', in {}, it ends before it starts",
                   i, sample, low, high, axis, layout.name(), unit);
    if (!(low >= -slack * whole && high <= (1 + slack) * whole))
      bad_argument(
          "box {} of sample {} extends from {} to {} along {}: read as '{}', in {}, boxes must be within 0 and {}", i,
          sample, low, high, axis, layout.name(), unit, whole);
  }
}

// Width and height of the image of a sample.
template <class Number>
void image_pixels(const PerSample<std::vector<int64_t>>& input_shape, const std::string& shape_layout, int sample,
                  Number* out) {
  const std::vector<int64_t> shape = input_shape[sample];
  for (int a = 0; a < 2; ++a) {
    const size_t at = shape_layout.find("WH"[a]);
    if (at == std::string::npos) bad_argument("shape_layout needs H and W, got '{}'", shape_layout);
    if (at >= shape.size())
      bad_argument("input_shape has {} numbers, but the layout is '{}'", shape.size(), shape_layout);
    if (shape[at] < 1 || shape[at] > INT32_MAX)
      bad_argument("input_shape must have positive 32-bit numbers, got {}", shape[at]);
    out[a] = static_cast<Number>(shape[at]);
  }
}

// The second input of such an operator, which may also be given by name: integers, (N) or (N, 1), one for each box.
struct BoxLabels {
  PerSample<std::vector<int64_t>> labels;

  static constexpr const char* kLabels =
      "One label for each box, (N) or (N, 1); the output has the labels of the remaining boxes, int32.";
  ValueType label_type() const {
    const Batch* b = labels.batch();
    return {DType::int32, !b ? 1 : b->size() ? b->ndim() : -1, {}};
  }
  Shape label_shape(int sample, int64_t stay) const {
    if (!labels.batch() || labels.batch()->shape(sample).size() < 2) return {stay};
    return {stay, 1};
  }
  std::vector<int32_t> labels_of(int sample, int64_t boxes, std::span<const int64_t> rows) const {
    const std::vector<int64_t> all = labels[sample];
    if (static_cast<int64_t>(all.size()) != boxes) bad_argument("{} boxes do not match {} labels", boxes, all.size());
    std::vector<int32_t> taken;
    for (const int64_t i : rows) taken.push_back(stored<int32_t>(static_cast<double>(all[static_cast<size_t>(i)])));
    return taken;
  }
};

}  // namespace penstock
