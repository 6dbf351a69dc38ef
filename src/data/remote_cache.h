// SPDX-License-Identifier: Apache-2.0
// A cache of objects and blocks of objects on the local disk, up to a limit; several processes may share the folder.
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
  // Creates a missing folder, closed to other users. Error (argument) if it cannot be used.
  RemoteCache(std::string folder, int64_t limit);

  static constexpr int64_t kWhole = -1;  // the offset of whole objects; blocks have their own
  // What is cached for the URL at `offset`. `body` of the result is the whole entry. Nothing if there is no entry, or
  // if it is incomplete or damaged: such an entry is removed.
  std::optional<RemoteObject> find(const std::string& url, int64_t offset);
  // Reads `length` bytes at `first` of the entry of this version into out; false if find() would give nothing.
  bool read(const std::string& url, int64_t offset, const RemoteStamp& stamp, int64_t first, int64_t length,
            uint8_t* out);
  bool has(const std::string& url, int64_t offset) const;
  // Stores an entry. Removes the least recently used ones if the limit is reached. When this becomes impossible,
  // returns the reason, once; nothing is written from then on.
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
  std::mutex mutex_;     // guards the members below
  int64_t bytes_ = 0;    // as far as this process knows
  int64_t written_ = 0;  // by this process since it last scanned the folder
};

}  // namespace penstock
