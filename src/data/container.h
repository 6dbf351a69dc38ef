// SPDX-License-Identifier: Apache-2.0
// Files that hold many records, with random access by number over all files of a data set.
#pragma once
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "data/storage.h"

namespace penstock {

using Bytes = std::span<const uint8_t>;

// Where the records of one file are. Made by a scan of the file, or read from an index.
struct ContainerIndex {
  std::vector<int64_t> offsets, lengths;  // in bytes, of what a reader of the format needs, headers included
  std::vector<std::string> names;         // one per record for formats that name their records, else empty
  std::vector<uint32_t> heads;            // checksum of the head of each record for formats that have one, else empty
  int64_t size() const { return static_cast<int64_t>(offsets.size()); }
  void add(int64_t offset, int64_t length) { offsets.push_back(offset), lengths.push_back(length); }
};

// Scans a file for its index; reads a large piece at a time if the requested pieces are close together.
class FileScan {
 public:
  explicit FileScan(const OpenFile& file, Progress* progress = nullptr)
      : file_(file), bytes_(file.stamp().bytes), progress_(progress) {}
  ~FileScan();
  FileScan(const FileScan&) = delete;
  const OpenFile& file() const { return file_; }
  int64_t bytes() const { return bytes_; }
  // The piece; valid until the next call. Error (data), with path and offset, if it does not lie in the file.
  Bytes at(int64_t offset, int64_t length, const char* what);
  template <class... A>
  [[noreturn]] void fail(int64_t offset, fmt::format_string<A...> text, A&&... args) const {
    fail_on(file_.path(), ErrorKind::data, "at byte {}: {}", offset, fmt::format(text, std::forward<A>(args)...));
  }

 private:
  Bytes remote_at(int64_t offset, int64_t length);
  static constexpr int64_t kLeast = 4096, kMost = 1 << 18;
  const OpenFile& file_;
  int64_t bytes_;
  Progress* progress_;              // in bytes of this file
  int64_t start_ = 0, length_ = 0;  // of the content of buffer_
  int64_t piece_ = kLeast;          // bytes to read at once; grows while pieces are contiguous
  std::vector<uint8_t> buffer_;
};

struct ContainerFormat {
  const char* name = "";                          // "tfrecord"; the name of the cached index contains it
  std::function<ContainerIndex(FileScan&)> scan;  // scans the file
  // Parses an index file; `bytes` is the size of the file that it belongs to.
  std::function<ContainerIndex(const std::string& text, const std::string& path, int64_t bytes)> parse_index;
  std::function<std::string(const ContainerIndex&)> index_text;  // null: a missing index file is an error
  // Bytes before a record that identify it. check_head throws an Error (data) if they do not belong to a
  // record of `length` bytes.
  int64_t head_bytes = 0;
  std::function<void(Bytes head, int64_t length)> check_head = {};
};

// Expands paths with *, ? or [ to the files that match, sorted; URLs too, except http's, which cannot be listed. Error
// (file_missing) if no file matches.
std::vector<std::string> expand_paths(std::span<const std::string> paths);

class Container {
 public:
  // index_paths: empty, or one for each of the (expanded) paths. A missing index file is created if the
  // format has index_text. Without index files the index is cached in the user's cache folder, for a file of this size,
  // time, inode, change time and first bytes. Errors: argument; file_missing; data, with the path, if a file does not
  // have this format or its index does not fit.
  Container(ContainerFormat format, std::vector<std::string> paths, std::span<const std::string> index_paths = {});
  // Any other division of files into records; the caller supplies the indexes.
  Container(const char* format, std::vector<std::string> paths, std::vector<ContainerIndex> indexes);

  int64_t size() const { return static_cast<int64_t>(offsets_.size()); }
  int files() const { return static_cast<int>(paths_.size()); }
  const std::string& path(int file) const { return paths_[file]; }
  int file_of(int64_t record) const;
  int64_t offset(int64_t record) const { return offsets_[record]; }
  int64_t length(int64_t record) const { return lengths_[record]; }
  const std::string& name(int64_t record) const { return names_[record]; }
  int64_t first_of(int file) const { return first_[file]; }  // a record; first_of(files()) == size()
  ByteRange range(int64_t record) const;
  std::string source(int64_t record) const;  // "a.tfrecord, byte 1234", for messages
  // A hash of names, sizes and numbers of records; equal for the same data in another folder.
  uint64_t hash() const { return hash_; }
  // Reads the record into out, length(record) bytes. Same errors as read_file, with the record's source.
  void read(int64_t record, uint8_t* out) const;
  void read_range(int file, int64_t offset, int64_t length, uint8_t* out) const;
  FileStamp stamp(int file) const { return stamps_[file]; }
  // The number of bytes before each record that check_head() needs.
  int64_t head_bytes() const { return head_bytes_; }
  // Error (data) if the file is not the one that its index was made from.
  void check_head(int64_t record, Bytes head) const;

 private:
  static constexpr size_t kMostOpen = 128;
  void add(ContainerIndex index, FileStamp stamp, int file);
  void finish();
  std::shared_ptr<const OpenFile> open(int file) const;

  std::string format_;
  std::vector<std::string> paths_;
  std::vector<FileStamp> stamps_;
  std::vector<int64_t> first_;
  std::vector<int64_t> offsets_, lengths_;
  std::vector<std::string> names_;
  std::vector<uint32_t> heads_;  // per record; 0: not known
  int64_t head_bytes_ = 0;
  std::function<void(Bytes, int64_t)> check_head_;
  uint64_t hash_ = 0;
  struct Opened {
    int file;
    std::shared_ptr<const OpenFile> opened;
  };
  mutable std::mutex mutex_;          // guards the members below
  mutable std::list<Opened> recent_;  // most recent first
  mutable std::vector<std::list<Opened>::iterator> places_;
};

}  // namespace penstock
