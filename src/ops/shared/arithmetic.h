// SPDX-License-Identifier: Apache-2.0
// Shared by the operators of Python's expressions and of `math`: types, shapes, layouts, constants.
#pragma once
#include "operator/any_number.h"
#include "operator/operator.h"
#include "pixel/convert.h"
#include "pixel/wrap.h"

namespace penstock {

// Type of a result. Floating point: the wider type. Integers: the wider type, or if only one is signed a signed type
// that holds both (int64 at most). bool yields to any other type.
DType promote(DType a, DType b);
// NumPy's broadcasting: trailing dimensions are aligned and extents of 1 are repeated. -1 is unknown.
Shape broadcast(const Shape& a, const Shape& b);
// The layouts must be equal, or one empty, or one the end of the other. The result is the longer one, or none if it
// does not have `ndim` letters.
Layout common_layout(const Layout& a, const Layout& b, int ndim);
// The compute type that is exact for values of this type: i32, i64, u64 for integers and bool, f32, f64.
Lane arithmetic_lane(DType t);
// The value as the type t holds it.
template <class V> V constant_in(double value, DType t) {
  return dispatch_stored(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kStoresFloat<T>) return static_cast<V>(static_cast<float>(from_lane<double, T>(value)));
    else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return static_cast<V>(value < 0 ? static_cast<T>(static_cast<int64_t>(value))
                                      : static_cast<T>(static_cast<uint64_t>(value)));
    else return static_cast<V>(static_cast<T>(value));
  });
}

template <class V> ArithmeticCoef<V> arithmetic_coef(DType result) {
  ArithmeticCoef<V> c{};
  if constexpr (std::is_integral_v<V>) {
    const int bits = result == DType::bool_ ? 1 : static_cast<int>(size_of(result)) * 8;
    const int lane_bits = static_cast<int>(sizeof(V)) * 8;
    c.bits = bits;
    c.mask = bits >= lane_bits ? ~Unsigned<V>(0) : (Unsigned<V>(1) << (bits & (lane_bits - 1))) - 1;
    c.sign = is_unsigned(result) ? Unsigned<V>(0) : Unsigned<V>(1) << ((bits - 1) & (lane_bits - 1));
  }
  return c;
}
enum class ResultType : uint8_t {
  promoted,  // of the operands
  real,      // floating point: float32 for integers
  boolean,
};

// F may restrict the compute types: `using Only = LaneList<...>`.
template <class F> struct LanesOfArithmetic {
  using type = LaneList<float, double, int32_t, int64_t, uint64_t>;
};
template <class F>
  requires requires { typename F::Only; } struct LanesOfArithmetic<F> {
  using type = typename F::Only;
};
template <class F> using ArithmeticLanes = typename LanesOfArithmetic<F>::type;

// F may have loops over memory: `using Dense = LaneList<...>` has the types of their operands.
template <class F> struct DenseOfArithmetic {
  using type = LaneList<>;
};
template <class F>
  requires requires { typename F::Dense; } struct DenseOfArithmetic<F> {
  using type = typename F::Dense;
};
using NarrowBits = LaneList<uint8_t, uint16_t>;  // where a result depends on the bits alone
using NarrowIntegers = LaneList<uint8_t, int8_t, uint16_t, int16_t>;
template <class F> constexpr bool keeps_bools() {  // of bytes 0 and 1 such a byte
  if constexpr (requires { F::keeps_bools; }) return F::keeps_bools;
  else return F::result == ResultType::boolean;
}
template <class V, class L> ArithmeticCoef<V> coef_in_own_type(const ArithmeticCoef<L>& c) {
  return {static_cast<V>(c.constant), static_cast<Unsigned<V>>(c.mask), static_cast<Unsigned<V>>(c.sign),
          c.constant_left, c.bits};
}

