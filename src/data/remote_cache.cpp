// SPDX-License-Identifier: Apache-2.0
#include "data/remote_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "base/cache_folder.h"
#include "base/checksum.h"
#include "base/error_of.h"
#include "data/hash.h"
#include "data/storage.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

// Magic, numbers, URL, tag, one CRC-32C per chunk of the body and one for everything before it; then the body.
constexpr char kCacheMagic[9] = "PSTKRMC1";
constexpr int64_t kChunk = 1 << 16;
enum Number { kOffset, kBody, kBytes, kModified, kUrl, kTag, kNumbers };
constexpr int64_t kFixed = 8 + 8 * kNumbers;
constexpr int64_t kLongestText = 1 << 16;
constexpr auto kAbandoned = std::chrono::hours(1);  // for a half-written file of a process that was killed

struct Descriptor {
  int number;
  explicit Descriptor(int n) : number(n) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

int64_t chunks_of(int64_t bytes) { return (bytes + kChunk - 1) / kChunk; }

struct Head {
  int64_t numbers[kNumbers];
  std::string url, tag;
  std::vector<uint32_t> sums;
  int64_t bytes() const { return kFixed + numbers[kUrl] + numbers[kTag] + 4 * static_cast<int64_t>(sums.size()) + 4; }
  RemoteStamp stamp() const { return {numbers[kBytes], numbers[kModified], tag}; }
};

std::vector<uint8_t> bytes_of(const std::string& url, int64_t offset, const RemoteStamp& stamp,
                              std::span<const uint8_t> body) {
  const auto length = static_cast<int64_t>(body.size());
  const int64_t numbers[kNumbers] = {offset,
                                     length,
                                     stamp.bytes,
                                     stamp.modified_ns,
                                     static_cast<int64_t>(url.size()),
                                     static_cast<int64_t>(stamp.tag.size())};
  std::vector<uint8_t> out;
  const auto put = [&](const void* from, size_t n) {
    const auto* p = static_cast<const uint8_t*>(from);
    out.insert(out.end(), p, p + n);
  };
  put(kCacheMagic, 8), put(numbers, sizeof numbers), put(url.data(), url.size()),
      put(stamp.tag.data(), stamp.tag.size());
  for (int64_t at = 0; at < length; at += kChunk) {
    const uint32_t sum =
        crc32c(body.subspan(static_cast<size_t>(at), static_cast<size_t>(std::min(kChunk, length - at))));
    put(&sum, 4);
  }
  const uint32_t sum = crc32c(out);
  put(&sum, 4);
  return out;
}

// Nothing if the file is not a complete entry.
std::optional<Head> read_head(int descriptor, const std::string& path) {
  struct stat info;
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < kFixed + 4) return {};
  std::vector<uint8_t> bytes(static_cast<size_t>(kFixed));
  const auto read_more = [&](int64_t until) {
    const auto from = static_cast<int64_t>(bytes.size());
    bytes.resize(static_cast<size_t>(until));
    read_exactly(descriptor, path, from, until - from, bytes.data() + from,
                 [](int d, void* out, size_t n, off_t at) { return ::pread(d, out, n, at); });
  };
  std::optional<Head> head;
  const auto failed = error_of([&] {
    bytes.clear();
    read_more(kFixed);
    Head h;
    if (std::memcmp(bytes.data(), kCacheMagic, 8) != 0) return;
    std::memcpy(h.numbers, bytes.data() + 8, sizeof h.numbers);
    const auto within = [](int64_t n, int64_t most) { return n >= 0 && n <= most; };
    if (!within(h.numbers[kUrl], kLongestText) || !within(h.numbers[kTag], kLongestText) ||
        !within(h.numbers[kBody], info.st_size))
      return;
    h.sums.resize(static_cast<size_t>(chunks_of(h.numbers[kBody])));
    if (h.bytes() + h.numbers[kBody] != info.st_size) return;
    read_more(h.bytes());
    uint32_t sum;
    std::memcpy(&sum, bytes.data() + h.bytes() - 4, 4);
    if (sum != crc32c({bytes.data(), bytes.size() - 4})) return;
    const auto* text = reinterpret_cast<const char*>(bytes.data()) + kFixed;
    h.url.assign(text, static_cast<size_t>(h.numbers[kUrl]));
    h.tag.assign(text + h.numbers[kUrl], static_cast<size_t>(h.numbers[kTag]));
    if (!h.sums.empty()) std::memcpy(h.sums.data(), text + h.numbers[kUrl] + h.numbers[kTag], 4 * h.sums.size());
    head = std::move(h);
  });
  return failed ? std::nullopt : head;
}

// Whole chunks, from the first byte's to the last byte's; false if one is damaged.
bool read_chunks(int descriptor, const std::string& path, const Head& h, int64_t first, int64_t length,
                 std::vector<uint8_t>& out) {
  const int64_t begin = first / kChunk * kChunk;
  const int64_t end = std::min(h.numbers[kBody], chunks_of(first + length) * kChunk);
  const auto failed = error_of([&] {
    out.resize(static_cast<size_t>(end - begin));
    read_exactly(descriptor, path, h.bytes() + begin, end - begin, out.data(),
                 [](int d, void* to, size_t n, off_t at) { return ::pread(d, to, n, at); });
  });
  if (failed) return false;
  for (int64_t at = begin; at < end; at += kChunk)
    if (crc32c({out.data() + (at - begin), static_cast<size_t>(std::min(kChunk, end - at))}) !=
        h.sums[static_cast<size_t>(at / kChunk)])
      return false;
  return true;
}

// Records the time of the last use. On a read-only disk entries just age.
void touch(int descriptor) { ::futimens(descriptor, nullptr); }

}  // namespace

