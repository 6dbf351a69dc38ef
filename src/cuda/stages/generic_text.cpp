// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/generic_stage.h"
#include "cuda/kernels/numbered_operators.h"
#include "cuda/kernels/type_names.h"
#include "cuda/kernels/vocabulary.h"
#include "operator/plugin_operators.h"

namespace penstock {

// A stage with an operator of a plug-in waits for its own kernel: this one was compiled with the library.
static const NumberedOperators& operators() {
  static const auto& all = *new NumberedOperators(built_in_ops(), [](const BoundOp& op) {
    const StageTraits t = op.traits();
    return !t.pixels || t.positional ? std::string() : op.device_text();
  });
  return all;
}

int generic_operator(const OpInfo* info, Lane lane) { return operators().number(info, lane); }

const std::string& generic_stage_text() {
  static const auto& text = *new std::string([] {
    std::string functions = operators().structs(), cases;
    operators().each([&](size_t k, Lane lane, int at) {
      functions += fmt::format(
          "__device__ PENSTOCK_CALLED void op{}(GenericValues& all, const GenericStep& s, const char* coefs, int "
          "first, int planes, int32_t* fault) {{ apply<Op{}, {}>(all, s, coefs, first, planes, fault); }}\n",
          at, k, number(lane));
      cases += fmt::format("    case {0}: op{0}(all, s, coefs, first, planes, fault); break;\n", at);
    });
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
