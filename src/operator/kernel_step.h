// SPDX-License-Identifier: Apache-2.0
// The seam between families (src/families) and the devices: a step of a whole operator for which a family has a
// function of the host and a kernel, a template in families/*/kernels. Views are dense.
#pragma once
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/dtype.h"
#include "base/fixed_vector.h"
#include "launch/entry.h"
#include "launch/refusal.h"
#include "operator/sample_work.h"

namespace penstock {

// An instance of a kernel. Its function is `void name<types..., numbers..., Rule>(const whole::Entry<Row>&)`.
struct FamilyKernel {
  const char* header;                 // under src/; such headers are embedded as text
  const char* name;                   // with its namespace in penstock, such as "window::fold"
  FixedVector<DType, 2> types;        // of elements
  FixedVector<int, 4> numbers;        // sizes that are known when the kernel is compiled
  std::string (*rule)() = nullptr;    // members of `struct Rule`, which an operator gives; null: there is no Rule
  int64_t granule = whole::kThreads;  // a block takes a multiple of so many units of work
  int blocks = 1;                     // that registers of a multiprocessor should hold
  friend bool operator==(const FamilyKernel& a, const FamilyKernel& b) {
    return std::strcmp(a.name, b.name) == 0 && a.rule == b.rule && std::ranges::equal(a.types, b.types) &&
           std::ranges::equal(a.numbers, b.numbers) && std::strcmp(a.header, b.header) == 0;
  }
};

// The work of one sample, or of one frame of it.
struct KernelStep {
  FamilyKernel kernel;
  std::vector<std::byte> row;  // what the kernel gets as `entry.row`; addresses in it are those of the views
  int64_t work = 0;            // units, which the kernel defines: it gets a part of them, [entry.begin, entry.end)
  size_t shared_bytes = 0;     // memory of a block: at most kBlockBytes
  // Bytes that go along with the row, for a member of it that is an InData. Steps with the same ones share them.
  std::shared_ptr<const std::vector<std::byte>> data = nullptr;
  size_t data_member = 0;      // offsetof(Row, member)
  std::function<void()> host;  // the same on the host, at once
  // Throws what a kernel has found wrong with its sample: the kernel writes it where a member of the row points. A
  // batch with such steps waits for the GPU. On the host, host() throws.
  std::function<void(const Refusal&)> refused = nullptr;
  size_t refusal_member = 0;
  // For a GPU: makes fewer steps of those of a launch that have the same kernel, and a kernel for several of them.
  void (*join)(std::vector<KernelStep>& steps) = nullptr;
};
constexpr size_t kBlockBytes = 48 * 1024;  // that a block has on every GPU

template <class Row> std::vector<std::byte> row_bytes(const Row& row) {
  static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) % 8 == 0 && alignof(Row) <= 8);
  const auto bytes = std::as_bytes(std::span(&row, 1));
  return {bytes.begin(), bytes.end()};
}

}  // namespace penstock
