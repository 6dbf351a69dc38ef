// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/fold_text.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>

#include "cuda/kernels/numbered_operators.h"
#include "cuda/kernels/type_names.h"
#include "cuda/kernels/vocabulary.h"
#include "operator/plugin_operators.h"

namespace penstock {

namespace {

std::string text_of(const NumberedOperators& operators) {
  std::string cases;
  operators.each([&](size_t k, Lane lane, int at) {
    cases += fmt::format("      case {}: fold_row<Op{}, {}>(table, row); break;\n", at, k, number(lane));
  });
  return vocabulary() + kernel_source("fold_kernel.h") + "namespace penstock {\n" + operators.structs() +
         "struct Folds {\n  __device__ static void row(char* table, const FoldRow& row) {\n    switch (row.op) {\n" +
         cases + "    }\n  }\n};\n}\n" +
         fmt::format(
             "extern \"C\" __global__ void __launch_bounds__({0}) {1}(const char* block) {{\n"
             "  penstock::fold_rows<penstock::Folds, {0}>(block);\n}}\n",
             kFoldThreads, kFoldEntry);
}

// The kernel for the operators that there are now. Those of plug-ins come after all others, in the order in which they
// were loaded: numbers stay, and without such operators the text is that of the kernel compiled with the library.
struct Folds {
  explicit Folds(const std::vector<const OpInfo*>& of_plugins)
      : plugin_operators(of_plugins.size()),
        numbered(together(of_plugins),
                 [](const BoundOp& op) {
                   return op.folded().bytes == 0 ? std::string() : op.device_text() + op.fold_text();
                 }),
        text(text_of(numbered)) {}
  static std::vector<const OpInfo*> together(const std::vector<const OpInfo*>& of_plugins) {
    std::vector<const OpInfo*> all = built_in_ops();
    all.insert(all.end(), of_plugins.begin(), of_plugins.end());
    return all;
  }
  size_t plugin_operators;
  NumberedOperators numbered;
  std::string text;
};

const Folds& folds() {
  static std::mutex mutex;
  static std::atomic<const Folds*> now = nullptr;  // never freed: callers have its text
  const Folds* known = now.load(std::memory_order_acquire);
  if (known && known->plugin_operators == plugin_op_count()) return *known;
  std::lock_guard lock(mutex);
  known = now.load(std::memory_order_acquire);
  if (known && known->plugin_operators == plugin_op_count()) return *known;
  now.store(known = new Folds(plugin_ops()), std::memory_order_release);
  return *known;
}

}  // namespace

int64_t fold_number(const OpInfo* info, Lane lane) { return folds().numbered.number(info, lane); }

const std::string& fold_text() { return folds().text; }

}  // namespace penstock
