// SPDX-License-Identifier: Apache-2.0
// Bytes out of files, and out of objects that URLs name. Every Error carries the path in Error::source.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
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
// The same with "what: the system's reason"; file_missing where the reason is that the path leads nowhere, else data.
[[noreturn]] void fail_with_errno(const std::string& path, const char* what, int code);

// A file larger than this is taken for a mistake, unless the caller says otherwise.
constexpr int64_t default_file_limit = int64_t{1} << 30;

// Of an open file, so that it is that of the bytes that are read.
struct FileStamp {
  int64_t bytes = 0;
  int64_t modified_ns = 0;  // since 1970; of a remote object any number that is another one for another version
};

class RemoteFile;

// A file that stays open; any thread may read it. Errors as of read_file.
class OpenFile {
 public:
  explicit OpenFile(std::string path);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }  // -1 of a remote object
  bool remote() const { return remote_ != nullptr; }
  FileStamp stamp() const;                                        // a data error where it is not a regular file
  void read(int64_t offset, int64_t length, uint8_t* out) const;  // exactly so many bytes

 private:
  std::string path_;
  int descriptor_ = -1;
  std::unique_ptr<const RemoteFile> remote_;
};

// Reads a whole regular file into buffer, whose memory is used again; buffer's size becomes the file's. Fills `stamp`
// where it is given.
// Errors: file_missing where there is no such file; data where it is a folder, pipe, socket or device, unreadable,
// empty, larger than limit, or shrinks while it is read; out_of_memory. A pipe is refused without waiting for a writer.
void read_file(const std::string& path, std::vector<uint8_t>& buffer, int64_t limit = default_file_limit,
               FileStamp* stamp = nullptr);

// The same into memory that room(bytes) gives; returns the number of bytes.
int64_t read_file_to(const std::string& path, const std::function<uint8_t*(int64_t bytes)>& room,
                     int64_t limit = default_file_limit, FileStamp* stamp = nullptr);

// A record of a container file.
struct ByteRange {
  std::string path;
  int64_t offset = 0;
  int64_t length = 0;  // -1, where that is said: the whole file
};

// Reads the range into buffer. Errors as above, and data where the range does not lie inside the file.
void read_range(const ByteRange& range, std::vector<uint8_t>& buffer, int64_t limit = default_file_limit,
                FileStamp* stamp = nullptr);

// How often a read of this process had to wait for a medium, or was of a file system that does not tell. While it
// grows, asking for bytes before they are read pays.
uint64_t reads_that_waited();

// Whether there is something of this name.
bool exists(const std::string& path);
// `name` in a folder: as it is where it is absolute, a URL, or `folder` is "".
std::string path_in(const std::string& folder, std::string_view name);

// Reads exactly length bytes at offset, over short reads and interruptions. `call` stands in for pread in tests.
using ReadCall = ssize_t (*)(int, void*, size_t, off_t);
void read_exactly(int descriptor, const std::string& path, int64_t offset, int64_t length, uint8_t* out, ReadCall call);

}  // namespace penstock
