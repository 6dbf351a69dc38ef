// SPDX-License-Identifier: Apache-2.0
// Objects and blocks of objects on the local disk, up to a limit; several processes may share the folder.
#pragma once
#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "data/remote_client.h"

namespace penstock {

class RemoteCache {
 public:
  // The folder is made, closed to others, where it is missing. Error (argument) where it cannot be used.
  RemoteCache(std::string folder, int64_t limit);

  static constexpr int64_t kWhole = -1;  // the offset of whole objects; blocks have theirs
  // What is kept of the URL at `offset`. `body` of the result is the whole entry. Nothing where there is no entry, or
  // none that is whole and undamaged: such a one is removed.
  std::optional<RemoteObject> find(const std::string& url, int64_t offset);
  // `length` bytes at `first` of the entry of this version, into out; false where find() would give nothing.
  bool read(const std::string& url, int64_t offset, const RemoteStamp& stamp, int64_t first, int64_t length,
            uint8_t* out);
  bool has(const std::string& url, int64_t offset) const;
  // Keeps an entry, and removes those that were not used for the longest time where the limit is reached. Returns why
  // that was not possible, the first time that it is not; nothing is written from then on.
  std::string keep(const std::string& url, int64_t offset, const RemoteStamp& stamp, std::span<const uint8_t> body);

  const std::string& folder() const { return folder_; }
  int64_t limit() const { return limit_; }
  bool writes() const { return !full_; }
  int64_t hits() const { return hits_; }

 private:
  std::string file_of(const std::string& url, int64_t offset) const;
  std::string write(const std::string& file, std::span<const uint8_t> head, std::span<const uint8_t> body);
  void make_room();

  std::string folder_;
  int64_t limit_;
  std::atomic<bool> full_{false};
  std::atomic<int64_t> hits_{0};
  std::mutex mutex_;     // guards what follows
  int64_t bytes_ = 0;    // as far as this process knows
  int64_t written_ = 0;  // by this process since it has last looked
};

}  // namespace penstock
