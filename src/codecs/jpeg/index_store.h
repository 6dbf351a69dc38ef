// SPDX-License-Identifier: Apache-2.0
// Entropy indexes of many records, kept in one file that several processes use at once.
#pragma once
#include <atomic>
#include <condition_variable>
#include <memory>
#include <string>
#include <thread>

#include "codecs/jpeg/index_store_file.h"
#include "codecs/jpeg/index_store_table.h"

namespace penstock {

constexpr int64_t kDefaultIndexLimit = int64_t{2} << 30;

struct IndexStoreOptions {
  bool private_file = false;           // in the user's cache folder: see IndexFile
  int64_t limit = kDefaultIndexLimit;  // bytes of the file; for a private file, of all files in its folder
  WriteCall write = nullptr;
};

// If anything is wrong with the file or its disk, decoding continues without it: no call here fails.
class EntropyIndexStore {
 public:
  // Open stores of this process are shared by path, with the options of the first open().
  static std::shared_ptr<EntropyIndexStore> open(const std::string& path, const IndexStoreOptions& options = {});
  EntropyIndexStore(std::string path, const IndexStoreOptions& options);
  ~EntropyIndexStore();  // writes what is left

  const std::string& path() const { return path_; }
  // The key of a record, from its absolute path, or from the path relative to the store's folder for files in that
  // folder, so that a data set may move together with its index. length 0: the whole file. `name` is working memory.
  uint64_t key_of(const std::string& path, int64_t offset, int64_t length, std::string& name) const;

  // Copies the bytes of the record's entry to `entry`, unchecked. Takes no lock that others wait for.
  bool find(uint64_t key, std::vector<uint8_t>& entry);
  // Whether add() would keep one more.
  bool takes_more() const { return !full_.load(std::memory_order_relaxed); }
  // Available at once; a background thread writes it two seconds later or when a megabyte has accumulated.
  void add(const IndexRecord& record, const EntropyIndex& index);
  void flush();  // writes now; waits for other processes, at most two seconds
  // Why nothing is kept on disk; "" if all is well.
  std::string note() const;
  int64_t entries() { return table_.size(); }

 private:
  using Entry = std::unique_ptr<const std::vector<uint8_t>>;
  IndexFile& file() const { return *files_.back(); }  // hold file_mutex_
  void serve();
  void load(bool locked);
  void reopen();
  bool write_pending(bool wait);                 // false if another process holds the file
  void write_locked(std::vector<Entry>& batch);  // removes from the batch what it has written
  void compact();
  bool has_room(int64_t bytes);
  void give_up(const std::string& why);  // stops writing

  const IndexStoreOptions options_;
  const int process_;
  const std::string path_;
  std::string folder_, working_folder_;
  IndexTable table_;

  mutable std::mutex file_mutex_;  // guards the file's end and all writes, but not reads of entries that were found
  std::vector<std::unique_ptr<IndexFile>> files_;  // the last one is in use; readers may still be in the earlier ones
  std::atomic<IndexFile*> readable_{nullptr};
  int64_t live_bytes_ = 0, dead_bytes_ = 0, next_room_check_ = 0;

  mutable std::mutex pending_mutex_;
  std::condition_variable wake_;
  std::vector<Entry> pending_;
  int64_t pending_bytes_ = 0;
  std::string note_;
  bool stop_ = false;
  std::unique_ptr<std::thread> thread_;
  std::atomic<bool> gave_up_{false}, full_{false};
};

}  // namespace penstock
