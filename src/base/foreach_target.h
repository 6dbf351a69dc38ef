// SPDX-License-Identifier: Apache-2.0
// Compiles loops once for each target of base/target.h. This is the only place that names the features of a target: a
// new one is a block here, an enumerator and a line of PENSTOCK_FOR_TARGET there, and a test of the processor.
//
//     #define PENSTOCK_LOOPS signal                           // namespaces signal_scalar, signal_avx2, signal_avx512
//     #define PENSTOCK_LOOPS_TEXT "ops/shared/signal.inc.h"  // what each of them holds
//     #include "base/foreach_target.h"                        // once for each such text
//     ... PENSTOCK_FOR_TARGET(target, signal, multiply(...))
//
// In the text PENSTOCK_TARGET_FLOATS is the number of floats in a vector of the target: 0, 8 or 16. What the text
// needs is included before, outside the namespaces (base/intrinsics.h). Two more definitions choose the targets:
//   PENSTOCK_LOOPS_UP_TO_AVX2    The loops gain nothing from AVX-512: signal_avx512 is signal_avx2.
//   PENSTOCK_LOOPS_OF_INTEGERS   The loops use general registers alone. Without vector registers the compiler cannot
//                                spill into them, which GCC 12 does where it tunes for some processors. signal_avx2
//                                uses the bit instructions of those processors; signal_avx512 is the same.
// Where the compiler has no targets (PENSTOCK_HAS_TARGETS), all names mean the scalar loops.
#ifdef PENSTOCK_LOOPS
#ifndef PENSTOCK_FOR_TARGET
#error "include base/target.h before, outside the namespaces"
#endif

#define PENSTOCK_JOIN_NAMES(a, b) a##b
#define PENSTOCK_JOIN(a, b) PENSTOCK_JOIN_NAMES(a, b)

#if PENSTOCK_HAS_TARGETS && defined(PENSTOCK_LOOPS_OF_INTEGERS)
#pragma GCC push_options
#pragma GCC target("general-regs-only")
#endif
#define PENSTOCK_TARGET_FLOATS 0
namespace PENSTOCK_JOIN(PENSTOCK_LOOPS, _scalar) {
#include PENSTOCK_LOOPS_TEXT
}
#undef PENSTOCK_TARGET_FLOATS
#if PENSTOCK_HAS_TARGETS && defined(PENSTOCK_LOOPS_OF_INTEGERS)
#pragma GCC pop_options
#endif

#if PENSTOCK_HAS_TARGETS
#pragma GCC push_options
#ifdef PENSTOCK_LOOPS_OF_INTEGERS
#pragma GCC target("bmi,bmi2,lzcnt,general-regs-only")
#else
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt")
#endif
#define PENSTOCK_TARGET_FLOATS 8
namespace PENSTOCK_JOIN(PENSTOCK_LOOPS, _avx2) {
#include PENSTOCK_LOOPS_TEXT
}
#undef PENSTOCK_TARGET_FLOATS
#pragma GCC pop_options
#else
namespace PENSTOCK_JOIN(PENSTOCK_LOOPS, _avx2) = PENSTOCK_JOIN(PENSTOCK_LOOPS, _scalar);
#endif

#if PENSTOCK_HAS_TARGETS && !defined(PENSTOCK_LOOPS_UP_TO_AVX2) && !defined(PENSTOCK_LOOPS_OF_INTEGERS)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2,lzcnt,prefer-vector-width=512")
#define PENSTOCK_TARGET_FLOATS 16
namespace PENSTOCK_JOIN(PENSTOCK_LOOPS, _avx512) {
#include PENSTOCK_LOOPS_TEXT
}
#undef PENSTOCK_TARGET_FLOATS
#pragma GCC pop_options
#else
namespace PENSTOCK_JOIN(PENSTOCK_LOOPS, _avx512) = PENSTOCK_JOIN(PENSTOCK_LOOPS, _avx2);
#endif

#undef PENSTOCK_JOIN
#undef PENSTOCK_JOIN_NAMES
#undef PENSTOCK_LOOPS
#undef PENSTOCK_LOOPS_TEXT
#undef PENSTOCK_LOOPS_OF_INTEGERS
#undef PENSTOCK_LOOPS_UP_TO_AVX2
#endif
