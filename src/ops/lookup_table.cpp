// SPDX-License-Identifier: Apache-2.0
#include "operator/any_number.h"
#include "ops/shared/axis_rule.h"

namespace penstock {

struct LookupRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t size;
        float other;
      };  // the table follows
      template <class Row> PENSTOCK_HD static float number(const Row& in, int64_t, const Coef& c) {
        const auto key = in[0];
        return key >= 0 && key < static_cast<float>(c.size)
                   ? reinterpret_cast<const float*>(&c + 1)[static_cast<int64_t>(key)]
                   : c.other;
      });
};

struct LookupTable : WholeOperator {
  std::vector<int64_t> keys;
  std::vector<float> values;
  float default_value = 0.0f;
  DType dtype = DType::float32, old_dtype = DType::none;

  static Schema<LookupTable> schema() {
    using Op = LookupTable;
    return Schema<Op>(
               "lookup_table",
               "Replaces numbers by a table: keys[k] becomes values[k], all other numbers become "
               "default_value.\n\nLayouts: any; the output keeps it. Types: integers.\n\n"
               "Example:\n"
               ">>> fn.lookup_table(np.uint8([1, 2, 5]), keys=[1, 2], values=[10, 20], default_value=0).tolist()\n"
               "[10.0, 20.0, 0.0]")
        .arg("keys", &Op::keys, "Numbers from 0 to 65,535; if a key occurs more than once, the last one wins.")
        .arg("values", &Op::values, "The replacements, one for each key.", any_number)
        .arg("default_value", &Op::default_value, "The replacement of all other numbers.", any_number)
        .arg("dtype", &Op::dtype, "Type of the result; values are rounded half to even and saturated.")
        .arg("output_dtype", &Op::old_dtype, "Deprecated name of dtype.")
        .oracle("dali");
  }
  void ready() override {
    if (old_dtype != DType::none) dtype = old_dtype;
    if (keys.size() != values.size()) bad_argument("{} keys do not match {} values", keys.size(), values.size());
    constexpr int64_t kMost = 65535;
    int64_t size = 0;
    for (int64_t k : keys) {
      if (k < 0 || k > kMost) bad_argument("a key must be from 0 to {}, got {}", kMost, k);
      size = std::max(size, k + 1);
    }
    const LookupRule::Coef head{size, default_value};
    table_.assign(sizeof head / sizeof(float) + static_cast<size_t>(size), default_value);
    std::memcpy(table_.data(), &head, sizeof head);
    float* first = table_.data() + sizeof head / sizeof(float);
    for (size_t i = 0; i < keys.size(); ++i) first[keys[i]] = values[i];
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].dtype != DType::none && !is_integer(in[0].dtype))
      bad_type("expected integers, got {}", name_of(in[0].dtype));
    out[0] = in[0];
    out[0].dtype = dtype;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const Shape rows{in[0].volume(), 1};
    to.map_axis(reshaped(in[0], rows), reshaped(out[0], rows), 1, axis_rule<LookupRule>(),
                std::as_bytes(std::span(table_)));
  }

 private:
  std::vector<float> table_;  // LookupRule::Coef and its table
};
PENSTOCK_OPERATOR(LookupTable);

}  // namespace penstock
