// SPDX-License-Identifier: Apache-2.0
// The processor's vector instructions as functions, where loops are compiled for targets that have them.
#pragma once
#include "base/target.h"

#if PENSTOCK_HAS_TARGETS
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 warns of its own AVX-512 header
#pragma GCC diagnostic ignored "-Wpsabi"                // vectors are passed between inlined functions alone
#include <immintrin.h>
#endif
