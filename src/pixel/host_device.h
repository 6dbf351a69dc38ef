// SPDX-License-Identifier: Apache-2.0
// Marks a function that the CPU compiler and the GPU compiler both build.
#pragma once

#ifdef __CUDACC__
#define PENSTOCK_HD __host__ __device__
#else
#define PENSTOCK_HD
#endif
