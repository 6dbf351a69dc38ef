// SPDX-License-Identifier: Apache-2.0
#include "operator/image_work.h"
#include "ops/shared/contour_borders.h"
#include "ops/shared/found_arrays.h"

namespace penstock {

struct FindContours : FindOperator {
  std::string mode = "tree", approximation = "simple";

  static Schema<FindContours> schema() {
    using Op = FindContours;
    return Schema<Op>(
               "find_contours",
               "Finds the contours of the regions of a mask and of their holes.\n\nInput: a mask of one channel, uint8 "
               "or bool, layouts HW, HWC and CHW; pixels that are not 0, and touch along a side or diagonally, are a "
               "region. Outputs, int32: the points of all contours, (P, 2), x and y; where each contour begins among "
               "them, and where the last one ends, (K + 1); and (K, 4) for each contour the number of the next one and "
               "of the one before with the same parent, of its first child and of its parent, -1 where there is none. "
               "The contours are those of cv2.findContours, in the order of their first pixels, row by row.\n\n"
               "Example:\n"
               ">>> mask = np.zeros((5, 6), np.uint8)\n"
               ">>> mask[1:4, 1:5] = 1\n"
               ">>> points, starts, family = fn.find_contours(mask)\n"
               ">>> points.tolist(), starts.tolist(), family.tolist()\n"
               "([[1, 1], [1, 3], [4, 3], [4, 1]], [0, 4], [[-1, -1, -1, -1]])")
        .input_names({"mask"})
        .outputs(3)
        .arg("mode", &Op::mode,
             "\"external\": only contours that are in no other. \"list\": all, without parents. \"ccomp\": regions, "
             "whose children are their holes; a region in a hole has no parent. \"tree\": a hole is a child of its "
             "region, a region in a hole is a child of the hole.")
        .arg("approximation", &Op::approximation,
             "\"simple\": of straight lines the ends alone, across, down or diagonal. \"none\": all points.")
        .batch_wide()
        .host_only("a border is followed from pixel to pixel")
        .oracle("opencv");
  }
  void ready() override {
    if (mode != "external" && mode != "list" && mode != "ccomp" && mode != "tree")
      bad_argument("mode must be external, list, ccomp or tree, got '{}'", mode);
    if (approximation != "simple" && approximation != "none")
      bad_argument("approximation must be simple or none, got '{}'", approximation);
  }
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].dtype != DType::none && in[0].dtype != DType::uint8 && in[0].dtype != DType::bool_)
      bad_type("a mask must be uint8 or bool, got {}", name_of(in[0].dtype));
    out[0] = {DType::int32, 2, {}};
    out[1] = {DType::int32, 1, {}};
    out[2] = {DType::int32, 2, {}};
  }
  std::vector<Shape> unknown_shapes() const override { return {{-1, 2}, {-1}, {-1, 4}}; }
  std::vector<FoundArray> find(const View& mask, int) const override {
    const auto [height, width] = plane_extents(mask);
    const RegionBorders found = find_borders(mask.as<const uint8_t>(), height, width, approximation == "simple");
    std::vector<BorderPoint> points;
    std::vector<int32_t> starts{0}, parents;
    for (const RegionBorder& b : found.all) {
      if (mode == "external" && b.parent >= 0) continue;
      points.insert(points.end(), found.points.begin() + static_cast<ptrdiff_t>(b.begin),
                    found.points.begin() + static_cast<ptrdiff_t>(b.end));
      starts.push_back(static_cast<int32_t>(points.size()));
      parents.push_back(mode == "tree" || (mode == "ccomp" && b.hole) ? b.parent : -1);
    }
    const auto count = static_cast<int64_t>(parents.size());
    return {found_array(points, {static_cast<int64_t>(points.size()), 2}), found_array(starts, {count + 1}),
            found_array(family_of(parents), {count, 4})};
  }

 private:
  // The next sibling, the one before, the first child, the parent.
  static std::vector<int32_t> family_of(const std::vector<int32_t>& parents) {
    std::vector<int32_t> family(4 * parents.size(), -1), last(parents.size() + 1, -1);  // child of each, and of none
    for (size_t k = 0; k < parents.size(); ++k) {
      int32_t& before = last[static_cast<size_t>(parents[k] + 1)];
      family[4 * k + 1] = before, family[4 * k + 3] = parents[k];
      if (before >= 0) family[4 * static_cast<size_t>(before)] = static_cast<int32_t>(k);
      else if (parents[k] >= 0) family[4 * static_cast<size_t>(parents[k]) + 2] = static_cast<int32_t>(k);
      before = static_cast<int32_t>(k);
    }
    return family;
  }
};
PENSTOCK_OPERATOR(FindContours);

}  // namespace penstock
