// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "operator/any_number.h"
#include "operator/stored.h"
#include "ops/shared/axis_rule.h"
#include "ops/shared/joined_inputs.h"

namespace penstock {

struct OneHotRule {
  PENSTOCK_PIXEL(
      struct Coef { float on, off; }; template <class V> PENSTOCK_HD static int64_t class_of(V v) {  // -1: none
        return v >= 0 && v < 0x1p62f ? static_cast<int64_t>(v) : int64_t{-1};
      } template <class Row> PENSTOCK_HD static float number(const Row& in, int64_t j, const Coef& c) {
        return class_of(in[0]) == j ? c.on : c.off;
      });
};

namespace {

// Loops know the size of an element alone.
template <class In, class Bits> void put_class_bits(const In* in, const AxisExtents& e, Bits on, void* out) {
  using Number = std::conditional_t<std::is_same_v<In, Half>, float, In>;
  auto* to = static_cast<char*>(out);
  for (int64_t o = 0; o < e.outer; ++o, in += e.inner, to += e.m * e.inner * static_cast<int64_t>(sizeof on))
    for (int64_t i = 0; i < e.inner; ++i) {
      const int64_t j = OneHotRule::class_of(static_cast<double>(static_cast<Number>(in[i])));
      if (j >= 0 && j < e.m) std::memcpy(to + (j * e.inner + i) * static_cast<int64_t>(sizeof on), &on, sizeof on);
    }
}
template <class T> void put_classes(const View& in, const AxisExtents& e, T on, T* out) {
  using Bits = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  Bits bits;
  std::memcpy(&bits, &on, sizeof bits);
  dispatch(in.dtype, [&](auto tag) { put_class_bits(in.as<const typename decltype(tag)::type>(), e, bits, out); });
}
// What the rule gives, on the host: few of its numbers differ from the others.
void fill_classes(const View& in, const View& out, int axis, const OneHotRule::Coef& c) {
  const AxisExtents e(in.shape, out.shape, axis);
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::fill_n(out.as<T>(), out.volume(), stored<T>(double{c.off}));
    put_classes(in, e, stored<T>(double{c.on}), out.as<T>());
  });
}

}  // namespace

struct OneHot : WholeOperator {
  int num_classes = 0;
  Optional<int> axis{-1};
  Optional<std::string> axis_name;
  DType dtype = DType::float32;
  float on_value = 1.0f, off_value = 0.0f;

  static Schema<OneHot> schema() {
    using Op = OneHot;
    return Schema<Op>(
               "one_hot",
               "Encodes class numbers as one-hot vectors.\n\nout[..., j, ...] is on_value where the input is j, else "
               "off_value, along a new axis of num_classes. A number that is not a class gives off_value everywhere. "
               "Without `axis`, if all samples of a batch have one element, of any rank, the results are vectors. "
               "Layouts: any; the output has a layout if axis_name is given. Types: all; fractions are truncated.\n\n"
               "Example:\n"
               ">>> fn.one_hot(np.int32([2]), num_classes=4).tolist()\n"
               "[0.0, 0.0, 1.0, 0.0]")
        .required("num_classes", &Op::num_classes, "Extent of the new axis.", at_least(1))
        .arg("axis", &Op::axis, "Position of the new axis in the output; -1: last.")
        .arg("axis_name", &Op::axis_name, "Letter of the new axis in the layout of the output.")
        .arg("dtype", &Op::dtype, "Type of the result; values are rounded and saturated.")
        .arg("on_value", &Op::on_value, "Value at the class.", any_number)
        .arg("off_value", &Op::off_value, "Value elsewhere.", any_number)
        .batch_wide()
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    const int ndim = in[0].ndim;
    if (ndim >= 0) at(ndim);
    out[0] = {dtype, ndim == 0 ? 1 : ndim > 0 && axis.given() ? ndim + 1 : -1, {}};
    if (!axis_name.given()) return;
    const std::string letter = one_letter(*axis_name);
    if (ndim == 0) out[0].layout = letter;
    else if (ndim > 0 && axis.given() && in[0].layout.size() == ndim)
      out[0].layout = in[0].layout.str().insert(at(ndim), letter);
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = with_classes(in[0]);
  }
  // Vectors if all samples have one element: the number of dimensions is known only now.
  void batch_shapes(std::span<const Batch> in, std::span<const ValueType> types, std::span<Batch> out) const override {
    if (axis.given()) return;
    bool single = true;
    for (int i = 0; i < in[0].size() && single; ++i) single = in[0].shape(i).volume() == 1;
    const Layout& layout = types[0].layout;
    std::string letters;
    if (axis_name.given() && (single || layout.size() == in[0].ndim()))
      letters = (single ? "" : layout.str()) + *axis_name;
    Batch made(dtype, single ? 1 : in[0].ndim() + 1, letters, in[0].size());
    for (int i = 0; i < in[0].size(); ++i) {
      made.sample(i) = out[0].sample(i);
      if (single) made.sample(i).shape = Shape{num_classes};
    }
    out[0] = std::move(made);
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const int a = out[0].shape.size() == 1 ? 0 : at(in[0].shape.size());
    Shape one = out[0].shape;
    one[a] = 1;
    const OneHotRule::Coef coef{on_value, off_value};
    const View classes = reshaped(in[0], one);
    if (to.at_once()) fill_classes(classes, out[0], a, coef);
    else to.map_axis(classes, out[0], a, axis_rule<OneHotRule>(), std::as_bytes(std::span(&coef, 1)));
  }

 private:
  int at(int ndim) const {
    if (*axis < -1 || *axis > ndim) bad_argument("axis must be from -1 to {}, got {}", ndim, *axis);
    return *axis < 0 ? ndim : *axis;
  }
  Shape with_classes(const Shape& in) const {
    Shape s;
    for (int d = 0, a = at(in.size()); d <= in.size(); ++d) s.push_back(d == a ? num_classes : in[d < a ? d : d - 1]);
    return s;
  }
};
PENSTOCK_OPERATOR(OneHot);

}  // namespace penstock
