// SPDX-License-Identifier: Apache-2.0
// What a pixel part must have (families.h describes it), as conditions with sentences: templates cannot be virtual.
#pragma once
#include <tuple>

#include "operator/families.h"
#include "operator/pixel_tiles.h"

namespace penstock {

// Whether an operator overrides a function: then the pointer to it is not one to a member of the family.
template <class Own, class OfFamily> constexpr bool overrides(Own, OfFamily) { return !std::is_same_v<Own, OfFamily>; }

template <class Op> concept HasPixelPart = requires { typename Op::PixelFamily; };
template <class Op> concept NamesPixel =
    requires { typename Op::template Coef<float>; } || requires { Op::pixel_text; };
template <class Op, class V>
concept HasPixelOf = requires(V v, Rgb<V> rgb, typename Op::template Coef<V> c) {
  requires(Op::operands == 1 && requires {
            { Op::pixel(v, c) } -> std::same_as<V>;
          }) || (Op::operands == 1 && requires {
            { Op::pixel(rgb, c) } -> std::same_as<Rgb<V>>;
          }) || (Op::operands == 2 && requires {
            { Op::pixel(v, v, c) } -> std::same_as<V>;
          }) || (Op::operands == 3 && requires {
            { Op::pixel(v, v, v, c) } -> std::same_as<V>;
          });
};

// The forms of coef(); the typed ones give coefficients in each compute type, the others in float alone.
template <class Op, class V>
concept HasTypedChannelCoef = requires(const Op o, SampleFrame at) {
  { o.template coef<V>(at, 0) } -> std::same_as<typename Op::template Coef<V>>;
};
template <class Op, class V>
concept HasTypedCoef = requires(const Op o, SampleFrame at) {
  { o.template coef<V>(at) } -> std::same_as<typename Op::template Coef<V>>;
};
template <class Op>
concept HasChannelCoef = requires(const Op o, SampleFrame at) {
  { o.coef(at, 0) } -> std::same_as<typename Op::template Coef<float>>;
};
template <class Op>
concept HasPlainCoef = requires(const Op o, SampleFrame at) {
  { o.coef(at) } -> std::same_as<typename Op::template Coef<float>>;
};
template <class Op, class V>
concept HasCoefOf = HasTypedChannelCoef<Op, V> || HasTypedCoef<Op, V> ||
                    (std::is_same_v<V, float> && (HasChannelCoef<Op> || HasPlainCoef<Op>));

template <class Op>
concept NamesFold = requires { typename Op::Values; } || requires { typename Op::Known; } ||
                    requires { Op::fold_text; } || requires { Op::folded; } || requires { &Op::know; };
template <class Op>
concept HasKnow = requires(const Op o, typename Op::Known& k) { o.know(k); } &&
                  requires { std::tuple_size<std::remove_const_t<decltype(Op::folded)>>::value; };
template <class Op, class V>
concept HasFoldOf = requires(const typename Op::Values& v, const typename Op::Known& k) {
  { Op::fold_text } -> std::convertible_to<const char*>;
  { Op::template fold<V>(v, k) } -> std::same_as<typename Op::template Coef<V>>;
};

template <class Op> concept NamesRefuses = requires { Op::fault; } || requires { &Op::template refuses<float>; };
template <class Op, class V>
concept HasRefusesOf = requires(V v, typename Op::template Coef<V> c) {
  { Op::fault } -> std::convertible_to<const char*>;
  { Op::refuses(v, v, c) } -> std::same_as<bool>;
};
template <class Op> concept NamesFused = requires { &Op::fused_multiply_adds; };
template <class Op>
concept HasFused = requires(const Op o, typename Op::template Coef<float> c, float* mul_adds) {
  { o.fused_multiply_adds(c, mul_adds) } -> std::same_as<int>;
};

// Whether a condition holds for each compute type of an operator.
#define PENSTOCK_IN_ALL_LANES(Condition) \
  []<class... V>(LaneList<V...>) { return (Condition<Op, V> && ...); }(typename LanesOf<Op>::type())

template <class Op> constexpr bool keeps_pixel_contract() {
  if constexpr (!HasPixelPart<Op>) {
    constexpr bool fits = !std::derived_from<Op, StageOperator> || !NamesPixel<Op>;
    static_assert(fits,
                  "an operator with Coef and pixel() derives from PixelOperator, ElementwiseOperator or, if it "
                  "also has a map(), from MapPixelOperator");
    return fits;
  } else {
    constexpr bool coef_type = requires { typename Op::template Coef<float>; };
    static_assert(coef_type, "a pixel part needs `template <class V> struct Coef { ... };` inside PENSTOCK_PIXEL(...)");
    constexpr bool text = requires {
      { Op::pixel_text } -> std::convertible_to<const char*>;
    };
    static_assert(text, "write Coef and pixel() inside PENSTOCK_PIXEL(...), which also keeps them as text for GPUs");
    constexpr bool lanes = requires { typename Op::Lanes; } == overrides(&Op::lane, &Op::PixelFamily::lane);
    static_assert(lanes,
                  "`using Lanes = LaneList<...>;` and `Lane lane(std::span<const DType> in, DType out) const "
                  "override` come together: the second one chooses one of the first ones");
    if constexpr (coef_type) {
      constexpr bool pixel = PENSTOCK_IN_ALL_LANES(HasPixelOf);
      static_assert(pixel,
                    "a pixel part needs `template <class V> PENSTOCK_HD static V pixel(V in, Coef<V> c)`, or with "
                    "Rgb<V> instead of V, or with as many V before the coefficients as the family has operands");
      constexpr bool folds = NamesFold<Op>;
      if constexpr (folds) {
        constexpr bool know = HasKnow<Op>;
        static_assert(know,
                      "an operator that folds needs `struct Values`, `struct Known`, `static constexpr auto folded "
                      "= std::tuple{&Name::argument, ...};` and `void know(Known&) const`");
        constexpr bool fold = PENSTOCK_IN_ALL_LANES(HasFoldOf);
        static_assert(fold,
                      "an operator that folds needs, with Values and Known inside PENSTOCK_TEXT(fold_text, ...), "
                      "`template <class V> PENSTOCK_HD static Coef<V> fold(const Values&, const Known&)`");
      } else {
        constexpr bool coef = PENSTOCK_IN_ALL_LANES(HasCoefOf);
        static_assert(coef,
                      "a pixel part needs `Coef<float> coef(int sample) const`, also with (int sample, int "
                      "channel) or (SampleFrame at); for Lanes other than float `template <class V> Coef<V> "
                      "coef(int sample) const`");
      }
      constexpr bool refuses = !NamesRefuses<Op> || PENSTOCK_IN_ALL_LANES(HasRefusesOf);
      static_assert(refuses,
                    "an operator that refuses operands needs both `static constexpr const char* fault` and, "
                    "inside PENSTOCK_PIXEL(...), `template <class V> PENSTOCK_HD static bool refuses(V a, V b, "
                    "const Coef<V>&)`");
      constexpr bool fused = !NamesFused<Op> || HasFused<Op>;
      static_assert(fused, "the form is `int fused_multiply_adds(const Coef<float>&, float* mul_adds) const`");
    }
    return coef_type && text && lanes;
  }
}
#undef PENSTOCK_IN_ALL_LANES

}  // namespace penstock
