// SPDX-License-Identifier: Apache-2.0
// < <= > >= == !=. Integers compare by value, even if only one of the types is signed.
#include "ops/shared/arithmetic.h"

namespace penstock {
namespace {

// `less` and `equal` give -1, 0 or 1. In the integer types the coefficients' mask and sign say whether the left and the
// right operand are signed. A number is then 65 bits: the sign's extension, then the bits of the type.
struct ComparisonRules {
  using Dense = LaneList<uint8_t, int8_t, uint16_t, int16_t, float>;
  static constexpr ResultType result = ResultType::boolean;
  PENSTOCK_TEXT(
      rules_text,
      template <class V> PENSTOCK_LOOPED static bool is_less(V a, V b, const ArithmeticCoef<V>& c) {
        if constexpr (sizeof(V) == 8 && std::is_integral_v<V>) {
          const int64_t ha = (static_cast<int64_t>(a) >> 63) & static_cast<int64_t>(c.mask);
          const int64_t hb = (static_cast<int64_t>(b) >> 63) & static_cast<int64_t>(c.sign);
          return (ha < hb) | ((ha == hb) & (static_cast<uint64_t>(a) < static_cast<uint64_t>(b)));
        } else {
          return a < b;
        }
      } template <class V> PENSTOCK_LOOPED static bool is_equal(V a, V b, const ArithmeticCoef<V>& c) {
        if constexpr (sizeof(V) == 8 && std::is_integral_v<V>) {
          const int64_t ha = (static_cast<int64_t>(a) >> 63) & static_cast<int64_t>(c.mask);
          const int64_t hb = (static_cast<int64_t>(b) >> 63) & static_cast<int64_t>(c.sign);
          return (ha == hb) & (a == b);
        } else {
          return a == b;
        }
      } template <class V> PENSTOCK_HD static ArithmeticCoef<V>
          swapped(ArithmeticCoef<V> c) {
            const auto m = c.mask;
            c.mask = c.sign, c.sign = m;
            return c;
          });
};

#define PENSTOCK_COMPARISON(Name, op_name, op_doc, expression)                                                \
  struct Name : ComparisonRules {                                                                             \
    static constexpr const char *name = op_name, *doc = op_doc;                                               \
    PENSTOCK_TEXT(                                                                                            \
        apply_text, template <class V> PENSTOCK_LOOPED static V apply(V a, V b, const ArithmeticCoef<V>& c) { \
          return (expression) ? V(1) : V(0); /* a cast of a bool to float is not vectorized */                \
        });                                                                                                   \
  };                                                                                                          \
  PENSTOCK_BINARY(Name)

PENSTOCK_COMPARISON(Less, "_lt", "a < b, as bool.", is_less(a, b, c));
PENSTOCK_COMPARISON(LessEqual, "_le", "a <= b, as bool.", is_less(a, b, c) | is_equal(a, b, c));
PENSTOCK_COMPARISON(Greater, "_gt", "a > b, as bool.", is_less(b, a, swapped(c)));
PENSTOCK_COMPARISON(GreaterEqual, "_ge", "a >= b, as bool.", is_less(b, a, swapped(c)) | is_equal(a, b, c));
PENSTOCK_COMPARISON(Equal, "_eq", "a == b, as bool.", is_equal(a, b, c));
PENSTOCK_COMPARISON(NotEqual, "_ne", "a != b, as bool.", !is_equal(a, b, c));

}  // namespace
}  // namespace penstock