// What kernels need of F, in this order.
template <class F> std::string text_of_function() {
  std::string text;
  if constexpr (requires { F::rules_text; }) text += std::string(F::rules_text) + "\n";
  if constexpr (requires { F::refuses_text; }) text += std::string(F::refuses_text) + "\n";
  static_assert(requires { F::apply_text; }, "write apply() inside PENSTOCK_TEXT(apply_text, ...)");
  return text + F::apply_text + "\n";
}
template <class F, class... Operands> constexpr bool checks_types() {
  constexpr bool named = requires { &F::check; }, fits = requires(Operands... types) { F::check(types...); };
  static_assert(!named || fits, "the form is `static void check(DType)`, with as many types as there are operands");
  return fits;  // of several functions, none is named
}

// An operator of two operands: two inputs, or one input and a constant. F gives the name, the doc, the type of the
// result, `V apply(V a, V b, c)` in PENSTOCK_TEXT(apply_text, ...) and, optionally, `check(a, b)` of the operands'
// types.
template <class F>
struct Binary : F, ElementwiseOperator<2> {
  PerSample<double> left = 0.0, right = 0.0;
  DType left_type = DType::none, right_type = DType::none;

  using Lanes = ArithmeticLanes<F>;
  using F::apply;
  PENSTOCK_PIXEL(template <class V> using Coef = ArithmeticCoef<V>;
                 template <class V> PENSTOCK_LOOPED static V pixel(V a, V b, const Coef<V>& c) {
                   return apply(a, b, c);
                 });

