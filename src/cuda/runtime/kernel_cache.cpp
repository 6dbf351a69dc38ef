// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/kernel_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "base/cache_folder.h"
#include "base/checksum.h"
#include "cuda/runtime/compile_apart.h"
#include "penstock/penstock.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;
constexpr const char* kSuffix = ".kernel";
constexpr const char* kUnfinished = ".unfinished";
constexpr int64_t kMostBytes = int64_t{64} << 20;  // per file
constexpr auto kForgottenAfter = std::chrono::hours(1);

// Precedes the key and the image, in the byte order of the machine: a cache is not moved to other machines.
struct Header {
  char magic[8] = {'P', 'S', 'T', 'K', 'E', 'R', 'N', '1'};
  uint64_t key_bytes = 0, image_bytes = 0;
  uint64_t sum = 0;  // content_hash of key and image
};

uint64_t hash_of(const std::string& bytes) {
  return content_hash({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

bool read_all(int descriptor, char* to, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::read(descriptor, to, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}
bool write_all(int descriptor, const char* from, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::write(descriptor, from, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

KernelCache KernelCache::of_user() {
  const std::string cache = cache_folder();
  return KernelCache(cache.empty() ? "" : cache + "/kernels");
}

std::string KernelCache::file_of(const std::string& key) const {
  return fmt::format("{}/{:016x}{}", folder_, hash_of(key), kSuffix);
}

std::optional<std::string> KernelCache::find(const std::string& key) const noexcept {
  try {
    struct stat info;
    if (folder_.empty() || ::stat(folder_.c_str(), &info) != 0 || !not_private(info).empty()) return std::nullopt;
    const std::string path = file_of(key);
    const File file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (file.get() < 0 || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
    if (!not_private(info).empty() || info.st_size > kMostBytes) return std::nullopt;
    Header header;
    const Header expected;
    const auto size = static_cast<uint64_t>(info.st_size);
    if (size < sizeof header || !read_all(file.get(), reinterpret_cast<char*>(&header), sizeof header))
      return std::nullopt;
    if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0) return std::nullopt;
    const uint64_t rest = size - sizeof header;
    if (header.key_bytes != key.size() || header.key_bytes > rest || header.image_bytes != rest - header.key_bytes)
      return std::nullopt;
    std::string content(static_cast<size_t>(rest), '\0');
    if (!read_all(file.get(), content.data(), content.size()) || hash_of(content) != header.sum) return std::nullopt;
    if (content.compare(0, key.size(), key) != 0) return std::nullopt;
    static_cast<void>(::futimens(file.get(), nullptr));  // time of last use, for make_room()
    return content.substr(key.size());
  } catch (...) {
    return std::nullopt;
  }
}

void KernelCache::keep(const std::string& key, const std::string& image) const noexcept {
  try {
    const auto bytes = static_cast<int64_t>(sizeof(Header) + key.size() + image.size());
    if (folder_.empty() || bytes > std::min(limit_, kMostBytes)) return;
    if (!make_private_folder(folder_).empty()) return;
    const std::string content = key + image;
    Header header;
    header.key_bytes = key.size();
    header.image_bytes = image.size();
    header.sum = hash_of(content);
    static std::atomic<uint64_t> count{0};
    const std::string path = file_of(key);
    const std::string aside = fmt::format("{}.{}.{}{}", path, ::getpid(), count++, kUnfinished);
    bool good = false;
    {
      const File file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
      if (file.get() < 0) return;
      good = write_all(file.get(), reinterpret_cast<const char*>(&header), sizeof header) &&
             write_all(file.get(), content.data(), content.size());
    }
    if (!good || ::rename(aside.c_str(), path.c_str()) != 0) {
      ::unlink(aside.c_str());
      return;
    }
    make_room(path);
  } catch (...) {
  }
}

void KernelCache::make_room(const std::string& keeping) const {
  struct Other {
    fs::path path;
    fs::file_time_type used;
    int64_t bytes;
  };
  std::vector<Other> others;
  int64_t sum = 0;
  std::error_code failed;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator i(folder_, failed), none; !failed && i != none; i.increment(failed)) {
    std::error_code gone;
    const fs::path extension = i->path().extension();
    if ((extension != kSuffix && extension != kUnfinished) || !i->is_regular_file(gone)) continue;
    const auto used = i->last_write_time(gone);
    const auto bytes = static_cast<int64_t>(i->file_size(gone));
    if (gone) continue;
    if (extension == kUnfinished) {  // from a killed process; a recent one may still be being written
      if (now - used > kForgottenAfter) fs::remove(i->path(), gone);
      continue;
    }
    sum += bytes;
    if (i->path() != fs::path(keeping)) others.push_back({i->path(), used, bytes});
  }
  if (sum <= limit_) return;
  std::sort(others.begin(), others.end(), [](const Other& a, const Other& b) { return a.used < b.used; });
  for (const Other& o : others) {
    if (sum <= limit_ - limit_ / 8) break;  // not again at the next kernel
    std::error_code gone;
    if (fs::remove(o.path, gone)) sum -= o.bytes;
  }
}

KernelCache::Turn::Turn(const KernelCache& cache, const std::string& key) noexcept {
  constexpr uint64_t kTurns = 256;                     // as many files at most
  constexpr auto kPatience = std::chrono::minutes(2);  // then who has the turn has stopped
  try {
    if (cache.folder_.empty() || !make_private_folder(cache.folder_).empty()) return;
    const std::string path = fmt::format("{}/turn{:02x}.lock", cache.folder_, hash_of(key) % kTurns);
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if ((errno != EWOULDBLOCK && errno != EINTR) || std::chrono::steady_clock::now() >= end) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  } catch (...) {
  }
}
KernelCache::Turn::~Turn() {
  if (file_ >= 0) ::close(file_);
}

KernelImage kernel_image(const Nvrtc& nvrtc, const KernelCache& cache, const std::string& text,
                         const std::string& entry, const std::vector<std::string>& options, bool anew) {
  std::string key = std::string("Penstock ") + penstock_version() + "\nNVRTC " + nvrtc.version() + "\n";
  for (const std::string& o : options) key += o + " ";
  key += "\n" + entry + "\n" + text;
  if (!anew)
    if (auto kept = cache.find(key)) return {std::move(*kept), Nvrtc::makes_ptx(options)};
  const KernelCache::Turn turn(cache, key);
  if (!anew)  // another one may have kept it since
    if (auto kept = cache.find(key)) return {std::move(*kept), Nvrtc::makes_ptx(options)};
  KernelImage image = compile_apart(nvrtc, text, entry, options);
  cache.keep(key, image.bytes);
  return image;
}

}  // namespace penstock
