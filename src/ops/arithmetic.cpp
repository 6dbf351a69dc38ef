// SPDX-License-Identifier: Apache-2.0
// + - * / // % and the sign -. Integers wrap in their type; // and % truncate toward zero, as in C.
#include <concepts>

#include "ops/shared/arithmetic.h"
#include "pixel/short_fmod.h"

namespace penstock {
namespace {

void refuse_bools(const char* sign, DType a, DType b) {
  if (a == DType::bool_ && b == DType::bool_) bad_type("'{}' is not defined between two bools", sign);
}

struct Add {
  using Dense = NarrowBits;
  static constexpr const char *name = "_add", *doc = "a + b; integers wrap in the promoted type.";
  static constexpr ResultType result = ResultType::promoted;
  static void check(DType a, DType b) { refuse_bools("+", a, b); }
  PENSTOCK_TEXT(
      apply_text, template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>& c) {
        return wrap<V>(Unsigned<V>(a) + Unsigned<V>(b), c);
      });
  static bool fused(float k, bool, float* mul_add) { return mul_add[0] = 1.0f, mul_add[1] = k, true; }
};
PENSTOCK_BINARY(Add);

struct Sub {
  using Dense = NarrowBits;
  static constexpr const char *name = "_sub", *doc = "a - b; integers wrap in the promoted type.";
  static constexpr ResultType result = ResultType::promoted;
  static void check(DType a, DType b) { refuse_bools("-", a, b); }
  PENSTOCK_TEXT(
      apply_text, template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>& c) {
        return wrap<V>(Unsigned<V>(a) - Unsigned<V>(b), c);
      });
  static bool fused(float k, bool left, float* mul_add) {
    mul_add[0] = left ? -1.0f : 1.0f, mul_add[1] = left ? k : -k;
    return true;
  }
};
PENSTOCK_BINARY(Sub);

struct Mul {
  using Dense = NarrowBits;
  static constexpr const char *name = "_mul", *doc = "a * b; integers wrap in the promoted type; for bools, a and b.";
  static constexpr ResultType result = ResultType::promoted;
  PENSTOCK_TEXT(
      apply_text, template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>& c) {
        return wrap<V>(Unsigned<V>(a) * Unsigned<V>(b), c);
      });
  // Adding -0 keeps the sign of a zero product, so the result is exactly the rounded product.
  static bool fused(float k, bool, float* mul_add) { return mul_add[0] = k, mul_add[1] = -0.0f, true; }
};
PENSTOCK_BINARY(Mul);

struct Div {
  static constexpr const char *name = "_div", *doc = "a / b in floating point: float32, or the operands' wider type.";
  static constexpr ResultType result = ResultType::real;
  using Only = LaneList<float, double>;
  static void check(DType a, DType b) { refuse_bools("/", a, b); }
  PENSTOCK_TEXT(
      apply_text,
      template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>&) { return a / b; });
};
PENSTOCK_BINARY(Div);

// Integer division and remainder share the check for a zero divisor.
struct DivisionRules {
  using Dense = NarrowIntegers;
  static constexpr ResultType result = ResultType::promoted;
  static constexpr const char* fault = "Integer division by zero.";
  static void check_divisor(DType t, double divisor) {
    if (is_integer(t) && divisor == 0) bad_argument("{}", fault);
  }
  PENSTOCK_TEXT(
      refuses_text, template <class V> PENSTOCK_LOOPED static bool refuses(V, V b, const ArithmeticCoef<V>&) {
        return std::is_integral_v<V> && b == V(0);
      });
};

struct FloorDiv : DivisionRules {
  static constexpr const char *name = "_fdiv", *doc = "a // b: integers truncate toward zero; floating point divides.";
  static void check(DType a, DType b) { refuse_bools("//", a, b); }
  PENSTOCK_TEXT(
      apply_text, template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>& c) {
        if constexpr (std::is_integral_v<V> && sizeof(V) < 4) {
          const int32_t q = narrow_quotient<V>(a, b == V(0) ? V(1) : b);
          return b == V(0) ? V(0) : static_cast<V>(q);
        } else if constexpr (std::is_same_v<V, int32_t>) {
          const V q = wrap<V>(Unsigned<V>(b == V(-1) ? Unsigned<V>(0) - Unsigned<V>(a) : whole_quotient(a, b)), c);
          return b == V(0) ? V(0) : q;
        } else if constexpr (std::is_integral_v<V>) {
          if (b == V(0)) return V(0);
          if (std::is_signed_v<V> && b == V(-1)) return wrap<V>(Unsigned<V>(0) - Unsigned<V>(a), c);  // lowest / -1
          return wrap<V>(Unsigned<V>(a / b), c);
        } else {
          return a / b;
        }
      });
};
PENSTOCK_BINARY(FloorDiv);

struct Mod : DivisionRules {
  // A run of short quotients, as most are, becomes vectors (pixel_loop.inc.h).
  template <std::same_as<float> V> PENSTOCK_LOOPED static bool pair_takes_near(V a, V b) {
    return has_short_quotient(a, b);
  }
  template <std::same_as<float> V> PENSTOCK_LOOPED static V pixel_near(V a, V b) { return short_fmod(a, b); }
  static constexpr const char *name = "_mod", *doc = "The remainder of a / b with the sign of a.";
  static void check(DType a, DType b) { refuse_bools("%", a, b); }
  PENSTOCK_TEXT(
      apply_text, template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>&) {
        if constexpr (std::is_integral_v<V> && sizeof(V) < 4) {
          const int32_t q = narrow_quotient<V>(a, b == V(0) ? V(1) : b);
          return b == V(0) ? V(0) : static_cast<V>(a - q * b);
        } else if constexpr (std::is_same_v<V, int32_t>) {
          const V rest = static_cast<V>(Unsigned<V>(a) - Unsigned<V>(whole_quotient(a, b)) * Unsigned<V>(b));
          return (b == V(0)) | (b == V(-1)) ? V(0) : rest;
        } else if constexpr (std::is_integral_v<V>) {
          if (b == V(0) || (std::is_signed_v<V> && b == V(-1))) return V(0);
          return a % b;
        } else {
          return fmod(a, b);
        }
      });
};
PENSTOCK_BINARY(Mod);

struct Negative {
  using Dense = NarrowBits;
  static constexpr const char *name = "_neg", *doc = "-a; unsigned integers wrap.";
  static constexpr ResultType result = ResultType::promoted;
  static void check(DType a) {
    if (a == DType::bool_) bad_type("'-' is not defined for bool");
  }
  PENSTOCK_TEXT(
      apply_text, template <class V> PENSTOCK_LOOPED static V apply(V a, const ArithmeticCoef<V>& c) {
        if constexpr (std::is_integral_v<V>) return wrap<V>(Unsigned<V>(0) - Unsigned<V>(a), c);
        else return -a;
      });
};
PENSTOCK_UNARY(Negative);

}  // namespace
}  // namespace penstock
