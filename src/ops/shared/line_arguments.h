// SPDX-License-Identifier: Apache-2.0
// What the operators share that find lines in images of edges.
#pragma once
#include <numbers>

#include "operator/image_work.h"
#include "ops/shared/edge_votes.h"
#include "ops/shared/found_arrays.h"

namespace penstock {

struct LineOperator : FindOperator {
  float rho = 1.0f, theta = 1.0f;  // theta in degrees
  int threshold = 100;

  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void check(std::span<const ValueType> in) override {
    if (in[0].dtype != DType::none && in[0].dtype != DType::uint8 && in[0].dtype != DType::bool_)
      bad_type("an image of edges must be uint8 or bool, got {}", name_of(in[0].dtype));
  }

 protected:
  static constexpr const char* kRho = "The step of distances from the origin, in pixels.";
  static constexpr const char* kTheta = "The step of angles, in degrees.";

  // Checked before the votes are allocated.
  LineGrid grid_of(int64_t height, int64_t width, double least, double most) const {
    constexpr double kRadians = std::numbers::pi / 180;
    const LineGrid grid{static_cast<double>(rho), static_cast<double>(theta) * kRadians, least * kRadians,
                        most * kRadians};
    const double votes = ((most - least) / static_cast<double>(theta) + 3) *
                         (static_cast<double>(2 * (height + width) + 1) / static_cast<double>(rho) + 3);
    if (!(votes < (1 << 28)))
      bad_argument("rho={} and theta={} give {:.3g} places for votes, more than 2^28: take larger steps", rho, theta,
                   votes);
    return grid;
  }
};

}  // namespace penstock
