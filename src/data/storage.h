// SPDX-License-Identifier: Apache-2.0
// Reads bytes from files and from objects that URLs name. Every Error carries the path in Error::source.
#pragma once
#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace penstock {

// Throws an Error that carries the path.
template <class... A>
[[noreturn]] void fail_on(const std::string& path, ErrorKind kind, fmt::format_string<A...> text, A&&... args) {
  Error error(kind, fmt::format(text, std::forward<A>(args)...));
  error.source = path;
  throw error;
}
// The same with "what: the system's reason"; file_missing if the path does not exist, else data.
[[noreturn]] void fail_with_errno(const std::string& path, const char* what, int code);

// A larger file is considered a mistake, unless the caller sets another limit.
constexpr int64_t default_file_limit = int64_t{1} << 30;

// Read from the open file, so that it belongs to the bytes that are read.
struct FileStamp {
  int64_t bytes = 0;
  int64_t modified_ns = 0;  // since 1970; for a remote object, any number that differs for another version
};

class RemoteFile;

// A file that stays open; any thread may read it. Same errors as read_file.
class OpenFile {
 public:
  explicit OpenFile(std::string path);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }  // -1 for a remote object
  bool remote() const { return remote_ != nullptr; }
  FileStamp stamp() const;                                        // data error if it is not a regular file
  void read(int64_t offset, int64_t length, uint8_t* out) const;  // exactly `length` bytes
  void read(int64_t offset, std::span<const iovec> parts) const;  // into several pieces of memory, of at most 1024
  // The same where the page cache has them; else false. False too if the file has fewer bytes, or is remote.
  bool read_if_cached(int64_t offset, int64_t length, uint8_t* out) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::unique_ptr<const RemoteFile> remote_;
};

// Reads a whole regular file into buffer and reuses its memory; the buffer gets the size of the file. Fills `stamp`
// if it is not null.
// Errors: file_missing if the file does not exist; data if it is a folder, pipe, socket or device, unreadable,
// empty, larger than limit, or shrinks during the read; out_of_memory. Rejects a pipe without waiting for a writer.
void read_file(const std::string& path, std::vector<uint8_t>& buffer, int64_t limit = default_file_limit,
               FileStamp* stamp = nullptr);

// The same into memory from room(bytes); returns the number of bytes.
int64_t read_file_to(const std::string& path, const std::function<uint8_t*(int64_t bytes)>& room,
                     int64_t limit = default_file_limit, FileStamp* stamp = nullptr);

// A record of a container file.
struct ByteRange {
  std::string path;
  int64_t offset = 0;
  int64_t length = 0;  // -1, if the function permits it: the whole file
};

// Reads the range into buffer. Errors as above, and data if the range does not lie inside the file.
void read_range(const ByteRange& range, std::vector<uint8_t>& buffer, int64_t limit = default_file_limit,
                FileStamp* stamp = nullptr);

// The number of reads of this process that waited for the medium, or whose file system does not say. While it
// grows, read-ahead pays.
uint64_t reads_that_waited();

// Whether the path exists.
bool exists(const std::string& path);
// `name` in a folder; `name` itself if it is absolute or a URL, or if `folder` is "".
std::string path_in(const std::string& folder, std::string_view name);

// Reads exactly length bytes at offset; handles short reads and interruptions. `call` replaces pread in tests.
using ReadCall = ssize_t (*)(int, void*, size_t, off_t);
void read_exactly(int descriptor, const std::string& path, int64_t offset, int64_t length, uint8_t* out, ReadCall call);

}  // namespace penstock
