// SPDX-License-Identifier: Apache-2.0
// Random numbers: each thread takes a block of bits, in the same order as on the host.
#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/device_work.h"
#include "cuda/whole/numbers.h"

namespace penstock {
namespace {

enum Word { kWork, kOut, kElements, kKey, kSample, kCoef, kDrawWords };

constexpr const char* kDraw = R"(
struct alignas(sizeof(Out) * kNumbers > 16 ? 16 : sizeof(Out) * kNumbers) Numbers { Out v[kNumbers]; };
__device__ inline void run(const char* table) {
%ENTRY%
  Out* out = reinterpret_cast<Out*>(s[1]);
  const int64_t n = s[2];
  const RandomStream stream{static_cast<uint32_t>(s[3]), static_cast<uint32_t>(static_cast<uint64_t>(s[3]) >> 32),
                            static_cast<uint64_t>(s[4])};
  const Rule::Coef& coef = *reinterpret_cast<const Rule::Coef*>(data + s[5]);
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const PhiloxBlock b = stream.block(static_cast<uint64_t>(i));
    Numbers r;
    PENSTOCK_UNROLL
    for (int k = 0; k < kNumbers; ++k) r.v[k] = stored<Out>(static_cast<double>(Rule::number(b, k, coef)));
    Out* to = out + i * kNumbers;
    if (i * kNumbers + kNumbers <= n && (reinterpret_cast<uint64_t>(to) & (alignof(Numbers) - 1)) == 0) {
      *reinterpret_cast<Numbers*>(to) = r;
    } else {
      for (int k = 0; k < kNumbers && i * kNumbers + k < n; ++k) to[k] = r.v[k];
    }
  }
}
)";

}  // namespace

void enqueue_draws(std::span<const DrawStep> steps, Launches& to) {
  for (size_t k = 0; k < steps.size(); ++k) {  // one rule for all, except for ranges with their own type
    const auto same = [&](const DrawStep& s) { return s.rule.text == steps[k].rule.text; };
    bool done = false;
    for (size_t j = 0; j < k && !done; ++j) done = same(steps[j]);
    if (done) continue;
    const DrawRule& rule = steps[k].rule;
    EntryTable entries(kDrawWords);
    for (const DrawStep& step : steps) {
      if (!same(step)) continue;
      const int64_t coef = entries.data(step.coef.data(), step.coef.size()), n = step.out.volume();
      int64_t* w = entries.add((n + rule.per_block - 1) / rule.per_block);
      w[kOut] = reinterpret_cast<int64_t>(step.out.data);
      w[kElements] = n;
      w[kKey] = static_cast<int64_t>(uint64_t{step.stream.key1} << 32 | step.stream.key0);
      w[kSample] = static_cast<int64_t>(step.stream.sample);
      w[kCoef] = coef;
    }
    const DType type = steps[k].out.dtype;
    const std::string text = rule.text();
    to.add(to.kernel(fmt::format("draw {} {}", name_of(type), text),
                     [&] {
                       return whole_text(
                           kDrawWords,
                           fmt::format("typedef {} Out;\nconstexpr int kNumbers = {};\nstruct Rule {{ {} }};\n",
                                       element(type), rule.per_block, text) +
                               with_entry(kDraw));
                     }),
           entries, kStageThreads);
  }
}

}  // namespace penstock
