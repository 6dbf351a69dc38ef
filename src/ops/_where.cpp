// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/indexed_rows.h"
#include "operator/operator.h"

namespace penstock {

namespace {
void check_mask(std::span<const ValueType> in) {
  if (in[1].dtype != DType::none && in[1].dtype != DType::bool_)
    bad_type("a mask must be bool, got {}", name_of(in[1].dtype));
  if (in[0].ndim >= 0 && in[1].ndim > in[0].ndim)
    bad_argument("a mask of {} dimensions does not fit a value of {}", in[1].ndim, in[0].ndim);
}
}  // namespace

struct SelectWhere : WholeOperator {
  static Schema<SelectWhere> schema() {
    return Schema<SelectWhere>(
               "_select_where",
               "Selects the elements where a mask is true, as NumPy's x[mask] does.\n\nThe mask has the shape of the "
               "first axes. Types: all.")
        .inputs(2)
        .hidden()
        .batch_wide()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_mask(in);
    out[0] = {in[0].dtype, in[0].ndim < 0 || in[1].ndim < 0 ? -1 : in[0].ndim - in[1].ndim + 1, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    check_mask(in[1], in[0]);
    out[0] = with_rest(Shape{measured(s) ? measured(s)[0] : -1}, in[0], in[1].size());
  }
  void measure(const SampleContext&, std::span<const View> in, SampleWork& to, int64_t* numbers) const override {
    check_mask(in[1].shape, in[0].shape);
    count_rows(in[1], numbers, to);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int64_t count = measured(s)[0];
    take_rows(in[0], in[1].shape.size(), list_masked(in[1], count, to), count, out[0], to);
  }
};
PENSTOCK_OPERATOR(SelectWhere);

struct AssignWhere : WholeOperator {
  static Schema<AssignWhere> schema() {
    return Schema<AssignWhere>(
               "_assign_where",
               "Writes the elements where a mask is true, as NumPy's x[mask] = value does. The result is a new "
               "array.\n\nThe inputs are x, the mask and the value. The value is broadcast to x[mask] and converted to "
               "the type of x. Types: all.")
        .inputs(3)
        .hidden()
        .batch_wide()
        .in_place()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_mask(in);
    out[0] = in[0];
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    check_mask(in[1], in[0]);
    out[0] = in[0];
  }
  void measure(const SampleContext&, std::span<const View> in, SampleWork& to, int64_t* numbers) const override {
    check_mask(in[1].shape, in[0].shape);
    count_rows(in[1], numbers, to);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int64_t count = measured(s)[0];
    const int from = in[1].shape.size();
    const Shape picked = with_rest(Shape{count}, in[0].shape, from);
    if (to.at_once()) assign_where(in[0], in[2], in[1], picked, out[0]);
    else put_values(in[0], in[2], from, list_masked(in[1], count, to), picked, out[0], to);
  }
};
PENSTOCK_OPERATOR(AssignWhere);

}  // namespace penstock
