// SPDX-License-Identifier: Apache-2.0
// Numbers along an axis that become others: each thread makes one of them.
#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/device_work.h"
#include "cuda/whole/numbers.h"

namespace penstock {
namespace {

enum Word { kWork, kIn, kOut, kN, kM, kInner, kCoef, kAxisWords };

constexpr const char* kAxis = R"(
struct Row {
  const In* first;
  int64_t stride;
  __device__ double operator[](int64_t k) const { return static_cast<double>(static_cast<Number>(first[k * stride])); }
};
__device__ inline void run(const char* table) {
%ENTRY%
  const In* in = reinterpret_cast<const In*>(s[1]);
  Out* out = reinterpret_cast<Out*>(s[2]);
  const int64_t n = s[3], m = s[4], inner = s[5];
  const Rule::Coef& coef = *reinterpret_cast<const Rule::Coef*>(data + s[6]);
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const int64_t x = i % inner, j = i / inner % m, o = i / inner / m;
    out[i] = stored<Out>(static_cast<double>(Rule::number(Row{in + o * n * inner + x, inner}, j, coef)));
  }
}
)";

}  // namespace

void enqueue_axis_maps(std::span<const AxisStep> steps, Launches& to) {
  if (steps.empty()) return;
  EntryTable entries(kAxisWords);
  for (const AxisStep& step : steps) {  // one rule for all
    const AxisExtents e(step.in.shape, step.out.shape, step.axis);
    const int64_t coef = entries.data(step.coef.data(), step.coef.size());
    int64_t* w = entries.add(step.out.volume());
    w[kIn] = reinterpret_cast<int64_t>(step.in.data);
    w[kOut] = reinterpret_cast<int64_t>(step.out.data);
    w[kN] = e.n, w[kM] = e.m, w[kInner] = e.inner;
    w[kCoef] = coef;
  }
  const DType in = steps[0].in.dtype, out = steps[0].out.dtype;
  const std::string text = steps[0].rule.text();
  to.add(to.kernel(fmt::format("axis {} {} {}", name_of(in), name_of(out), text),
                   [&] {
                     return whole_text(
                         kAxisWords,
                         fmt::format("typedef {} In;\ntypedef {} Out;\ntypedef {} Number;\nstruct Rule {{ {} }};\n",
                                     element(in), element(out), in == DType::float16 ? "float" : element(in), text) +
                             with_entry(kAxis));
                   }),
         entries, kStageThreads);
}

}  // namespace penstock
