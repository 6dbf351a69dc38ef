// SPDX-License-Identifier: Apache-2.0
// Largest elements, with a block for each; and results that are each a function of the input, with a thread for each.
#include "cuda/whole/signals.h"

#include <map>

#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/numbers.h"

namespace penstock {
namespace {

enum MaximumWord { kMaximumWork, kMaximumIn, kMaximumOut, kMaximumElements, kMaximumWords };
enum MapWord { kMapWork, kMapIn, kMapOut, kMapCoef, kMapTable, kMapWords };

constexpr const char* kMaximum = R"(
__device__ inline void run(const char* table) {
%ENTRY%
  const float* in = reinterpret_cast<const float*>(s[1]);
  const int64_t n = s[3];
  PENSTOCK_SHARED(float, part);
  for (int item = threadIdx.x; item < kParts; item += blockDim.x) {
    float top = std::bit_cast<float>(0xff800000u);
    for (int64_t i = item; i < n; i += kParts) top = in[i] > top ? in[i] : top;
    part[item] = top;
  }
  __syncthreads();
  for (int k = kParts / 2; k > 0; k /= 2) {
    for (int item = threadIdx.x; item < k; item += blockDim.x)
      part[item] = part[item + k] > part[item] ? part[item + k] : part[item];
    __syncthreads();
  }
  if (threadIdx.x == 0) *reinterpret_cast<float*>(s[2]) = part[0];
}
)";

constexpr const char* kMap = R"(
__device__ inline void run(const char* table) {
%ENTRY%
  const In* in = reinterpret_cast<const In*>(s[1]);
  Out* out = reinterpret_cast<Out*>(s[2]);
  const Rule::Coef& coef = *reinterpret_cast<const Rule::Coef*>(data + s[3]);
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) out[i] = Rule::value<Out>(in, i, coef, data + s[4]);
}
)";

}  // namespace

void DeviceSignals::enqueue(Launches& to) const {
  if (!maxima_.empty()) {
    EntryTable entries(kMaximumWords);
    for (const Maximum& m : maxima_) {
      int64_t* w = entries.add(1);
      w[kMaximumIn] = reinterpret_cast<int64_t>(m.in.data);
      w[kMaximumOut] = reinterpret_cast<int64_t>(m.to);
      w[kMaximumElements] = m.in.volume();
    }
    to.add(to.kernel("maximum",
                     [] {
                       return whole_text(kMaximumWords, fmt::format("constexpr int kParts = {};\n", kStageThreads) +
                                                            with_entry(kMaximum));
                     }),
           entries, 1, kStageThreads * sizeof(float));
  }
  enqueue_transforms(transforms_, to);
  enqueue_regions(regions_, to);
  if (maps_.empty()) return;
  EntryTable entries(kMapWords);  // one rule for all
  std::map<const void*, int64_t> tables;
  for (const Map& m : maps_) {
    const int64_t coef = entries.data(m.step.coef.data(), m.step.coef.size());
    int64_t table = 0;
    if (m.step.table) {
      const auto [found, fresh] = tables.try_emplace(m.step.shared.get(), 0);
      if (fresh) {
        const std::vector<std::byte> bytes = m.step.table();
        found->second = entries.data(bytes.data(), bytes.size());
      }
      table = found->second;
    }
    int64_t* w = entries.add(m.out.volume());
    w[kMapIn] = reinterpret_cast<int64_t>(m.in.data), w[kMapOut] = reinterpret_cast<int64_t>(m.out.data);
    w[kMapCoef] = coef, w[kMapTable] = table;
  }
  const DType in = maps_[0].in.dtype, out = maps_[0].out.dtype;
  const std::string text = maps_[0].step.text();
  to.add(to.kernel(fmt::format("map {} {} {}", name_of(in), name_of(out), text),
                   [&] {
                     return whole_text(kMapWords,
                                       fmt::format("typedef {} In;\ntypedef {} Out;\nstruct Rule {{ {} }};\n",
                                                   element(in), element(out), text) +
                                           with_entry(kMap));
                   }),
         entries, kStageThreads);
}

}  // namespace penstock
