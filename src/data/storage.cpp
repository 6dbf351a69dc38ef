// SPDX-License-Identifier: Apache-2.0
#include "data/storage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "data/read_tally.h"
#include "data/remote_file.h"

namespace penstock {

static std::string errno_text(int code) { return std::generic_category().message(code); }

void fail_with_errno(const std::string& path, const char* what, int code) {
  const bool missing = code == ENOENT || code == ENOTDIR;
  fail_on(path, missing ? ErrorKind::file_missing : ErrorKind::data, "{}: {}", what, errno_text(code));
}

static const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "of an unknown kind";
}

// Non-blocking, so that a pipe without a writer opens immediately and can be rejected.
OpenFile::OpenFile(std::string path) : path_(std::move(path)) {
  if (path_.find('\0') != std::string::npos)
    fail_on(path_.c_str(), ErrorKind::argument, "the path contains a zero byte");
  if (is_url(path_)) {
    remote_ = std::make_unique<const RemoteFile>(path_);
    return;
  }
  do descriptor_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) fail_with_errno(path_, "cannot open the file", errno);
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileStamp OpenFile::stamp() const {
  if (remote_) return stamp_of(remote_->stamp());
  struct stat info;
  if (::fstat(descriptor_, &info) != 0) fail_with_errno(path_, "cannot examine the file", errno);
  if (!S_ISREG(info.st_mode)) fail_on(path_, ErrorKind::data, "is {}, not a regular file", kind_of(info.st_mode));
  return {info.st_size, int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec};
}

static std::atomic<uint64_t> waited{0};
uint64_t reads_that_waited() { return waited.load(std::memory_order_relaxed); }

static ssize_t system_read(int descriptor, void* out, size_t length, off_t offset) {
  iovec all{out, length};
  const ssize_t got = ::preadv2(descriptor, &all, 1, offset, RWF_NOWAIT);  // bytes that are in memory
  if (got > 0) return got;
  waited.fetch_add(1, std::memory_order_relaxed);
  CountedRead::waits();
  return ::pread(descriptor, out, length, offset);
}

void OpenFile::read(int64_t offset, int64_t length, uint8_t* out) const {
  CountedRead counted(remote());
  if (remote_) remote_->read(offset, length, out);
  else read_exactly(descriptor_, path_, offset, length, out, system_read);
  counted.of(length);
}

// By one call where the page cache has all of it.
void OpenFile::read(int64_t offset, std::span<const iovec> parts) const {
  CountedRead counted(remote());
  ssize_t there = 0;
  if (!remote_) there = ::preadv2(descriptor_, parts.data(), static_cast<int>(parts.size()), offset, RWF_NOWAIT);
  int64_t before = 0;
  for (const iovec& part : parts) {
    const auto length = static_cast<int64_t>(part.iov_len);
    const int64_t done = std::clamp<int64_t>(there - before, 0, length);
    if (done < length) read(offset + before + done, length - done, static_cast<uint8_t*>(part.iov_base) + done);
    before += length;
  }
  counted.of(before);
}

bool OpenFile::read_if_cached(int64_t offset, int64_t length, uint8_t* out) const {
  const iovec all{out, static_cast<size_t>(length)};
  return !remote_ && ::preadv2(descriptor_, &all, 1, offset, RWF_NOWAIT) == length;
}

static void resize(std::vector<uint8_t>& buffer, int64_t size, const std::string& path) {
  try {
    buffer.resize(static_cast<size_t>(size));
  } catch (const std::bad_alloc&) {
    fail_on(path, ErrorKind::out_of_memory, "no memory for {} bytes", size);
  } catch (const std::length_error&) {
    fail_on(path, ErrorKind::out_of_memory, "no memory for {} bytes", size);
  }
}

void read_exactly(int descriptor, const std::string& path, int64_t offset, int64_t length, uint8_t* out,
                  ReadCall call) {
  int64_t done = 0;
  while (done < length) {
    const auto ask = static_cast<size_t>(std::min<int64_t>(length - done, 1 << 30));
    const ssize_t got = call(descriptor, out + done, ask, offset + done);
    if (got < 0) {
      const int code = errno;
      if (code == EINTR) continue;
      fail_on(path, ErrorKind::data, "reading failed after {} of {} bytes: {}", done, length, errno_text(code));
    }
    if (got == 0) fail_on(path, ErrorKind::data, "the file shrank while it was read: {} of {} bytes", done, length);
    done += got;
  }
}

int64_t read_file_to(const std::string& path, const std::function<uint8_t*(int64_t)>& room, int64_t limit,
                     FileStamp* stamp) {
  CountedRead counted(is_url(path));
  std::optional<OpenFile> file;
  std::shared_ptr<const RemoteObject> object;  // one request, not two
  if (is_url(path)) object = RemoteStorage::instance().whole(path, limit);
  else file.emplace(path);
  const FileStamp found = object ? stamp_of(object->stamp) : file->stamp();
  const int64_t size = found.bytes;
  if (stamp) *stamp = found;
  if (size == 0) fail_on(path, ErrorKind::data, "the file is empty");
  if (size > limit) fail_on(path, ErrorKind::data, "the file has {} bytes, more than the limit of {}", size, limit);
  uint8_t* out = room(size);
  if (object) std::memcpy(out, object->body.data(), static_cast<size_t>(size));
  else file->read(0, size, out);
  counted.of(size);
  return size;
}

void read_file(const std::string& path, std::vector<uint8_t>& buffer, int64_t limit, FileStamp* stamp) {
  const auto room = [&](int64_t size) {
    resize(buffer, size, path);
    return buffer.data();
  };
  read_file_to(path, room, limit, stamp);
}

void read_range(const ByteRange& range, std::vector<uint8_t>& buffer, int64_t limit, FileStamp* stamp) {
  CountedRead counted(is_url(range.path));
  const OpenFile file(range.path);
  const FileStamp found = file.stamp();
  const int64_t size = found.bytes;
  if (stamp) *stamp = found;
  if (range.offset < 0 || range.length <= 0 || range.offset > size || range.length > size - range.offset)
    fail_on(range.path, ErrorKind::data, "the record of {} bytes at {} does not lie inside the file of {} bytes",
            range.length, range.offset, size);
  if (range.length > limit)
    fail_on(range.path, ErrorKind::data, "the record has {} bytes, more than the limit of {}", range.length, limit);
  resize(buffer, range.length, range.path);
  file.read(range.offset, range.length, buffer.data());
  counted.of(range.length);
}

bool exists(const std::string& path) {
  if (!is_url(path)) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  }
  try {
    RemoteStorage::instance().head(path);
    return true;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::file_missing) throw;
    return false;
  }
}

std::string path_in(const std::string& folder, std::string_view name) {
  if (folder.empty() || name.starts_with('/') || is_url(name)) return std::string(name);
  return folder + (folder.ends_with('/') ? "" : "/") + std::string(name);
}

}  // namespace penstock
