// SPDX-License-Identifier: Apache-2.0
// Where points go by a field of displacements (displacement_field.h): the field says where pixels come from, points
// move by its inverse.
#pragma once
#include <array>

#include "operator/operator.h"

namespace penstock {

// Positions are in pixels, (0, 0) is the outer corner of the first one.
class InverseField {
 public:
  using Point = std::array<double, 2>;
  // Throws for a view that is not a field.
  explicit InverseField(const View& field);
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }
  // The position whose pixels show `at`: exact to 1e-3 pixels where one position shows it. Where the field folds, one
  // of those that do; where none does, one that shows a near position.
  Point moved(const Point& at) const;

 private:
  struct Shown {
    Point at;
    double by_x[2], by_y[2];  // its derivatives
  };
  Shown shown(const Point& at) const;
  Point search(Point from, const Point& wanted, double* away) const;
  Point nearest(const Point& wanted) const;
  const float *x_, *y_;
  int64_t height_, width_;
};

inline void check_field_type(const ValueType& in) {
  if (in.dtype != DType::float32 && in.dtype != DType::none)
    bad_type("displacements must be float32, got {}", name_of(in.dtype));
}

}  // namespace penstock
