// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/images.h"

#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/numbers.h"

namespace penstock {
namespace {

enum GroupWord { kWork, kIn, kCoef, kGroupWords };

constexpr const char* kLanesOfGroups = R"(
struct GroupLanes {
  int index, count;
  __device__ void sync() const { __syncthreads(); }
#ifdef PENSTOCK_EMULATED
  void add(int32_t* to) const { ++*to; }
#else
  __device__ void add(int32_t* to) const { atomicAdd(to, 1); }
#endif
};
)";
constexpr const char* kRunGroups = R"(
__device__ inline void run(const char* table) {
%ENTRY%
  const uint8_t* in = reinterpret_cast<const uint8_t*>(s[1]);
  const Rule::Coef& coef = *reinterpret_cast<const Rule::Coef*>(data + s[2]);
  PENSTOCK_SHARED(char, memory);
  const GroupLanes lanes = {static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
  for (int64_t g = begin; g < end; ++g) {
    Rule::group(in, g, coef, lanes, memory);
    __syncthreads();
  }
}
)";

}  // namespace

void DeviceImages::enqueue(Launches& to) const {
  for (const auto& phase : steps_) {
    EntryTable entries(kGroupWords);
    for (const One& one : phase) {
      const int64_t coef = entries.data(one.step.coef.data(), one.step.coef.size());
      int64_t* w = entries.add(one.step.groups);
      w[kIn] = reinterpret_cast<int64_t>(one.in.data), w[kCoef] = coef;
    }
    const std::string text = phase[0].step.text();  // one rule for all
    to.add(to.kernel("group " + text,
                     [&] {
                       return whole_text(kGroupWords, kLanesOfGroups + fmt::format("struct Rule {{ {} }};\n", text) +
                                                          with_entry(kRunGroups));
                     }),
           entries, 1, phase[0].step.memory);
  }
}

}  // namespace penstock
