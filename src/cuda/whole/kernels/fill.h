// SPDX-License-Identifier: Apache-2.0
// Constants over boxes, from values on the host or on the device.
#pragma once
#include <cstdint>

#include "cuda/whole/kernels/arguments.h"
#include "launch/entry.h"
#include "pixel/stored.h"

namespace penstock::whole {

constexpr int kFillBytes = 16;  // of a row, per thread: a unit of work

struct FillRow {
  void* out;
  const void* there;  // values on the device, of `type`; null: `here`
  ArgumentType type;
  InData<float> here;
  int64_t count;    // values
  int64_t channel;  // the dimension whose positions have a value each; -1: none
  int64_t dims;
  struct Dim {
    int64_t extent, stride;
  } dim[kMostDims];  // innermost first. Without values per channel, channels are an ordinary dimension
};
static_assert(sizeof(FillRow) == 56 + 16 * kMostDims);

template <class Out> PENSTOCK_KERNEL void fill(const Entry<FillRow>& e) {
  constexpr int kGroup = kFillBytes / sizeof(Out);
  struct alignas(kFillBytes) Pack {
    Out v[kGroup];
  };
  Out* out = static_cast<Out*>(e.row.out);
  const void* there = e.row.there;
  const float* here = e.at(e.row.here);
  const int64_t count = e.row.count, channel = e.row.channel, dims = e.row.dims;
  const int64_t extent = e.row.dim[0].extent, stride = e.row.dim[0].stride;
  const int64_t groups = (extent + kGroup - 1) / kGroup;
  const auto value = [&](int64_t c) {
    if (c >= count && count > 1) return stored<Out>(0.0f);
    const int64_t i = count > 1 ? c : 0;
    return stored<Out>(there ? argument_at(there, e.row.type, i) : here[i]);
  };
  for (int64_t i = e.begin + thread(); i < e.end; i += threads()) {
    const int64_t first = i % groups * kGroup;
    int64_t rest = i / groups, offset = first * stride, c = 0;
    for (int d = 1; d < dims; ++d) {
      const int64_t x = rest % e.row.dim[d].extent;
      rest /= e.row.dim[d].extent;
      offset += x * e.row.dim[d].stride;
      c = d == channel ? x : c;
    }
    const int64_t n = extent - first < kGroup ? extent - first : kGroup;
    if (channel == 0) {
      for (int64_t k = 0; k < n; ++k) out[offset + k * stride] = value(first + k);
    } else if (const Out v = value(c);
               stride == 1 && n == kGroup && reinterpret_cast<uint64_t>(out + offset) % sizeof(Pack) == 0) {
      Pack p;
      for (int k = 0; k < kGroup; ++k) p.v[k] = v;
      *reinterpret_cast<Pack*>(out + offset) = p;
    } else {
      for (int64_t k = 0; k < n; ++k) out[offset + k * stride] = v;
    }
  }
}

}  // namespace penstock::whole
