// SPDX-License-Identifier: Apache-2.0
// The file of entropy indexes on disk: access rights, the lock between processes, reading and appending segments.
#pragma once
#include <sys/types.h>

#include <functional>
#include <string>

#include "codecs/jpeg/index_store_format.h"

namespace penstock {

using WriteCall = ssize_t (*)(int, const void*, size_t, off_t);  // replaces pwrite in tests

// Not thread-safe except for read(). Nothing throws for an error of the file; the texts say why it cannot be used.
class IndexFile {
 public:
  // private_file: it is in the user's cache folder, so it and its folder must belong to the user and be closed to
  // writing by others.
  IndexFile(std::string path, bool private_file, WriteCall write);
  ~IndexFile();
  IndexFile(const IndexFile&) = delete;
  IndexFile& operator=(const IndexFile&) = delete;

  const std::string& path() const { return path_; }
  bool is_open() const { return descriptor_ >= 0; }
  bool writable() const { return writable_; }
  // "" if it is open now or, without `create`, if there is no such file yet.
  std::string open(bool create);
  bool was_replaced() const;  // whether the path now leads to another file than the open one
  int64_t end() const { return end_; }
  int64_t size() const;

  // Locks the whole file for one process. False if another process holds it; true as well if the file system cannot
  // lock: two writers then lose each other's entries, which the checksums detect.
  bool try_lock();
  void unlock();

  using Visit = std::function<void(uint64_t key, int64_t offset, uint32_t bytes)>;
  // The entries after those of the last call. A segment that is not complete yet is left for the next call, or skipped
  // if `locked` says that nobody is writing it.
  void read_new(bool locked, const Visit& visit);
  // False if the file does not contain these bytes, or no longer does.
  bool read(int64_t offset, uint32_t bytes, uint8_t* to) const;
  // Call it under the lock and after read_new(true). If it fails, the file is as before, or its new end is skipped.
  std::string append(std::span<const uint8_t> segment, int64_t& at);

 private:
  std::string refusal() const;
  std::string path_;
  bool private_ = false, writable_ = false;
  WriteCall write_;
  int descriptor_ = -1;
  int64_t end_ = 0;  // of the segments that were read
};

}  // namespace penstock
