// SPDX-License-Identifier: Apache-2.0
// The functions of `penstock.math`. Integers give float32 (abs, min, max, pow: the promoted type).
#include <concepts>

#include "ops/shared/arithmetic.h"
#include "ops/shared/plain_powers.h"
#include "pixel/far_angles.h"

namespace penstock {
namespace {

struct RealRules {
  static constexpr ResultType result = ResultType::real;
  using Only = LaneList<float, double>;
};

// Functions of much arithmetic (pixel_loop.inc.h).
struct LongRules : RealRules {
  static constexpr bool reads_ahead = true;
};

#define PENSTOCK_MATH_FUNCTION(Name, op_name, op_doc, expression) \
  PENSTOCK_FUNCTION_BY(RealRules, Name, op_name, op_doc, expression)
#define PENSTOCK_LONG_FUNCTION(Name, op_name, op_doc, expression) \
  PENSTOCK_FUNCTION_BY(LongRules, Name, op_name, op_doc, expression)
#define PENSTOCK_FUNCTION_BY(Rules, Name, op_name, op_doc, expression)                                            \
  struct Name : Rules {                                                                                           \
    static constexpr const char *name = "_math." op_name, *doc = op_doc;                                          \
    PENSTOCK_TEXT(                                                                                                \
        apply_text,                                                                                               \
        template <class V> PENSTOCK_LOOPED static V apply(V x, const ArithmeticCoef<V>&) { return expression; }); \
  };                                                                                                              \
  PENSTOCK_UNARY(Name)

PENSTOCK_MATH_FUNCTION(Sqrt, "sqrt", "Square root.", sqrt(x));
PENSTOCK_MATH_FUNCTION(Rsqrt, "rsqrt", "One over the square root.", V(1) / sqrt(x));
PENSTOCK_LONG_FUNCTION(Cbrt, "cbrt", "Cube root.", cbrt(x));
PENSTOCK_LONG_FUNCTION(Exp, "exp", "e to the power of x.", exp(x));
PENSTOCK_MATH_FUNCTION(Fabs, "fabs", "Absolute value in floating point.", abs(x));
PENSTOCK_MATH_FUNCTION(Floor, "floor", "Rounds down to an integer, in floating point.", floor(x));
PENSTOCK_MATH_FUNCTION(Ceil, "ceil", "Rounds up to an integer, in floating point.", -floor(-x));

// A tile whose operands are all as most are takes a formula without branches and special cases (pixel_loop.inc.h).
#define PENSTOCK_NEAR_FUNCTION(Name, op_name, op_doc, expression, Number, test, near)                             \
  struct Name : RealRules {                                                                                       \
    static constexpr const char *name = "_math." op_name, *doc = op_doc;                                          \
    PENSTOCK_TEXT(                                                                                                \
        apply_text,                                                                                               \
        template <class V> PENSTOCK_LOOPED static V apply(V x, const ArithmeticCoef<V>&) { return expression; }); \
    template <Number V> static bool all_take_near(V x) { return test; }                                           \
    template <Number V> static V pixel_near(V x) { return near; }                                                 \
  };                                                                                                              \
  PENSTOCK_UNARY(Name)
#define PENSTOCK_ANGLE_FUNCTION(Name, f, op_doc) \
  PENSTOCK_NEAR_FUNCTION(Name, #f, op_doc, f##_of_any(x), std::floating_point, is_near(x), f(x))
#define PENSTOCK_LOGARITHM(Name, f, base, op_doc)                                                    \
  PENSTOCK_NEAR_FUNCTION(Name, #f, op_doc, f(x), std::same_as<float>, single_precision::is_plain(x), \
                         single_precision::log_plain(single_precision::base(), x))

PENSTOCK_LOGARITHM(Log, log, natural, "Natural logarithm.");
PENSTOCK_LOGARITHM(Log2, log2, of_two, "Logarithm to the base 2.");
PENSTOCK_LOGARITHM(Log10, log10, of_ten, "Logarithm to the base 10.");
PENSTOCK_ANGLE_FUNCTION(Sin, sin, "Sine of an angle in radians.");
PENSTOCK_ANGLE_FUNCTION(Cos, cos, "Cosine of an angle in radians.");
PENSTOCK_ANGLE_FUNCTION(Tan, tan, "Tangent of an angle in radians.");
PENSTOCK_LONG_FUNCTION(Asin, "asin", "Arc sine, in radians.", asin(x));
PENSTOCK_LONG_FUNCTION(Acos, "acos", "Arc cosine, in radians.", acos(x));
PENSTOCK_LONG_FUNCTION(Atan, "atan", "Arc tangent, in radians.", atan(x));
PENSTOCK_LONG_FUNCTION(Sinh, "sinh", "Hyperbolic sine.", sinh(x));
PENSTOCK_LONG_FUNCTION(Cosh, "cosh", "Hyperbolic cosine.", cosh(x));
PENSTOCK_LONG_FUNCTION(Tanh, "tanh", "Hyperbolic tangent.", tanh(x));
PENSTOCK_LONG_FUNCTION(Asinh, "asinh", "Inverse hyperbolic sine.", asinh(x));
PENSTOCK_LONG_FUNCTION(Acosh, "acosh", "Inverse hyperbolic cosine.", acosh(x));
PENSTOCK_LONG_FUNCTION(Atanh, "atanh", "Inverse hyperbolic tangent.", atanh(x));

struct Abs {
  using Dense = LaneList<int8_t, int16_t>;
  static constexpr const char *name = "_math.abs", *doc = "Absolute value, in the type of x.";
  static constexpr ResultType result = ResultType::promoted;
  PENSTOCK_TEXT(
      apply_text, template <class V> PENSTOCK_LOOPED static V apply(V x, const ArithmeticCoef<V>& c) {
        if constexpr (std::is_integral_v<V>) return x < V(0) ? wrap<V>(Unsigned<V>(0) - Unsigned<V>(x), c) : x;
        else return abs(x);
      });
};
PENSTOCK_UNARY(Abs);

#define PENSTOCK_CHOICE(Name, f, op_doc)                                                                            \
  struct Name {                                                                                                     \
    using Dense = NarrowIntegers;                                                                                   \
    static constexpr const char *name = "_math." #f, *doc = op_doc;                                                 \
    static constexpr ResultType result = ResultType::promoted;                                                      \
    PENSTOCK_TEXT(                                                                                                  \
        apply_text,                                                                                                 \
        template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>&) { return f(a, b); }); \
  };                                                                                                                \
  PENSTOCK_BINARY(Name)
PENSTOCK_CHOICE(Min, min, "The smaller operand, in the promoted type.");
PENSTOCK_CHOICE(Max, max, "The larger operand, in the promoted type.");

// ** and math.pow.
struct PowerRules : PlainPowers {
  static constexpr ResultType result = ResultType::promoted;
  PENSTOCK_TEXT(
      apply_text, template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>& c) {
        if constexpr (std::is_integral_v<V>) {
          if (b < V(0)) return V(0);
          Unsigned<V> product = 1, square = static_cast<Unsigned<V>>(a);
          for (Unsigned<V> n = static_cast<Unsigned<V>>(b); n; n >>= 1, square *= square)
            if (n & 1) product *= square;
          return wrap<V>(product, c);
        } else {
          return pow(a, b);
        }
      });
};
struct Pow : PowerRules {
  static constexpr const char *name = "_pow", *doc = "a ** b; integers wrap, a negative exponent gives 0.";
  static void check(DType a, DType b) {
    if (a == DType::bool_ && b == DType::bool_) bad_type("'**' is not defined between two bools");
  }
};
PENSTOCK_BINARY(Pow);
struct MathPow : PowerRules {
  static constexpr const char *name = "_math.pow", *doc = "a to the power of b in the promoted type, as for **.";
};
PENSTOCK_BINARY(MathPow);

struct Fpow : RealRules, PlainPowers {
  static constexpr const char *name = "_math.fpow", *doc = "a to the power of b in floating point.";
  PENSTOCK_TEXT(
      apply_text,
      template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>&) { return pow(a, b); });
};
PENSTOCK_BINARY(Fpow);

struct Atan2 : LongRules {
  static constexpr const char *name = "_math.atan2", *doc = "Angle of the point (b, a), in radians.";
  PENSTOCK_TEXT(
      apply_text,
      template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>&) { return atan2(a, b); });
};
PENSTOCK_BINARY(Atan2);

}  // namespace
}  // namespace penstock
