// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/index_store_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/cache_folder.h"

namespace penstock {
namespace {

constexpr int64_t kMostFileBytes = int64_t{1} << 40;
constexpr int64_t kMostSearchBytes = int64_t{64} << 20;  // to find the next segment after a damaged one

std::string reason(int code) { return std::generic_category().message(code); }

ssize_t system_write(int descriptor, const void* from, size_t n, off_t at) { return ::pwrite(descriptor, from, n, at); }

// Returns the number of bytes read: fewer at the end of the file or if reading fails.
int64_t read_some(int descriptor, int64_t at, int64_t bytes, uint8_t* to) {
  int64_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(descriptor, to + done, static_cast<size_t>(bytes - done), at + done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += got;
  }
  return done;
}

}  // namespace

IndexFile::IndexFile(std::string path, bool private_file, WriteCall write)
    : path_(std::move(path)), private_(private_file), write_(write ? write : system_write) {}
IndexFile::~IndexFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string IndexFile::refusal() const {
  struct stat info;
  if (::fstat(descriptor_, &info) != 0) return reason(errno);
  if (!S_ISREG(info.st_mode)) return "it is not a regular file";
  if (info.st_size > kMostFileBytes) return "it is too large";
  if (private_)
    if (const std::string why = not_private(info); !why.empty()) return why;
  if (info.st_size == 0) return {};
  uint8_t head[kFileHeaderBytes];
  const int64_t got = read_some(descriptor_, 0, kFileHeaderBytes, head);
  // A short header belongs to a writer that was killed at once, or is being written.
  const auto expected = file_header();
  if (got < kFileHeaderBytes && std::equal(head, head + got, expected.begin())) return {};
  return is_file_header({head, static_cast<size_t>(got)}) ? "" : "it is not a file of entropy indexes of this version";
}

std::string IndexFile::open(bool create) {
  if (is_open()) return {};
  const std::string folder = std::filesystem::path(path_).parent_path();
  if (private_) {
    if (!create && ::access(path_.c_str(), F_OK) != 0) return {};
    if (const std::string why = make_private_folder(folder); !why.empty()) return fmt::format("{}: {}", folder, why);
  }
  const int flags = O_NONBLOCK | O_CLOEXEC | O_NOCTTY | (private_ ? O_NOFOLLOW : 0);
  descriptor_ = ::open(path_.c_str(), O_RDWR | flags | (create ? O_CREAT : 0), private_ ? 0600 : 0644);
  writable_ = descriptor_ >= 0;
  if (descriptor_ < 0 && errno != ENOENT) descriptor_ = ::open(path_.c_str(), O_RDONLY | flags);
  if (descriptor_ < 0) return errno == ENOENT && !create ? "" : reason(errno);
  if (std::string why = refusal(); !why.empty()) {
    ::close(descriptor_);
    descriptor_ = -1;
    return why;
  }
  end_ = kFileHeaderBytes;
  return {};
}

bool IndexFile::was_replaced() const {
  struct stat open_file, named;
  if (::fstat(descriptor_, &open_file) != 0) return true;
  if (::stat(path_.c_str(), &named) != 0) return true;
  return open_file.st_ino != named.st_ino || open_file.st_dev != named.st_dev;
}

int64_t IndexFile::size() const {
  struct stat info;
  return is_open() && ::fstat(descriptor_, &info) == 0 ? info.st_size : 0;
}

bool IndexFile::try_lock() {
  return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR);
}
void IndexFile::unlock() { ::flock(descriptor_, LOCK_UN); }

bool IndexFile::read(int64_t offset, uint32_t bytes, uint8_t* to) const {
  return is_open() && read_some(descriptor_, offset, bytes, to) == bytes;
}

void IndexFile::read_new(bool locked, const Visit& visit) {
  const int64_t size = this->size();
  int64_t at = end_, searched = 0;
  std::vector<uint8_t> bytes;
  while (at + kSegmentHeaderBytes <= size) {
    uint8_t head[kSegmentHeaderBytes];
    if (!read(at, kSegmentHeaderBytes, head)) break;
    const auto header = read_segment_header(head);
    if (!header) {  // damaged: searches for the next segment
      at += kIndexAlignment;
      if ((searched += kIndexAlignment) > kMostSearchBytes) break;
      continue;
    }
    const bool whole = at + header->bytes <= size;
    std::vector<DirectoryEntry> directory;
    bytes.resize(static_cast<size_t>(header->directory_bytes()));
    if (read(at + kSegmentHeaderBytes, static_cast<uint32_t>(bytes.size()), bytes.data()))
      directory = read_directory(*header, bytes);
    if (!locked && (!whole || (directory.empty() && at + header->bytes == size))) break;  // maybe it is being written
    for (const auto& e : directory)
      if (at + e.offset + e.bytes <= size) visit(e.key, at + e.offset, e.bytes);
    at += header->bytes;
    end_ = at;
  }
  if (locked) end_ = std::max({end_, aligned_up(at), aligned_up(size), kFileHeaderBytes});
}

std::string IndexFile::append(std::span<const uint8_t> segment, int64_t& at) {
  auto write_all = [&](std::span<const uint8_t> from, int64_t to) -> int {
    while (!from.empty()) {
      const ssize_t n = write_(descriptor_, from.data(), from.size(), to);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return n < 0 ? errno : ENOSPC;
      from = from.subspan(static_cast<size_t>(n));
      to += n;
    }
    return 0;
  };
  const int64_t before = size();
  int code = before < kFileHeaderBytes ? write_all(file_header(), 0) : 0;
  if (code == 0) code = write_all(segment, end_);
  if (code != 0) {
    if (::ftruncate(descriptor_, before) != 0) end_ = aligned_up(size());  // readers skip what is left of it
    return reason(code);
  }
  at = end_;
  end_ += static_cast<int64_t>(segment.size());
  return {};
}

}  // namespace penstock
