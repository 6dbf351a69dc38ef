// SPDX-License-Identifier: Apache-2.0
// The access of one thread to a store, for one record after the other.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "codecs/jpeg/index_store.h"

namespace penstock {

enum class IndexUse { read, make };

struct IndexCounts {
  int64_t made = 0, used = 0;
  int64_t stale = 0;  // of a record whose bytes have changed, or damaged
};

class RecordIndexAccess : public EntropyIndexAccess {
 public:
  RecordIndexAccess(std::shared_ptr<EntropyIndexStore> store, IndexUse use, int step)
      : store_(std::move(store)), use_(use), step_(step) {}
  // A record of a file; length 0: the whole file. `path` must live until the next begin().
  void begin(const std::string& path, int64_t offset, int64_t length, int64_t file_bytes, int64_t modified_ns);
  bool find(std::span<const uint8_t> file, EntropyIndex& into) override;
  int wanted_step() const override;
  void offer(std::span<const uint8_t> file, const EntropyIndex& index) override;
  IndexCounts counts() const;  // any thread may call it

  // Decoding a smaller file takes less time than its index saves.
  static constexpr int64_t kLeastBytes = 4096;

 private:
  uint64_t key();
  uint64_t content_of(std::span<const uint8_t> file);

  const std::shared_ptr<EntropyIndexStore> store_;
  const IndexUse use_;
  const int step_;
  const std::string* path_ = nullptr;
  int64_t offset_ = 0, length_ = 0;
  IndexRecord record_;
  bool has_key_ = false, has_content_ = false, found_ = false;
  std::string name_;
  std::vector<uint8_t> entry_;
  std::atomic<int64_t> made_{0}, used_{0}, stale_{0};
};

}  // namespace penstock
