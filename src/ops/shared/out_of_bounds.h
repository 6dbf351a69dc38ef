// SPDX-License-Identifier: Apache-2.0
// What a window that extends beyond the image reads there: crop, slice, crop_mirror_normalize.
#pragma once
#include <algorithm>
#include <optional>

#include "operator/any_number.h"
#include "operator/operator.h"

namespace penstock {

struct OutOfBounds {
  std::string out_of_bounds_policy = "error";
  std::vector<float> fill_values = {0.0f};

  bool constant() const { return policy_ == Policy::constant; }
  bool trims() const { return policy_ == Policy::trim; }
  // Policies that repeat samples of the input.
  std::optional<AxisFilter::Border> border() const {
    if (out_of_bounds_policy == "edge" || out_of_bounds_policy == "clamp") return AxisFilter::Border::clamp;
    if (out_of_bounds_policy == "reflect" || out_of_bounds_policy == "reflect_1001")
      return AxisFilter::Border::reflect_1001;
    if (out_of_bounds_policy == "reflect_101") return AxisFilter::Border::reflect_101;
    if (out_of_bounds_policy == "wrap") return AxisFilter::Border::wrap;
    return {};
  }
  void check_out_of_bounds(bool borders = false) {
    const std::string& p = out_of_bounds_policy;
    policy_ = p == "constant" || p == "pad" ? Policy::constant : p == "trim_to_shape" ? Policy::trim : Policy::other;
    if (out_of_bounds_policy != "error" && !constant() && !trims() && !(borders && border()))
      bad_argument("out_of_bounds_policy must be 'error', 'constant', 'pad'{} or 'trim_to_shape', got '{}'",
                   borders ? ", 'edge', 'clamp', 'reflect', 'reflect_1001', 'reflect_101', 'wrap'" : "",
                   out_of_bounds_policy);
    if (fill_values.empty()) bad_argument("fill_values must not be empty");
  }
  // Applies the window [start, start + extent) of a dimension under the policy.
  void window(Placement& p, int dim, int64_t start, int64_t extent) const {
    const int64_t have = p.extent(dim);
    const bool inside = start >= 0 && start <= have && extent <= have - start;
    if (!inside && border()) {
      if (have == 0 && extent > 0) bad_argument("an empty axis has no samples to repeat");
      AxisFilter f;  // one sample for each position, by the rule of the border
      f.kind = FilterKind::nearest;
      f.lo = static_cast<double>(start), f.hi = static_cast<double>(start + extent), f.out = extent;
      f.border = *border();
      return p.filter(dim, std::move(f));
    }
    if (trims()) {
      const int64_t lo = std::clamp<int64_t>(start, 0, have);
      extent = std::clamp<int64_t>(start + extent, lo, have) - lo;
      start = lo;
    } else if (!constant() && !inside) {
      bad_argument(
          "the window {} to {} extends beyond the {} samples of axis {}; out_of_bounds_policy says what to do then",
          start, start + extent, have, p.layout().empty() ? std::to_string(dim) : std::string(1, p.layout()[dim]));
    }
    p.window(dim, start, extent);
  }
  // Sets what is read outside; `channels` of the output, -1: no such axis.
  void fill(Placement& p, int64_t channels) const {
    if (!constant()) return;
    if (fill_values.size() > 1 && channels >= 0 && static_cast<int64_t>(fill_values.size()) > channels)
      bad_argument("fill_values must have 1 or {} values, got {}", channels, fill_values.size());
    p.fill(fill_values);
  }

 private:
  enum class Policy : uint8_t { constant, trim, other } policy_ = Policy::other;  // by check_out_of_bounds
};

template <class Op> Schema<Op>&& out_of_bounds_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("out_of_bounds_policy", &Op::out_of_bounds_policy,
           "What happens if the window extends beyond the image. error: an error; constant (or pad): fill_values; "
           "trim_to_shape: the window is clipped to the image. crop and slice can also repeat samples: edge (or "
           "clamp), reflect (or reflect_1001), reflect_101, wrap.")
      .arg("fill_values", &Op::fill_values, "Value outside the image: one, or one per channel; rounded and saturated.",
           any_number);
}

}  // namespace penstock
