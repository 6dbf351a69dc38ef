// SPDX-License-Identifier: Apache-2.0
#include "exec/picture_cache.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/error.h"

namespace penstock {

bool names_pictures(const StepContext& c, ValueRef encoded) {
  return c.has_record(encoded) || (encoded.place == Place::made && encoded.node == c.sources.primary());
}

std::unique_ptr<PictureCache> PictureCache::of(const Graph& g, const Node& n) {
  const OpInfo& info = info_of(n);
  const std::vector<Argument> given = g.arguments(n, [](ValueRef) -> const Batch* { return nullptr; });
  Rule rule;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].given()) continue;
    const std::string& name = info.args[i].name;
    if (name == "cache_size") rule.bytes = static_cast<size_t>(value_as<int64_t>(given[i].value)) << 20;
    else if (name == "cache_threshold") rule.threshold = static_cast<size_t>(value_as<int64_t>(given[i].value));
    else if (name == "cache_type") rule.largest = value_as<std::string>(given[i].value) == "largest";
  }
  return rule.bytes ? std::make_unique<PictureCache>(rule) : nullptr;
}

std::shared_ptr<const CachedPicture> PictureCache::find(const std::string& name) {
  if (name.empty()) return nullptr;  // bytes of the program
  std::lock_guard lock(mutex_);
  const auto found = pictures_.find(name);
  ++(found == pictures_.end() ? misses_ : hits_);
  return found == pictures_.end() ? nullptr : found->second;
}

bool PictureCache::wants(const std::string& name, size_t bytes) {
  std::lock_guard lock(mutex_);
  if (name.empty() || !bytes || bytes < rule_.threshold || bytes > rule_.bytes) return false;
  if (rule_.largest) {
    if (seen_.emplace(name, bytes).second) {  // of the first epoch
      has_chosen_ = false;
      return false;
    }
    if (!has_chosen_) choose_largest();
    if (!chosen_.contains(name)) return false;
  }
  if (bytes > rule_.bytes - used_ || !reserved_.emplace(name, bytes).second) return false;
  used_ += bytes;
  return true;
}

// The largest pictures that have room together, of those that were seen so far.
void PictureCache::choose_largest() {
  std::vector<std::pair<size_t, std::string>> all;
  for (const auto& [name, bytes] : seen_) all.emplace_back(bytes, name);
  std::sort(all.begin(), all.end(), std::greater<>());
  size_t sum = 0;
  chosen_.clear();
  for (const auto& [bytes, name] : all)
    if (bytes <= rule_.bytes - sum) sum += bytes, chosen_.insert(name);
  has_chosen_ = true;
}

std::shared_ptr<const CachedPicture> PictureCache::keep(const std::string& name, CachedPicture picture) {
  auto kept = std::make_shared<const CachedPicture>(std::move(picture));
  std::lock_guard lock(mutex_);
  pictures_.emplace(name, kept);
  return kept;
}

void PictureCache::forget(const std::string& name) {
  std::lock_guard lock(mutex_);
  const auto found = reserved_.find(name);
  if (found == reserved_.end()) return;
  used_ -= found->second;
  reserved_.erase(found);
}

CachedCounts PictureCache::counts() const {
  std::lock_guard lock(mutex_);
  return {hits_, misses_, static_cast<int64_t>(pictures_.size()), static_cast<int64_t>(used_)};
}

}  // namespace penstock
