// SPDX-License-Identifier: Apache-2.0
// The audible parts of signals: a thread finds the largest mean power of a chunk; then a block for each signal finds
// the chunks where it begins and ends, and searches these two.
#include <bit>

#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/numbers.h"
#include "cuda/whole/signals.h"

namespace penstock {
namespace {

enum Word { kWork, kIn, kElements, kWindow, kTops, kChunks, kReference, kRatio, kBegin, kLength, kWords };

constexpr const char* kChunkTops = R"(
__device__ inline void run(const char* table) {
%ENTRY%
  double* tops = reinterpret_cast<double*>(s[4]);
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x)
    tops[i] = Loudness::chunk(reinterpret_cast<const In*>(s[1]), s[2], s[3], i, 0).top;
}
)";

constexpr const char* kHeard = R"(
__device__ inline void run(const char* table) {
%ENTRY%
  const In* in = reinterpret_cast<const In*>(s[1]);
  const double* tops = reinterpret_cast<const double*>(s[4]);
  const int64_t n = s[2], window = s[3], chunks = s[5];
  PENSTOCK_SHARED(double, part);
  int64_t* firsts = reinterpret_cast<int64_t*>(part + kParts);
  int64_t* lasts = firsts + kParts;
  for (int item = threadIdx.x; item < kParts; item += blockDim.x) {
    double top = 0;
    for (int64_t i = item; i < chunks; i += kParts) top = tops[i] > top ? tops[i] : top;
    part[item] = top;
  }
  __syncthreads();
  for (int k = kParts / 2; k > 0; k /= 2) {
    for (int item = threadIdx.x; item < k; item += blockDim.x)
      part[item] = part[item + k] > part[item] ? part[item + k] : part[item];
    __syncthreads();
  }
  const double given = std::bit_cast<double>(s[6]), reference = given == 0 ? part[0] : given;
  const double least = reference * std::bit_cast<double>(s[7]);
  for (int item = threadIdx.x; item < kParts; item += blockDim.x) {
    int64_t first = chunks, last = -1;
    for (int64_t i = item; i < chunks; i += kParts) {
      if (tops[i] < least || reference == 0) continue;
      first = i < first ? i : first;
      last = i;
    }
    firsts[item] = first, lasts[item] = last;
  }
  __syncthreads();
  for (int k = kParts / 2; k > 0; k /= 2) {
    for (int item = threadIdx.x; item < k; item += blockDim.x) {
      firsts[item] = firsts[item + k] < firsts[item] ? firsts[item + k] : firsts[item];
      lasts[item] = lasts[item + k] > lasts[item] ? lasts[item + k] : lasts[item];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    int64_t first = 0, length = 0;
    if (lasts[0] >= 0) {
      first = Loudness::begin_of(Loudness::chunk(in, n, window, firsts[0], least).first, window);
      length = Loudness::chunk(in, n, window, lasts[0], least).last - first + 1;
    }
    *reinterpret_cast<int32_t*>(s[8]) = static_cast<int32_t>(first);
    *reinterpret_cast<int32_t*>(s[9]) = static_cast<int32_t>(length);
  }
}
)";

}  // namespace

void enqueue_regions(std::span<const RegionStep> steps, Launches& to) {
  if (steps.empty()) return;
  constexpr int64_t kGranule = 32;
  EntryTable chunks(kWords), signals(kWords);
  for (const RegionStep& s : steps) {
    const int64_t n = s.in.volume(), count = (n - 1) / Loudness::chunk_length(s.rule.window) + 1;
    void* tops = to.scratch(static_cast<size_t>(count) * sizeof(double));
    for (EntryTable* table : {&chunks, &signals}) {
      int64_t* w = table->add(table == &chunks ? count : 1);
      w[kIn] = reinterpret_cast<int64_t>(s.in.data), w[kElements] = n, w[kWindow] = s.rule.window;
      w[kTops] = reinterpret_cast<int64_t>(tops), w[kChunks] = count;
      w[kReference] = std::bit_cast<int64_t>(s.rule.reference), w[kRatio] = std::bit_cast<int64_t>(s.rule.ratio);
      w[kBegin] = reinterpret_cast<int64_t>(s.begin.data), w[kLength] = reinterpret_cast<int64_t>(s.length.data);
    }
  }
  const DType type = steps[0].in.dtype;
  const auto text = [&](const char* body) {
    return whole_text(kWords, fmt::format("typedef {} In;\nconstexpr int kParts = {};\nstruct Loudness {{ {} }};\n",
                                          element(type), kStageThreads, Loudness::pixel_text) +
                                  with_entry(body));
  };
  to.add(to.kernel(fmt::format("loudest {}", name_of(type)), [&] { return text(kChunkTops); }), chunks, kGranule);
  to.add(to.kernel(fmt::format("heard {}", name_of(type)), [&] { return text(kHeard); }), signals, 1,
         kStageThreads * 3 * sizeof(double));
}

}  // namespace penstock
