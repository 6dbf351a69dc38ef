// SPDX-License-Identifier: Apache-2.0
#include "data/arrow_table.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

#include "data/hash.h"

namespace penstock {

ArrowPlace ArrowTable::place(int64_t row) const {
  const auto group = std::upper_bound(first_.begin(), first_.end(), row) - first_.begin() - 1;
  return {static_cast<int>(group), row - first_[group]};
}

std::string ArrowTable::source(int64_t row) const { return fmt::format("a table in memory, row {}", row); }

static uint64_t hash_of(const ArrowField& field, uint64_t hash) {
  hash = hash_bytes(field.format, hash_bytes(field.name, hash));
  for (const auto& child : field.children) hash = hash_of(child, hash);
  return hash;
}

uint64_t ArrowTable::hash() const {
  uint64_t hash = static_cast<uint64_t>(rows());
  for (const auto& field : fields_) hash = mix64(hash_of(field, hash));
  return hash;
}

void ArrowGroups::add(ArrowGroup group) {
  if (group.rows == 0) return;
  add_rows(group.rows);
  groups_.push_back(std::make_shared<const ArrowGroup>(std::move(group)));
}

namespace {

struct Registered {
  std::mutex mutex;
  std::map<int64_t, std::weak_ptr<const ArrowTable>> tables;
};

Registered& registered() {
  static auto* all = new Registered;
  return *all;
}

}  // namespace

// Numbers differ between processes: a saved pipeline must not find another program's table.
int64_t register_arrow_table(const std::shared_ptr<const ArrowTable>& table) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.tables, [](const auto& entry) { return entry.second.expired(); });
  static uint64_t state = mix64(static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count())) ^
                          static_cast<uint64_t>(::getpid());
  state = mix64(state);
  const auto number = static_cast<int64_t>(state >> 2);
  all.tables[number] = table;
  return number;
}

std::shared_ptr<const ArrowTable> registered_arrow_table(int64_t number) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  const auto found = all.tables.find(number);
  auto table = found == all.tables.end() ? nullptr : found->second.lock();
  if (!table)
    bad_argument(
        "the table was in the memory of the program that made this pipeline, and is gone: make the pipeline "
        "again, or give the paths of Arrow files");
  return table;
}

}  // namespace penstock
