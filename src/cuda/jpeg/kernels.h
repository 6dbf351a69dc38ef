// SPDX-License-Identifier: Apache-2.0
// The kernels, in the order in which they run, and how many blocks of each should fit on a multiprocessor.
#pragma once
#include "cuda/jpeg/decode.h"
#include "cuda/jpeg/reconstruct.h"
#include "cuda/jpeg/restarts.h"
#include "cuda/jpeg/synchronize.h"
#include "cuda/jpeg/unstuff.h"

#define PENSTOCK_JPEG_ENTRY(name, blocks)                                                                     \
  extern "C" __global__ void __launch_bounds__(256, blocks) penstock_jpeg_##name(const char* table) {         \
    /* A copy: else whatever is stored might change the table. */                                             \
    const penstock::jpeg_gpu::BatchTable b = *reinterpret_cast<const penstock::jpeg_gpu::BatchTable*>(table); \
    penstock::jpeg_gpu::name(b);                                                                              \
  }

PENSTOCK_JPEG_ENTRY(count_kept, 1)
PENSTOCK_JPEG_ENTRY(write_words, 1)
PENSTOCK_JPEG_ENTRY(find_restarts, 1)
PENSTOCK_JPEG_ENTRY(lay_out_segments, 1)
PENSTOCK_JPEG_ENTRY(write_segments, 1)
PENSTOCK_JPEG_ENTRY(synchronize, 4)
PENSTOCK_JPEG_ENTRY(make_entries, 1)
PENSTOCK_JPEG_ENTRY(decode_blocks, 4)
PENSTOCK_JPEG_ENTRY(sum_dc, 1)
PENSTOCK_JPEG_ENTRY(transform_blocks, 5)
PENSTOCK_JPEG_ENTRY(write_pixels, 4)

#undef PENSTOCK_JPEG_ENTRY
