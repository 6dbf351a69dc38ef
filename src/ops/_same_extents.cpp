// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "operator/image_layout.h"
#include "operator/operator.h"
#include "operator/point_map.h"

namespace penstock {

// penstock.Sample adds it to a pipeline: what moves one part by the map of another would else take other pixels of it,
// and of parts with more rows than there are boxes the surplus would be left out.
struct SameExtents : WholeOperator {
  std::vector<std::string> names;
  std::string checked_for;
  bool rows = false;

  static Schema<SameExtents> schema() {
    return Schema<SameExtents>(
               "_same_extents",
               "Refuses parts of a sample that do not have one height and width, or one number of rows.\n\nInputs: two "
               "images, of which only the shapes are read, or their extents [D,] H, W, int32; with rows boxes, and "
               "what "
               "has a row for each. Output: the extents, int32. Types: all.")
        .inputs(2)
        .required("names", &SameExtents::names, "What the error calls the two parts.")
        .required("checked_for", &SameExtents::checked_for, "The operator that moves them, whose error it is.")
        .arg("rows", &SameExtents::rows, "Whether only the numbers of rows are compared.")
        .batch_wide()
        .reads_shapes()
        .hidden()
        .oracle("numpy");
  }
  void ready() override {
    if (names.size() != 2) bad_argument("names must be two names, got {}", names.size());
  }
  Layout input_layout(const ValueType& in) const override {
    return rows || in.ndim == 1 ? in.layout : image_layout(in);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    for (size_t i = 0; i < 2; ++i)
      if (in[i].ndim == 0 || (!rows && in[i].ndim == 1 && in[i].dtype != DType::none && in[i].dtype != DType::int32))
        refuse(i, in[i].ndim);
    out[0] = {DType::int32, 1, {}};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    int dims[3];
    for (size_t i = 0; i < 2; ++i)
      if (in[i].size() < 1 || (!rows && in[i].size() == 1 && in[i].known() && (in[i][0] < 2 || in[i][0] > 3)))
        refuse(i, in[i].size());
    out[0] = {rows ? 1 : in[0].size() == 1 ? in[0][0] : spatial_dims(types[0].layout, dims)};
  }
  std::shared_ptr<const void> batch_state(std::span<const Batch> in, std::span<const ValueType>) const override {
    return std::make_shared<std::span<const Batch>>(in);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const std::vector<int32_t> first = extents(in[0]), second = extents(in[1]);
    if (first == second) return give_numbers(out[0], first, to);
    Error e(ErrorKind::data,
            rows
                ? fmt::format("'{}' has {}{}, '{}' has {}{}: a box has one row of each", names[1], counted(second[0]),
                              file(s, 1), names[0], counted(first[0]), file(s, 0))
                : fmt::format("'{}' is {}{}, '{}' is {}{}: all images and masks of a Sample have one height and width; "
                              "resize one of them first",
                              names[0], text(first), file(s, 0), names[1], text(second), file(s, 1)));
    e.op = checked_for;
    throw e;
  }

 private:
  [[noreturn]] void refuse(size_t part, int ndim) const {
    Error e(ErrorKind::type,
            fmt::format("'{}' has {} dimension{}: {}", names[part], ndim, ndim == 1 ? "" : "s",
                        rows ? "it has a row for each box" : "an image or a mask is (H, W) or (H, W, C)"));
    e.op = checked_for;
    throw e;
  }
  std::vector<int32_t> extents(const View& v) const {
    if (rows) return {static_cast<int32_t>(v.shape[0])};
    std::vector<int32_t> found;
    if (v.shape.size() == 1) {
      found.assign(v.as<const int32_t>(), v.as<const int32_t>() + v.shape[0]);
      return found;
    }
    int dims[3];
    for (int i = spatial_dims(v.layout, dims) - 1; i >= 0; --i) found.push_back(static_cast<int32_t>(v.shape[dims[i]]));
    return found;
  }
  static std::string counted(int32_t n) { return n == 0 ? "no rows" : fmt::format("{} row{}", n, n == 1 ? "" : "s"); }
  static std::string text(const std::vector<int32_t>& extents) { return fmt::format("{}", fmt::join(extents, " x ")); }
  static std::string file(const SampleContext& s, size_t input) {
    const auto& in = *static_cast<const std::span<const Batch>*>(s.batch_state);
    const std::string& source = in[input].sample(s.index).source;
    return source.empty() ? "" : fmt::format(" ({})", source);
  }
};
PENSTOCK_OPERATOR(SameExtents);

}  // namespace penstock
