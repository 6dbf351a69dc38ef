// SPDX-License-Identifier: Apache-2.0
#include "data/storage.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "data/read_ahead.h"
#include "data/test_folder.h"

namespace penstock {
namespace {

std::string text_of(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

// The error of read_file for the path, "kind: message"; checks that the error names the path.
template <class Read>
std::string refusal_of(const std::string& path, Read read) {
  try {
    read();
  } catch (const Error& e) {
    EXPECT_EQ(e.source, path);
    const char* kind = e.kind() == ErrorKind::data           ? "data: "
                       : e.kind() == ErrorKind::file_missing ? "missing: "
                       : e.kind() == ErrorKind::argument     ? "argument: "
                                                             : "other: ";
    return std::string(kind) + e.what();
  }
  return "read";
}

std::string read_error(const std::string& path, int64_t limit = default_file_limit) {
  std::vector<uint8_t> buffer;
  return refusal_of(path, [&] { read_file(path, buffer, limit); });
}

TEST(Storage, ReadsWholeFilesIntoOneBuffer) {
  const TestFolder folder;
  std::vector<uint8_t> buffer;
  const std::string large(3000000, 'x');
  read_file(folder.write("large", large), buffer);
  EXPECT_EQ(text_of(buffer), large);
  const uint8_t* memory = buffer.data();
  read_file(folder.write("small", std::string("a\0b", 3)), buffer);
  EXPECT_EQ(text_of(buffer), std::string("a\0b", 3));
  EXPECT_EQ(buffer.data(), memory);
  folder.link("small", "symbolic");
  read_file(folder.path("symbolic"), buffer);
  EXPECT_EQ(text_of(buffer), std::string("a\0b", 3));
}

TEST(Storage, RefusesWhatIsNoReadableFile) {
  const TestFolder folder;
  folder.write("file", "x");
  EXPECT_EQ(read_error(folder.path("none")), "missing: cannot open the file: No such file or directory");
  EXPECT_EQ(read_error(folder.path("file/below")), "missing: cannot open the file: Not a directory");
  EXPECT_EQ(read_error(""), "missing: cannot open the file: No such file or directory");
  folder.link("none", "dangling");
  EXPECT_EQ(read_error(folder.path("dangling")), "missing: cannot open the file: No such file or directory");
  folder.link("loop", "loop");
  EXPECT_EQ(read_error(folder.path("loop")), "data: cannot open the file: Too many levels of symbolic links");
  EXPECT_EQ(read_error(folder.path(std::string(300, 'n'))), "data: cannot open the file: File name too long");
  EXPECT_EQ(read_error(folder.path()), "data: is a folder, not a regular file");
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_error(folder.path("pipe")), "data: is a pipe, not a regular file");
  EXPECT_EQ(read_error("/dev/zero"), "data: is a device, not a regular file");
  EXPECT_EQ(read_error(folder.write("empty", "")), "data: the file is empty");
  EXPECT_EQ(read_error("/proc/self/status"), "data: the file is empty");  // has no size, so no memory can be planned
}

TEST(Storage, SaysThatAFileMayNotBeRead) {
  const TestFolder folder;
  const std::string path = folder.write("f", "x");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  const Unprivileged user;
  EXPECT_EQ(read_error(path), "data: cannot open the file: Permission denied");
}

TEST(Storage, RefusesASocket) {
  const TestFolder folder;
  const std::string path = folder.path("socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int s = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(s, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(read_error(path), "data: cannot open the file: No such device or address");
  ::close(s);
}

TEST(Storage, RefusesAPathWithAZeroByte) {
  std::vector<uint8_t> buffer;
  const std::string path("a\0b", 3);
  EXPECT_EQ(refusal_of("a", [&] { read_file(path, buffer); }), "argument: the path contains a zero byte");
}

TEST(Storage, ChecksTheLimitBeforeItTakesMemory) {
  const TestFolder folder;
  const std::string path = folder.write("sparse", "x");
  ASSERT_EQ(::truncate(path.c_str(), int64_t{1} << 40), 0);
  EXPECT_EQ(read_error(path), "data: the file has 1099511627776 bytes, more than the limit of 1073741824");
  EXPECT_EQ(read_error(folder.write("ten", "0123456789"), 9), "data: the file has 10 bytes, more than the limit of 9");
  EXPECT_EQ(read_error(folder.path("ten"), 10), "read");
}

TEST(Storage, ReadsRanges) {
  const TestFolder folder;
  const std::string path = folder.write("f", "0123456789");
  std::vector<uint8_t> buffer;
  read_range({path, 3, 4}, buffer);
  EXPECT_EQ(text_of(buffer), "3456");
  read_range({path, 0, 10}, buffer);
  EXPECT_EQ(text_of(buffer), "0123456789");
  auto range = [&](int64_t offset, int64_t length, int64_t limit = default_file_limit) {
    return refusal_of(path, [&] { read_range({path, offset, length}, buffer, limit); });
  };
  EXPECT_EQ(range(9, 2), "data: the record of 2 bytes at 9 does not lie inside the file of 10 bytes");
  for (auto [offset, length] : std::vector<std::pair<int64_t, int64_t>>{
           {-1, 2}, {0, 0}, {0, -1}, {10, 1}, {11, 1}, {1, INT64_MAX}, {INT64_MAX, INT64_MAX}, {INT64_MIN, 1}})
    EXPECT_EQ(range(offset, length).rfind("data: the record of ", 0), 0u) << offset << " " << length;
  EXPECT_EQ(range(0, 5, 4), "data: the record has 5 bytes, more than the limit of 4");
}

// Replaces pread. Element n is what the n-th call does. Negative: fails with that errno; else at most that many bytes.
std::vector<int> script;
size_t calls;
ssize_t scripted_read(int, void* out, size_t length, off_t offset) {
  const int step = calls < script.size() ? script[calls] : 1 << 20;
  ++calls;
  if (step < 0) {
    errno = -step;
    return -1;
  }
  const size_t n = std::min<size_t>(length, step);
  for (size_t i = 0; i < n; ++i) static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(offset + i);
  return static_cast<ssize_t>(n);
}

std::string scripted(std::vector<int> steps, std::vector<uint8_t>& out) {
  script = std::move(steps);
  calls = 0;
  return refusal_of("p",
                    [&] { read_exactly(-1, "p", 5, static_cast<int64_t>(out.size()), out.data(), scripted_read); });
}

TEST(Storage, GoesOnAfterShortAndInterruptedReads) {
  std::vector<uint8_t> out(100);
  EXPECT_EQ(scripted({1, -EINTR, 7, -EINTR, -EINTR, 50}, out), "read");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(out[i], i + 5);
}

TEST(Storage, SaysHowFarReadingCame) {
  std::vector<uint8_t> out(100);
  EXPECT_EQ(scripted({10, -EIO}, out), "data: reading failed after 10 of 100 bytes: Input/output error");
  EXPECT_EQ(scripted({-ESTALE}, out), "data: reading failed after 0 of 100 bytes: Stale file handle");
  EXPECT_EQ(scripted({60, 0}, out), "data: the file shrank while it was read: 60 of 100 bytes");
}

TEST(Storage, LeavesNoDescriptorOpen) {
  const TestFolder folder;
  folder.write("f", "x");
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  const int before = ::open("/dev/null", O_RDONLY);
  ::close(before);
  for (int i = 0; i < 20; ++i) {
    read_error(folder.path("f"));
    read_error(folder.path("pipe"));
    read_error(folder.path("none"));
    ReadAhead ahead;
    for (const char* name : {"f", "pipe", "none", "f"})
      ahead.announce(std::vector<ByteRange>{{folder.path(name), 0, -1}, {folder.path(name), 0, 1}});
    if (i % 2) ahead.wait();
  }
  const int after = ::open("/dev/null", O_RDONLY);
  ::close(after);
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace penstock