RemoteCache::RemoteCache(std::string folder, int64_t limit) : folder_(std::move(folder)), limit_(limit) {
  if (limit < 1) bad_argument("the cache needs a limit of at least one byte, got {}", limit);
  std::error_code ignored;
  folder_ = fs::absolute(folder_, ignored).lexically_normal();
  if (const std::string why = make_private_folder(folder_); !why.empty())
    bad_argument("the cache folder {}: {}", folder_, why);
  make_room();
}

std::string RemoteCache::file_of(const std::string& url, int64_t offset) const {
  const uint64_t a = mix64(hash_bytes(url) ^ mix64(static_cast<uint64_t>(offset))), b = hash_bytes(url, a);
  return fmt::format("{}/{:02x}/{:016x}{:08x}", folder_, a >> 56, a, b >> 32);
}

bool RemoteCache::has(const std::string& url, int64_t offset) const {
  return ::access(file_of(url, offset).c_str(), R_OK) == 0;
}

std::optional<RemoteObject> RemoteCache::find(const std::string& url, int64_t offset) {
  const std::string path = file_of(url, offset);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number < 0) return {};
  const auto head = read_head(file.number, path);
  if (head && (head->url != url || head->numbers[kOffset] != offset)) return {};  // another entry with the same hash
  RemoteObject found;
  if (!head || !read_chunks(file.number, path, *head, 0, head->numbers[kBody], found.body)) {
    ::unlink(path.c_str());
    return {};
  }
  touch(file.number);
  ++hits_;
  found.stamp = head->stamp();
  return found;
}

bool RemoteCache::read(const std::string& url, int64_t offset, const RemoteStamp& stamp, int64_t first, int64_t length,
                       uint8_t* out) {
  const std::string path = file_of(url, offset);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number < 0) return false;
  const auto head = read_head(file.number, path);
  if (head && (head->url != url || head->numbers[kOffset] != offset)) return false;
  std::vector<uint8_t> chunks;
  if (!head || !(head->stamp() == stamp) || first < 0 || length < 0 || first > head->numbers[kBody] ||
      length > head->numbers[kBody] - first || !read_chunks(file.number, path, *head, first, length, chunks)) {
    ::unlink(path.c_str());
    return false;
  }
  if (length) std::memcpy(out, chunks.data() + first % kChunk, static_cast<size_t>(length));
  touch(file.number);
  ++hits_;
  return true;
}

// Removes the rest of a failed write. Does not sync to the disk: a checksum detects an entry that a crash truncated.
std::string RemoteCache::write(const std::string& file, std::span<const uint8_t> head, std::span<const uint8_t> body) {
  const auto reason = [](int code) { return std::generic_category().message(code); };
  const std::string folder = fs::path(file).parent_path();
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return reason(errno);
  std::string name = folder + "/new-XXXXXX";
  const Descriptor out(::mkostemp(name.data(), O_CLOEXEC));
  if (out.number < 0) return reason(errno);
  const auto failed = [&](int code) {
    ::unlink(name.c_str());
    return reason(code);
  };
  for (const auto& part : {head, body})
    for (size_t done = 0; done < part.size();) {
      const ssize_t n = ::write(out.number, part.data() + done, part.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return failed(n < 0 ? errno : ENOSPC);
      done += static_cast<size_t>(n);
    }
  if (::rename(name.c_str(), file.c_str()) != 0) return failed(errno);
  return {};
}

std::string RemoteCache::keep(const std::string& url, int64_t offset, const RemoteStamp& stamp,
                              std::span<const uint8_t> body) {
  const auto size = static_cast<int64_t>(body.size());
  if (full_ || size > limit_ / 4 || static_cast<int64_t>(url.size()) > kLongestText ||
      static_cast<int64_t>(stamp.tag.size()) > kLongestText)
    return {};
  const std::string why = write(file_of(url, offset), bytes_of(url, offset, stamp, body), body);
  if (!why.empty()) {
    if (full_.exchange(true)) return {};
    return fmt::format("the cache {} accepts no more entries: {}", folder_, why);
  }
  std::lock_guard lock(mutex_);
  bytes_ += size + kFixed, written_ += size + kFixed;
  // Other processes write too, so it scans the folder from time to time.
  if (bytes_ > limit_ || written_ > limit_ / 8) make_room();
  return {};
}

void RemoteCache::make_room() {
  // One process at a time; the others continue and find the room that it made.
  const Descriptor lock(::open((folder_ + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.number >= 0 && ::flock(lock.number, LOCK_EX | LOCK_NB) != 0) return;
  struct Kept {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  std::vector<Kept> all;
  std::error_code ignored;
  bytes_ = written_ = 0;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& room : fs::directory_iterator(folder_, ignored)) {
    if (!room.is_directory(ignored) || room.path().filename().native().size() != 2) continue;
    for (const auto& entry : fs::directory_iterator(room.path(), ignored)) {
      std::error_code gone;
      const auto used = entry.last_write_time(gone);
      const auto bytes = gone ? 0 : static_cast<int64_t>(entry.file_size(gone));
      if (gone) continue;
      if (entry.path().filename().native().starts_with("new-")) {
        if (now - used > kAbandoned) fs::remove(entry.path(), gone);
        continue;
      }
      bytes_ += bytes;
      all.push_back({used, bytes, entry.path()});
    }
  }
  if (bytes_ <= limit_) return;
  std::sort(all.begin(), all.end(),
            [](const Kept& a, const Kept& b) { return std::tie(a.used, a.path) < std::tie(b.used, b.path); });
  for (const Kept& k : all) {
    if (bytes_ <= limit_ - limit_ / 8) break;
    std::error_code gone;
    fs::remove(k.path, gone);
    bytes_ -= k.bytes;
  }
}

}  // namespace penstock
