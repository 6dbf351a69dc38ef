// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "families/team/team.h"
#include "operator/operator.h"

namespace penstock {

struct ShapeOf : WholeOperator {
  DType dtype = DType::int64, type = DType::none;

  static Schema<ShapeOf> schema() {
    return Schema<ShapeOf>("shapes",
                           "Returns the extents of each sample as a 1-D tensor, as DataNode.shape() does.\n\nLayouts: "
                           "any. Types: all.\n\n"
                           "Example:\n"
                           ">>> fn.shapes(np.zeros((48, 64, 3), np.uint8)).tolist()\n"
                           "[48, 64, 3]")
        .arg("dtype", &ShapeOf::dtype, "Type of the output; values saturate.")
        .arg("type", &ShapeOf::type, "Deprecated: the same as dtype.")
        .reads_shapes()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    const DType named = type == DType::none ? dtype : type;
    out[0] = {named == DType::none ? DType::int64 : named, 1, {}};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = Shape{in[0].size()};
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    dispatch(out[0].dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T extents[Shape::kMaxDims] = {};
      for (int d = 0; d < in[0].shape.size(); ++d) {
        const int64_t e = in[0].shape[d];
        if constexpr (std::is_integral_v<T> && sizeof(T) < 8 && !std::is_same_v<T, bool>)
          extents[d] = static_cast<T>(std::min<int64_t>(e, std::numeric_limits<T>::max()));
        else if constexpr (std::is_same_v<T, Half>) extents[d] = Half(static_cast<float>(e));
        else extents[d] = static_cast<T>(e);
      }
      give_bytes(out[0], std::as_bytes(std::span(extents, static_cast<size_t>(in[0].shape.size()))), to);
    });
  }
};
PENSTOCK_OPERATOR(ShapeOf);

}  // namespace penstock
