// SPDX-License-Identifier: Apache-2.0
// & | ^ << >> ~ of integers and bools.
#include "ops/shared/arithmetic.h"

namespace penstock {
namespace {

struct BitwiseRules {
  using Only = LaneList<int32_t, int64_t, uint64_t>;
  static constexpr ResultType result = ResultType::promoted;
  static void check(DType a) {
    if (is_float(a)) bad_type("bitwise operators need integers or bools, got {}", name_of(a));
  }
  static void check(DType a, DType b) { check(a), check(b); }
};

struct And : BitwiseRules {
  using Dense = NarrowBits;
  static constexpr bool keeps_bools = true;
  static constexpr const char *name = "_and", *doc = "a & b.";
  PENSTOCK_TEXT(
      apply_text,
      template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>&) { return a & b; });
};
PENSTOCK_BINARY(And);

struct Or : BitwiseRules {
  using Dense = NarrowBits;
  static constexpr bool keeps_bools = true;
  static constexpr const char *name = "_or", *doc = "a | b.";
  PENSTOCK_TEXT(
      apply_text,
      template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>&) { return a | b; });
};
PENSTOCK_BINARY(Or);

struct Xor : BitwiseRules {
  using Dense = NarrowBits;
  static constexpr bool keeps_bools = true;
  static constexpr const char *name = "_xor", *doc = "a ^ b.";
  PENSTOCK_TEXT(
      apply_text,
      template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>&) { return a ^ b; });
};
PENSTOCK_BINARY(Xor);

struct ShiftLeft : BitwiseRules {
  using Dense = NarrowBits;
  static constexpr const char *name = "_shl", *doc =
                                                  "a << b in the promoted type; 0 if b is not less than the width of "
                                                  "the type in bits.";
  PENSTOCK_TEXT(
      apply_text, template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>& c) {
        const bool inside = Unsigned<V>(b) < Unsigned<V>(c.bits);
        return inside ? wrap<V>(Unsigned<V>(a) << (inside ? b : V(0)), c) : V(0);
      });
};
PENSTOCK_BINARY(ShiftLeft);

struct ShiftRight : BitwiseRules {
  using Dense = NarrowIntegers;
  static constexpr const char *name = "_shr",
                              *doc =
                                  "a >> b. Signed integers keep their sign. If b is not less than the width of the "
                                  "type in bits, no bit remains but the sign.";
  PENSTOCK_TEXT(
      apply_text, template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>& c) {
        using W = decltype(a >> b);
        if constexpr (V(-1) < V(0) || sizeof(W) > sizeof(V)) {
          // What is shifted in is the sign: by the width of W less 1 or by more is the same.
          const Unsigned<W> most = 8 * sizeof(W) - 1;
          return V(W(a) >> min(Unsigned<W>(Unsigned<V>(b)), most));
        } else {
          const bool inside = Unsigned<V>(b) < Unsigned<V>(c.bits);
          return inside ? V(a >> (inside ? b : V(0))) : V(0);
        }
      });
};
PENSTOCK_BINARY(ShiftRight);

struct Not : BitwiseRules {
  using Dense = NarrowBits;
  static constexpr const char *name = "_not", *doc = "~a; for a bool, not a.";
  PENSTOCK_TEXT(
      apply_text, template <class V> PENSTOCK_LOOPED static V apply(V a, const ArithmeticCoef<V>& c) {
        if constexpr (sizeof(V) < 4) return static_cast<V>(static_cast<V>(-1) - a);  // ~ is not vectorized in bytes
        else return wrap<V>(~Unsigned<V>(a), c);
      });
};
PENSTOCK_UNARY(Not);

}  // namespace
}  // namespace penstock
