// SPDX-License-Identifier: Apache-2.0
// Members of a class once for each target of base/target.h, where base/foreach_target.h cannot be: in a rule that an
// operator writes. Vectors stay whole only in functions that are compiled for their target.
//
//     struct Rule { PENSTOCK_TARGET_MEMBERS(static float f(...) {...}) };  // Rule::Of_scalar::f, Rule::Of_avx2::f, ...
//
// The features are those of base/foreach_target.h.
#pragma once
#include "base/target.h"

#if PENSTOCK_HAS_TARGETS
// clang-format off
#define PENSTOCK_BEGIN_AVX2 \
  _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,fma,f16c,bmi,bmi2,lzcnt\")")
#define PENSTOCK_BEGIN_AVX512 _Pragma("GCC push_options") _Pragma( \
  "GCC target(\"avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2,lzcnt,prefer-vector-width=512\")")
#define PENSTOCK_END_TARGET _Pragma("GCC pop_options")
#define PENSTOCK_TARGET_MEMBERS(...)           \
  struct Of_scalar { __VA_ARGS__ };            \
  PENSTOCK_BEGIN_AVX2                          \
  struct Of_avx2 { __VA_ARGS__ };              \
  PENSTOCK_END_TARGET                          \
  PENSTOCK_BEGIN_AVX512                        \
  struct Of_avx512 { __VA_ARGS__ };            \
  PENSTOCK_END_TARGET
// clang-format on
#else
#define PENSTOCK_TARGET_MEMBERS(...) \
  struct Of_scalar {                 \
    __VA_ARGS__                      \
  };                                 \
  using Of_avx2 = Of_scalar;         \
  using Of_avx512 = Of_scalar;
#endif