  static Schema<Binary> schema() {
    auto s = Schema<Binary>(F::name, std::string(F::doc) +
                                         "\n\nShapes: broadcast as in NumPy. Types: "
                                         "docs/explanation/operator_semantics.md, section 22. A constant replaces one "
                                         "input.")
                 .arg("left", &Binary::left, "Constant first operand; then the operator has one input.", any_number)
                 .arg("right", &Binary::right, "Constant second operand; then the operator has one input.", any_number)
                 .arg("left_type", &Binary::left_type, "Type of `left`.")
                 .arg("right_type", &Binary::right_type, "Type of `right`.")
                 .inputs(1, 2)
                 .hidden()
                 .oracle("dali");
    if constexpr (requires { F::float64; }) std::move(s).float64(F::float64);
    return s;
  }
  void check(std::span<const ValueType> in) override {
    const bool l = left_type != DType::none, r = right_type != DType::none;
    if (l + r + in.size() != 2) bad_argument("needs two operands, got {}", l + r + in.size());
    const ValueType scalar_left{left_type, 0, {}}, scalar_right{right_type, 0, {}};
    const ValueType& a = l ? scalar_left : in[0];
    const ValueType& b = r ? scalar_right : in[l ? 0 : 1];
    a_type = a.dtype, b_type = b.dtype;
    ValueType& o = output_;
    o.ndim = a.ndim < 0 || b.ndim < 0 ? -1 : std::max(a.ndim, b.ndim);
    o.layout = common_layout(a.layout, b.layout, o.ndim);
    o.dtype = DType::none;
    if (a_type == DType::none || b_type == DType::none) return;
    if constexpr (checks_types<F, DType, DType>()) F::check(a_type, b_type);
    const DType p = promote(a_type, b_type);
    o.dtype = F::result == ResultType::boolean                ? DType::bool_
              : F::result == ResultType::real && !is_float(p) ? DType::float32
                                                              : p;
    result = o.dtype;
    if constexpr (requires { F::check_divisor(result, 0.0); })
      if (r && right.constant()) F::check_divisor(result, right.one());
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override { out[0] = output_; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in.size() == 1 ? in[0] : broadcast(in[0], in[1]);
  }
  Lane lane(std::span<const DType>, DType out) const override {
    return arithmetic_lane(F::result == ResultType::boolean ? comparison_type() : out);
  }
  template <class V> Coef<V> coef(int i) const {
    Coef<V> c = arithmetic_coef<V>(result);
    if constexpr (F::result == ResultType::boolean && std::is_integral_v<V>) {  // here: whether an operand is signed
      c.mask = is_unsigned(a_type) ? 0 : ~Unsigned<V>(0);
      c.sign = is_unsigned(b_type) ? 0 : ~Unsigned<V>(0);
    } else if (std::is_integral_v<V> && result == DType::bool_) {  // computed as int, then compared with 0
      c = arithmetic_coef<V>(DType::int32);
    }
    c.constant_left = left_type != DType::none;
    if (c.constant_left) c.constant = constant_in<V>(left[i], left_type);
    else if (right_type != DType::none) c.constant = constant_in<V>(right[i], right_type);
    return c;
  }
  // Loops over memory compute in the operands' type: it must be the promoted one, or for a truth hold the constant.
  using Dense = typename DenseOfArithmetic<F>::type;
  template <class V> using DenseResult = std::conditional_t<F::result == ResultType::boolean, uint8_t, V>;
  template <class V> static Coef<V> in_own_type(const Coef<LaneNumber<V>>& c) { return coef_in_own_type<V>(c); }
  bool dense(DType operands) const {
    if (operands == DType::bool_ && !keeps_bools<F>()) return false;
    const bool l = left_type != DType::none, r = right_type != DType::none;
    if ((!l && a_type != operands) || (!r && b_type != operands)) return false;
    if (promote(a_type, b_type) == operands) return true;
    return F::result == ResultType::boolean && arithmetic_lane(comparison_type()) == Lane::i32 &&
           (l ? holds(operands, left, left_type) : holds(operands, right, right_type));
  }
  std::string base_text() const override { return text_of_function<F>(); }
  int fused_multiply_adds(const Coef<float>& c, float* mul_add) const {
    if constexpr (requires { F::fused(c.constant, true, mul_add); })
      return left_type != right_type && F::fused(c.constant, c.constant_left != 0, mul_add);
    return 0;
  }
  DType comparison_type() const {
    const DType p = promote(a_type, b_type);
    return p == DType::uint64 ? DType::int64 : p;  // compared as 65-bit numbers
  }

  DType a_type = DType::none, b_type = DType::none, result = DType::none;

 private:
  static bool holds(DType t, const PerSample<double>& constant, DType type) {
    const int32_t value = constant_in<int32_t>(constant.one(), type);
    return constant.constant() && constant_in<int32_t>(value, t) == value;
  }
  ValueType output_;
};

// An operator of one operand.
template <class F>
struct Unary : F, PixelOperator {
  using Lanes = ArithmeticLanes<F>;
  using F::apply;
  PENSTOCK_PIXEL(template <class V> using Coef = ArithmeticCoef<V>;
                 template <class V> PENSTOCK_LOOPED static V pixel(V a, const Coef<V>& c) { return apply(a, c); });
  static Schema<Unary> schema() {
    auto s = Schema<Unary>(F::name, std::string(F::doc) + "\n\nShapes and layouts: any; the output keeps both.")
                 .hidden()
                 .oracle("dali");
    if constexpr (requires { F::float64; }) std::move(s).float64(F::float64);
    return s;
  }
  void check(std::span<const ValueType> in) override {
    const DType t = in[0].dtype;
    if constexpr (checks_types<F, DType>())
      if (t != DType::none) F::check(t);
    result = F::result == ResultType::real && t != DType::none && !is_float(t) ? DType::float32 : t;
  }
  DType output_dtype(std::span<const ValueType>) const override { return result; }
  using Dense = typename DenseOfArithmetic<F>::type;
  template <class V> using DenseResult = V;
  template <class V> static Coef<V> in_own_type(const Coef<LaneNumber<V>>& c) { return coef_in_own_type<V>(c); }
  bool dense(DType operands) const { return operands != DType::bool_; }
  std::string base_text() const override { return text_of_function<F>(); }
  Lane lane(std::span<const DType>, DType out) const override { return arithmetic_lane(out); }
  template <class V> Coef<V> coef(int) const { return arithmetic_coef<V>(result); }
  DType result = DType::none;
};

// The operator's name is a type, because PENSTOCK_OPERATOR needs an identifier.
#define PENSTOCK_BINARY(F) \
  using F##Op = Binary<F>; \
  PENSTOCK_OPERATOR(F##Op)
#define PENSTOCK_UNARY(F) \
  using F##Op = Unary<F>; \
  PENSTOCK_OPERATOR(F##Op)

}  // namespace penstock
