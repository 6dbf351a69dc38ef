// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/index_store_access.h"

#include "base/checksum.h"

namespace penstock {

static void count(std::atomic<int64_t>& n) {  // only one thread writes it
  n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void RecordIndexAccess::begin(const std::string& path, int64_t offset, int64_t length, int64_t file_bytes,
                              int64_t modified_ns) {
  path_ = &path, offset_ = offset, length_ = length;
  record_ = {0, 0, file_bytes, modified_ns};
  has_key_ = has_content_ = found_ = false;
}

uint64_t RecordIndexAccess::key() {
  if (!has_key_) record_.key = store_->key_of(*path_, offset_, length_, name_);
  has_key_ = true;
  return record_.key;
}

uint64_t RecordIndexAccess::content_of(std::span<const uint8_t> file) {
  if (!has_content_) record_.content = content_hash(file);
  has_content_ = true;
  return record_.content;
}

// The hash of all bytes decides, whatever the times say: a copied file is still the same.
bool RecordIndexAccess::find(std::span<const uint8_t> file, EntropyIndex& into) {
  if (!path_ || static_cast<int64_t>(file.size()) < kLeastBytes || !store_->find(key(), entry_)) return false;
  const auto head = read_entry_head(entry_);
  found_ = head && head->record.key == record_.key && head->shape.file_bytes == file.size() &&
           head->record.file_bytes == record_.file_bytes && head->record.content == content_of(file) &&
           read_entry_points(entry_, *head, into);
  count(found_ ? used_ : stale_);
  return found_;
}

int RecordIndexAccess::wanted_step() const {
  const int64_t bytes = length_ > 0 ? length_ : record_.file_bytes;
  return use_ == IndexUse::make && path_ && !found_ && bytes >= kLeastBytes && store_->takes_more() ? step_ : 0;
}

void RecordIndexAccess::offer(std::span<const uint8_t> file, const EntropyIndex& index) {
  if (use_ != IndexUse::make || !path_ || static_cast<int64_t>(file.size()) < kLeastBytes) return;
  key();
  content_of(file);
  store_->add(record_, index);
  count(made_);
}

IndexCounts RecordIndexAccess::counts() const {
  return {made_.load(std::memory_order_relaxed), used_.load(std::memory_order_relaxed),
          stale_.load(std::memory_order_relaxed)};
}

}  // namespace penstock
