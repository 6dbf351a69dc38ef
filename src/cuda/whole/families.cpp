// SPDX-License-Identifier: Apache-2.0
// Kernels of families: one launch for the samples that have the same one.
#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/device_work.h"

namespace penstock {
namespace {

std::string instance_of(const FamilyKernel& kernel) {
  std::string arguments;
  const auto add = [&](const std::string& one) { arguments += (arguments.empty() ? "" : ", ") + one; };
  for (const DType t : kernel.types) add(element(t));
  for (const int n : kernel.numbers) add(std::to_string(n));
  if (kernel.rule) add("Rule");
  return arguments.empty() ? kernel.name : fmt::format("{}<{}>", kernel.name, arguments);
}

}  // namespace

void enqueue_kernels(std::span<const KernelStep> steps, Launches& to) {
  std::vector<const KernelStep*> rest;
  for (const KernelStep& s : steps) rest.push_back(&s);
  while (!rest.empty()) {
    const FamilyKernel& kernel = rest[0]->kernel;
    std::vector<const KernelStep*> others;
    AnyEntries entries(rest[0]->row.size());
    size_t shared_bytes = 0;
    for (const KernelStep* s : rest) {
      if (!(s->kernel == kernel)) {
        others.push_back(s);
        continue;
      }
      std::byte* row = entries.add(s->work);
      std::memcpy(row, s->row.data(), s->row.size());
      shared_bytes = std::max(shared_bytes, s->shared_bytes);
      if (!s->data) continue;
      const auto at = entries.data.once(s->data.get(), [&] { return entries.data.add_bytes(*s->data); });
      std::memcpy(row + s->data_member, &at, sizeof at);
    }
    to.add({kernel.header, instance_of(kernel), kernel.rule ? kernel.rule() : "", ""}, entries, kernel.granule,
           shared_bytes);
    rest = std::move(others);
  }
}

}  // namespace penstock
