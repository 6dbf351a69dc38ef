// SPDX-License-Identifier: Apache-2.0
// What operators on signals search for: largest elements, and audible parts.
#pragma once
#include <bit>
#include <cstdint>

#include "launch/entry.h"
#include "numerics/loudness.h"

namespace penstock::whole {

struct MaximumRow {
  const float* in;
  float* out;
  int64_t elements;
};
static_assert(sizeof(MaximumRow) == 24);

// A block for each row; shared memory: kThreads floats.
PENSTOCK_KERNEL void maximum(const Entry<MaximumRow>& e) {
  const float* in = e.row.in;
  const int64_t n = e.row.elements;
  float* part = shared_memory<float>();
  for (int item = thread(); item < kThreads; item += threads()) {
    float top = std::bit_cast<float>(0xff800000u);
    for (int64_t i = item; i < n; i += kThreads) top = in[i] > top ? in[i] : top;
    part[item] = top;
  }
  fold_in_halves(part, [](float& a, float b) { a = b > a ? b : a; });
  if (thread() == 0) *e.row.out = part[0];
}

// A thread finds the largest mean power of a chunk; then a block for each signal finds the chunks where it begins and
// ends, and searches these two.
struct RegionRow {
  const void* in;
  int64_t elements, window;
  double* tops;  // the largest mean power of each chunk
  int64_t chunks;
  double reference, ratio;  // as HeardRule
  int32_t *begin, *length;
};
static_assert(sizeof(RegionRow) == 72);
constexpr int kRegionBytes = kThreads * (sizeof(double) + 2 * sizeof(int64_t));  // of shared memory

// Units of work are chunks.
template <class In> PENSTOCK_KERNEL void chunk_tops(const Entry<RegionRow>& e) {
  const In* in = static_cast<const In*>(e.row.in);
  double* tops = e.row.tops;
  for (int64_t i = e.begin + thread(); i < e.end; i += threads())
    tops[i] = Loudness::chunk(in, e.row.elements, e.row.window, i, 0).top;
}

// A block for each row.
template <class In> PENSTOCK_KERNEL void heard_region(const Entry<RegionRow>& e) {
  struct Ends {
    int64_t first, last;
  };
  const In* in = static_cast<const In*>(e.row.in);
  const double* tops = e.row.tops;
  const int64_t n = e.row.elements, window = e.row.window, chunks = e.row.chunks;
  double* part = shared_memory<double>();
  Ends* ends = reinterpret_cast<Ends*>(part + kThreads);
  for (int item = thread(); item < kThreads; item += threads()) {
    double top = 0;
    for (int64_t i = item; i < chunks; i += kThreads) top = tops[i] > top ? tops[i] : top;
    part[item] = top;
  }
  fold_in_halves(part, [](double& a, double b) { a = b > a ? b : a; });
  const double reference = e.row.reference == 0 ? part[0] : e.row.reference;
  const double least = reference * e.row.ratio;
  for (int item = thread(); item < kThreads; item += threads()) {
    Ends own{chunks, -1};
    for (int64_t i = item; i < chunks; i += kThreads) {
      if (tops[i] < least || reference == 0) continue;
      own = {i < own.first ? i : own.first, i};
    }
    ends[item] = own;
  }
  fold_in_halves(ends, [](Ends& a, const Ends& b) {
    a = {b.first < a.first ? b.first : a.first, b.last > a.last ? b.last : a.last};
  });
  if (thread() > 0) return;
  int64_t first = 0, length = 0;
  if (ends[0].last >= 0) {
    first = Loudness::begin_of(Loudness::chunk(in, n, window, ends[0].first, least).first, window);
    length = Loudness::chunk(in, n, window, ends[0].last, least).last - first + 1;
  }
  *e.row.begin = static_cast<int32_t>(first);
  *e.row.length = static_cast<int32_t>(length);
}

}  // namespace penstock::whole
