// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/joined_inputs.h"

namespace penstock {

struct Cat : WholeOperator {
  Optional<int> axis{0};
  Optional<std::string> axis_name;

  static Schema<Cat> schema() {
    return Schema<Cat>("cat",
                       "Concatenates the inputs along an existing axis.\n\nThe inputs have the same dtype, the same "
                       "number of dimensions and the same extents along all other axes. Layouts: any; known ones must "
                       "be equal. Types: all.\n\n"
                       "Example:\n"
                       ">>> fn.cat(np.int32([1, 2]), np.int32([3])).tolist()\n"
                       "[1, 2, 3]")
        .inputs(1, kMaxJoined)
        .arg("axis", &Cat::axis, "The axis; negative numbers count from the end.")
        .arg("axis_name", &Cat::axis_name, "The axis by its letter in the layout, instead of by number.")
        .takes_bfloat16()
        .oracle("numpy");
  }
  void ready() override {
    if (axis.given() && axis_name.given()) bad_argument("axis and axis_name are mutually exclusive");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = joined_type(in);
    if (out[0].ndim == 0) bad_type("scalars have no axis to concatenate along; use stack");
    if (out[0].ndim > 0) at(out[0].ndim, out[0].layout);
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    const int a = at(in[0].size(), joined_type(types).layout);
    Shape s = in[0];
    for (size_t k = 1; k < in.size(); ++k)
      for (int d = 0; d < s.size(); ++d) {
        int64_t& e = s[d];
        const int64_t more = in[k][d];
        if (d == a) e = e < 0 || more < 0 ? -1 : e + more;
        else if (e < 0) e = more;
        else if (more >= 0 && e != more)
          bad_argument("inputs 0 and {} have the shapes {} and {}, which differ in more than axis {}", k, in[0].text(),
                       in[k].text(), a);
      }
    out[0] = s;
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    Layout layout;
    for (const auto& v : in)
      if (!v.layout.empty()) layout = v.layout;
    const int a = at(in[0].shape.size(), layout);
    View part = out[0];
    for (const auto& v : in) {
      part.shape = v.shape;
      to.copy(v, part);
      part.data = part.as<char>() + v.shape[a] * out[0].strides[a] * static_cast<int64_t>(size_of(v.dtype));
    }
  }

 private:
  int at(int ndim, const Layout& layout) const {
    return axis_name.given() ? axes_by_name(one_letter(*axis_name), layout)[0] : axis_index(*axis, ndim);
  }
};
PENSTOCK_OPERATOR(Cat);

}  // namespace penstock
