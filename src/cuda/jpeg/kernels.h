// SPDX-License-Identifier: Apache-2.0
// The kernels, in the order in which they run.
#pragma once
#include "cuda/jpeg/decode.h"
#include "cuda/jpeg/reconstruct.h"
#include "cuda/jpeg/restarts.h"
#include "cuda/jpeg/synchronize.h"
#include "cuda/jpeg/unstuff.h"

#define PENSTOCK_JPEG_ENTRY(name)                                                                \
  extern "C" __global__ void __launch_bounds__(256) penstock_jpeg_##name(const char* table) {    \
    penstock::jpeg_gpu::name(*reinterpret_cast<const penstock::jpeg_gpu::BatchTable*>(table));   \
  }

PENSTOCK_JPEG_ENTRY(count_kept)
PENSTOCK_JPEG_ENTRY(write_words)
PENSTOCK_JPEG_ENTRY(find_restarts)
PENSTOCK_JPEG_ENTRY(lay_out_segments)
PENSTOCK_JPEG_ENTRY(write_segments)
PENSTOCK_JPEG_ENTRY(synchronize)
PENSTOCK_JPEG_ENTRY(make_entries)
PENSTOCK_JPEG_ENTRY(decode_blocks)
PENSTOCK_JPEG_ENTRY(sum_dc)
PENSTOCK_JPEG_ENTRY(transform_blocks)
PENSTOCK_JPEG_ENTRY(write_pixels)

#undef PENSTOCK_JPEG_ENTRY
