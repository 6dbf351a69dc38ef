// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/fold_text.h"

#include <fmt/format.h>

#include <map>

#include "cuda/kernels/kernel_source.h"
#include "cuda/kernels/vocabulary.h"

namespace penstock {
namespace {

constexpr const char* kNumberTypes[kLanes] = {"float", "double", "int32_t", "int64_t", "uint64_t"};

// Operators with the same text share a number.
struct Folds {
  std::string functions, cases;
  std::map<const OpInfo*, int> number;
};
const Folds& folds() {
  static const auto& all = *new Folds([] {
    Folds f;
    std::map<std::string, int> known;
    for (const OpInfo* info : all_ops()) {
      const auto op = info->make();
      if (op->folded().bytes == 0) continue;
      const std::string text = op->device_text() + op->fold_text();
      const auto [it, fresh] = known.emplace(text, static_cast<int>(known.size()));
      f.number[info] = it->second;
      if (!fresh) continue;
      f.functions += fmt::format("struct Op{} {{\n{}\n}};\n", it->second, text);
      for (int l = 0; l < kLanes; ++l)
        if (op->coef_bytes(static_cast<Lane>(l)) > 0)
          f.cases += fmt::format("      case {}: fold_row<Op{}, {}>(table, row); break;\n", it->second * kLanes + l,
                                 it->second, kNumberTypes[l]);
    }
    return f;
  }());
  return all;
}

}  // namespace

int64_t fold_number(const OpInfo* info, Lane lane) {
  const auto it = folds().number.find(info);
  return it == folds().number.end() ? -1 : it->second * kLanes + static_cast<int>(lane);
}

const std::string& fold_text() {
  static const auto& text = *new std::string(
      vocabulary() + kernel_source("fold_kernel.h") + "namespace penstock {\n" + folds().functions +
      "struct Folds {\n  __device__ static void row(char* table, const FoldRow& row) {\n    switch (row.op) {\n" +
      folds().cases + "    }\n  }\n};\n}\n" +
      fmt::format("extern \"C\" __global__ void __launch_bounds__({0}) {1}(const char* block) {{\n"
                  "  penstock::fold_rows<penstock::Folds, {0}>(block);\n}}\n",
                  kFoldThreads, kFoldEntry));
  return text;
}

}  // namespace penstock
