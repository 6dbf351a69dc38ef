// SPDX-License-Identifier: Apache-2.0
#include <unordered_set>

#include "ops/shared/indexed_rows.h"
#include "operator/operator.h"

namespace penstock {

namespace {
void check_indices(std::span<const ValueType> in) {
  if (in[1].dtype != DType::none && !is_integer(in[1].dtype))
    bad_type("indices must be integers, got {}", name_of(in[1].dtype));
  if (in[0].ndim == 0) bad_type("a value without dimensions has no elements to select");
}
}  // namespace

struct Take : WholeOperator {
  static Schema<Take> schema() {
    return Schema<Take>(
               "_take",
               "Selects elements along the first axis, as NumPy's x[indices] does.\n\nNegative indices count from the "
               "end. Types: all.")
        .inputs(2)
        .hidden()
        .takes_bfloat16()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_indices(in);
    out[0] = {in[0].dtype, in[0].ndim < 0 || in[1].ndim < 0 ? -1 : in[0].ndim + in[1].ndim - 1,
              in[1].ndim == 1 ? in[0].layout : Layout{}};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = with_rest(in[1], in[0], 1);
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    take_rows(in[0], 1, list_rows(in[1], in[0].shape[0], to), in[1].volume(), out[0], to);
  }
};
PENSTOCK_OPERATOR(Take);

struct AssignAt : WholeOperator {
  static Schema<AssignAt> schema() {
    return Schema<AssignAt>(
               "_assign_at",
               "Writes elements along the first axis, as NumPy's x[indices] = value does. The result is a new "
               "array.\n\nThe inputs are x, the indices and the value. The value is broadcast to x[indices] and "
               "converted to the type of x. If an index occurs more than once, the last value wins. Types: all.")
        .inputs(3)
        .input_names({"x", "indices", "value"})
        .read_on_host({"indices"})
        .hidden()
        .in_place()
        .takes_bfloat16()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_indices(in);
    out[0] = in[0];
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    std::vector<int64_t> rows = rows_listed(in[1], in[0].shape[0]);
    const Shape picked = with_rest(in[1].shape, in[0].shape, 1);
    if (to.at_once()) return assign_rows(in[0], in[2], 1, rows, picked, out[0]);
    std::unordered_set<int64_t> known;  // the last value wins
    for (size_t k = rows.size(); k-- > 0;)
      if (!known.insert(rows[k]).second) rows[k] = -1;
    const View list{to.scratch(rows.size() * sizeof(int64_t)), DType::int64, {}, {}, {}};
    give_numbers(list, rows, to);
    put_values(in[0], in[2], 1, list.as<const int64_t>(), picked, out[0], to);
  }
};
PENSTOCK_OPERATOR(AssignAt);

}  // namespace penstock
