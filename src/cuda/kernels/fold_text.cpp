// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/fold_text.h"

#include <fmt/format.h>

#include "cuda/kernels/numbered_operators.h"
#include "cuda/kernels/type_names.h"
#include "cuda/kernels/vocabulary.h"

namespace penstock {

static const NumberedOperators& operators() {
  static const auto& all = *new NumberedOperators(
      [](const BoundOp& op) { return op.folded().bytes == 0 ? std::string() : op.device_text() + op.fold_text(); });
  return all;
}

int64_t fold_number(const OpInfo* info, Lane lane) { return operators().number(info, lane); }

const std::string& fold_text() {
  static const auto& text = *new std::string([] {
    std::string cases;
    operators().each([&](size_t k, Lane lane, int at) {
      cases += fmt::format("      case {}: fold_row<Op{}, {}>(table, row); break;\n", at, k, number(lane));
    });
    return vocabulary() + kernel_source("fold_kernel.h") + "namespace penstock {\n" + operators().structs() +
           "struct Folds {\n  __device__ static void row(char* table, const FoldRow& row) {\n    switch (row.op) {\n" +
           cases + "    }\n  }\n};\n}\n" +
           fmt::format(
               "extern \"C\" __global__ void __launch_bounds__({0}) {1}(const char* block) {{\n"
               "  penstock::fold_rows<penstock::Folds, {0}>(block);\n}}\n",
               kFoldThreads, kFoldEntry);
  }());
  return text;
}

}  // namespace penstock
