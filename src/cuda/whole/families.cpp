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

namespace {

// Granules of a block. Of wide elements few: blocks that end soon share the last ones more evenly, and those that run
// together read what lies together. Of bytes what a block finds out at its beginning counts more.
int most_granules(const FamilyKernel& kernel) { return kernel.types.empty() || size_of(kernel.types[0]) > 1 ? 4 : 16; }
// Steps that have the same kernel follow each other, in their order.
std::vector<std::vector<KernelStep>> by_kernel(std::span<const KernelStep> steps) {
  std::vector<std::vector<KernelStep>> groups;
  for (const KernelStep& s : steps) {
    auto group = std::ranges::find_if(groups, [&](const auto& g) { return g[0].kernel == s.kernel; });
    if (group == groups.end()) group = groups.insert(group, std::vector<KernelStep>{});
    group->push_back(s);
  }
  return groups;
}
void enqueue(const std::vector<KernelStep>& steps, Launches& to) {
  const FamilyKernel& kernel = steps[0].kernel;
  AnyEntries entries(steps[0].row.size());
  size_t shared_bytes = 0;
  for (const KernelStep& s : steps) {
    std::byte* row = entries.add(s.work);
    std::memcpy(row, s.row.data(), s.row.size());
    shared_bytes = std::max(shared_bytes, s.shared_bytes);
    if (!s.data) continue;
    const auto at = entries.data.once(s.data.get(), [&] { return entries.data.add_bytes(*s.data); });
    std::memcpy(row + s.data_member, &at, sizeof at);
  }
  to.add(
      {kernel.header, instance_of(kernel), kernel.rule ? kernel.rule() : "", "", kernel.blocks, most_granules(kernel)},
      entries, kernel.granule, shared_bytes);
}

}  // namespace

void enqueue_kernels(std::span<const KernelStep> steps, Launches& to) {
  for (std::vector<KernelStep>& group : by_kernel(steps)) {
    if (!group[0].join) {
      enqueue(group, to);
      continue;
    }
    group[0].join(group);
    for (const auto& each : by_kernel(group)) enqueue(each, to);
  }
}

}  // namespace penstock
