// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "cuda/stages/generic_stage.h"
#include "cuda/kernels/kernel_source.h"
#include "cuda/kernels/vocabulary.h"

namespace penstock {
namespace {

constexpr const char* kNumberTypes[kLanes] = {"float", "double", "int32_t", "int64_t", "uint64_t"};

// Operators with the same text share their functions.
struct Operators {
  std::vector<std::string> texts;
  std::vector<uint32_t> lanes;  // of each text
  std::map<const OpInfo*, int> number;
};
const Operators& operators() {
  static const auto& all = *new Operators([] {
    Operators o;
    std::map<std::string, int> known;
    for (const OpInfo* info : all_ops()) {
      const auto op = info->make();
      const StageTraits t = op->traits();
      if (!t.pixels || t.positional) continue;
      const std::string text = op->device_text();
      if (text.empty()) continue;
      const auto [it, fresh] = known.emplace(text, static_cast<int>(o.texts.size()));
      if (fresh) o.texts.push_back(text), o.lanes.push_back(0);
      o.number[info] = it->second;
      for (int l = 0; l < kLanes; ++l)
        if (op->coef_bytes(static_cast<Lane>(l)) > 0) o.lanes[it->second] |= 1u << l;
    }
    return o;
  }());
  return all;
}

}  // namespace

int generic_operator(const OpInfo* info, Lane lane) {
  const auto it = operators().number.find(info);
  const int l = static_cast<int>(lane);
  return it == operators().number.end() || !(operators().lanes[it->second] >> l & 1) ? -1 : it->second * 8 + l;
}

const std::string& generic_stage_text() {
  static const auto& text = *new std::string([] {
    const Operators& o = operators();
    std::string functions, cases;
    for (size_t k = 0; k < o.texts.size(); ++k) {
      functions += fmt::format("struct Op{} {{\n{}}};\n", k, o.texts[k]);
      for (int l = 0; l < kLanes; ++l) {
        if (!(o.lanes[k] >> l & 1)) continue;
        functions += fmt::format(
            "__device__ PENSTOCK_CALLED void op{0}_{1}(GenericValues& all, const GenericStep& s, const char* "
            "coefs, int first, int planes, int32_t* fault) {{ apply<Op{0}, {2}>(all, s, coefs, first, "
            "planes, fault); }}\n",
            k, l, kNumberTypes[l]);
        cases += fmt::format("    case {}: op{}_{}(all, s, coefs, first, planes, fault); break;\n", k * 8 + l, k, l);
      }
    }
    return vocabulary() + kernel_source("generic_kernel.h") + "namespace penstock {\n" + functions +
           "struct Operators {\n"
           "  __device__ static void operate(GenericValues& all, const GenericStep& s, const char* coefs, int first, "
           "int planes, int32_t* fault) {\n"
           "    switch (s.op) {\n" +
           cases + "    }\n  }\n};\n}\n" +
           fmt::format(
               "extern \"C\" __global__ void __launch_bounds__({}) {}(const char* table) {{ "
               "penstock::interpret<penstock::Operators>(table); }}\n",
               kStageThreads, kStageEntry);
  }());
  return text;
}

}  // namespace penstock
