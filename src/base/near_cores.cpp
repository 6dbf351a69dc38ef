// SPDX-License-Identifier: Apache-2.0
#include "base/near_cores.h"

#include <sched.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <memory>

namespace penstock {
namespace {

constexpr int kMostCores = 1 << 16;

// A set for kMostCores: cpu_set_t has room for 1,024.
struct CoreSet {
  static constexpr size_t kBytes = CPU_ALLOC_SIZE(kMostCores);
  struct Free {
    void operator()(cpu_set_t* s) const { CPU_FREE(s); }
  };
  std::unique_ptr<cpu_set_t, Free> set{CPU_ALLOC(kMostCores)};
  CoreSet() {
    if (set) CPU_ZERO_S(kBytes, set.get());
  }
};

std::vector<int> own_cores() {
  CoreSet allowed;
  std::vector<int> cores;
  if (!allowed.set || sched_getaffinity(0, CoreSet::kBytes, allowed.set.get()) != 0) return cores;
  for (int core = 0; core < kMostCores; ++core)
    if (CPU_ISSET_S(core, CoreSet::kBytes, allowed.set.get())) cores.push_back(core);
  return cores;
}

bool stay_on(const std::vector<int>& cores) noexcept {
  CoreSet wanted;
  if (!wanted.set) return false;
  for (const int core : cores) CPU_SET_S(core, CoreSet::kBytes, wanted.set.get());
  return sched_setaffinity(0, CoreSet::kBytes, wanted.set.get()) == 0;
}

}  // namespace

std::vector<int> numbers_in_list(const std::string& text) {
  std::vector<int> numbers;
  const char *p = text.data(), *end = p + text.size();
  while (end > p && std::isspace(static_cast<unsigned char>(end[-1]))) --end;
  while (p < end) {
    int first = 0, last = 0;
    auto read = std::from_chars(p, end, first);
    if (read.ec != std::errc()) return {};
    last = first;
    if (read.ptr < end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc() || first < 0 || last < first || last >= kMostCores) return {};
    for (int k = first; k <= last; ++k) numbers.push_back(k);
    p = read.ptr;
    if (p < end && *p++ != ',') return {};
  }
  return numbers;
}

std::vector<int> cores_near(const std::string& pci_bus_id, const std::string& devices) {
  std::string name = pci_bus_id, list;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.empty() || name.find('/') != std::string::npos) return {};
  std::ifstream file(devices + "/" + name + "/local_cpulist");
  if (!std::getline(file, list)) return {};
  std::vector<int> cores = numbers_in_list(list);
  const std::vector<int> own = own_cores();
  std::erase_if(cores, [&](int core) { return !std::ranges::binary_search(own, core); });
  return cores;
}

OnCores::OnCores(const std::vector<int>& cores) noexcept {
  try {
    const std::vector<int> before = cores.empty() ? std::vector<int>() : own_cores();
    if (!before.empty() && stay_on(cores)) before_ = before;
  } catch (...) {  // no memory: it runs where it did
  }
}
OnCores::~OnCores() {
  if (!before_.empty()) stay_on(before_);
}

}  // namespace penstock
