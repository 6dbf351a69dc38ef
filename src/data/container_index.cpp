// SPDX-License-Identifier: Apache-2.0
#include "data/container_index.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/cache_folder.h"
#include "base/checksum.h"
#include "base/error_of.h"
#include "data/hash.h"
#include "data/remote_client.h"
#include "data/replace_file.h"

namespace penstock {

namespace fs = std::filesystem;

// Magic, format (16 bytes), size, time, number of records, bytes of names, number of heads, offsets, lengths, names,
// each with a final zero, heads, CRC-32C.
static constexpr char kMagic[9] = "PSTKCIX2";
static constexpr size_t kHead = 8 + 16 + 5 * 8;

FileStamp identity_of(const OpenFile& file) {
  FileStamp identity = file.stamp();
  struct stat info;
  if (file.remote() || ::fstat(file.descriptor(), &info) != 0) return identity;
  constexpr int64_t kFirst = 512;
  std::vector<uint8_t> first(static_cast<size_t>(std::min(kFirst, identity.bytes)));
  file.read(0, static_cast<int64_t>(first.size()), first.data());
  uint64_t sum = mix64(static_cast<uint64_t>(identity.modified_ns)) ^ static_cast<uint64_t>(info.st_ino);
  sum = mix64(sum) ^ static_cast<uint64_t>(info.st_ctim.tv_sec);
  sum = mix64(sum) ^ static_cast<uint64_t>(info.st_ctim.tv_nsec);
  sum = mix64(sum) ^ crc32c(first);
  identity.modified_ns = static_cast<int64_t>(mix64(sum) >> 1);
  return identity;
}

static std::string file_of(const std::string& format, const std::string& path) {
  const std::string cache = cache_folder();
  if (cache.empty()) return {};
  std::error_code ignored;
  const fs::path full = is_url(path) ? fs::path(path) : fs::absolute(path, ignored).lexically_normal();
  std::string name = full.filename();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '_';
  return fmt::format("{}/containers/{}-{:016x}.{}", cache, name.substr(0, 60), hash_bytes(full.native()), format);
}

std::vector<uint8_t> index_bytes(const std::string& format, const FileStamp& stamp, const ContainerIndex& index) {
  std::string names;
  for (const auto& n : index.names) names += n, names += '\0';
  const size_t records = index.offsets.size();
  const size_t heads = 4 * index.heads.size();
  std::vector<uint8_t> out(kHead + 16 * records + names.size() + heads + 4);
  uint8_t* to = out.data();
  const auto put = [&](const void* from, size_t n) {
    if (n) std::memcpy(to, from, n);
    to += n;
  };
  char kind[16] = {};
  std::memcpy(kind, format.data(), std::min<size_t>(15, format.size()));
  put(kMagic, 8), put(kind, 16);
  const int64_t numbers[5] = {stamp.bytes, stamp.modified_ns, index.size(), static_cast<int64_t>(names.size()),
                              static_cast<int64_t>(index.heads.size())};
  put(numbers, sizeof numbers);
  put(index.offsets.data(), 8 * records), put(index.lengths.data(), 8 * records), put(names.data(), names.size());
  put(index.heads.data(), heads);
  const uint32_t sum = crc32c({out.data(), out.size() - 4});
  put(&sum, 4);
  return out;
}

std::optional<ContainerIndex> index_from_bytes(Bytes bytes, const std::string& format, const FileStamp& stamp) {
  if (bytes.size() < kHead + 4 || std::memcmp(bytes.data(), kMagic, 8) != 0) return {};
  uint32_t sum;
  std::memcpy(&sum, bytes.data() + bytes.size() - 4, 4);
  if (sum != crc32c(bytes.first(bytes.size() - 4))) return {};
  char kind[16] = {};
  std::memcpy(kind, format.data(), std::min<size_t>(15, format.size()));
  if (std::memcmp(bytes.data() + 8, kind, 16) != 0) return {};
  int64_t numbers[5];
  std::memcpy(numbers, bytes.data() + 24, sizeof numbers);
  if (numbers[0] != stamp.bytes || numbers[1] != stamp.modified_ns) return {};
  const auto rest = static_cast<int64_t>(bytes.size() - kHead - 4);
  const int64_t records = numbers[2], names = numbers[3], heads = numbers[4];
  if (records < 0 || names < 0 || records > rest / 16 || (heads != 0 && heads != records) ||
      names != rest - 16 * records - 4 * heads)
    return {};
  ContainerIndex index;
  index.offsets.resize(records), index.lengths.resize(records);
  const uint8_t* from = bytes.data() + kHead;
  if (records) {
    std::memcpy(index.offsets.data(), from, 8 * records);
    std::memcpy(index.lengths.data(), from + 8 * records, 8 * records);
  }
  if (first_outside(index, stamp.bytes) >= 0) return {};
  const char* text = reinterpret_cast<const char*>(from + 16 * records);
  for (int64_t at = 0; at < names;) {
    const void* end = std::memchr(text + at, 0, names - at);
    if (!end) return {};
    const auto length = static_cast<const char*>(end) - (text + at);
    index.names.emplace_back(text + at, length);
    at += length + 1;
  }
  if (!index.names.empty() && static_cast<int64_t>(index.names.size()) != records) return {};
  index.heads.resize(heads);
  if (heads) std::memcpy(index.heads.data(), text + names, 4 * heads);
  return index;
}

std::optional<std::vector<uint8_t>> kept_bytes(const std::string& format, const std::string& path) {
  const std::string file = file_of(format, path);
  std::error_code ignored;
  if (file.empty() || !fs::exists(file, ignored)) return {};
  std::vector<uint8_t> bytes;
  if (error_of([&] { read_file(file, bytes, int64_t{1} << 40); })) return {};  // an unreadable index is made again
  return bytes;
}

void keep_bytes(const std::string& format, const std::string& path, Bytes bytes) {
  const std::string file = file_of(format, path);
  if (file.empty() || !make_private_folder(fs::path(file).parent_path()).empty()) return;
  error_of([&] { replace_file(file, bytes); });
}

std::optional<ContainerIndex> kept_index(const std::string& format, const std::string& path, const FileStamp& stamp) {
  const auto bytes = kept_bytes(format, path);
  return bytes ? index_from_bytes(*bytes, format, stamp) : std::nullopt;
}

void keep_index(const std::string& format, const std::string& path, const FileStamp& stamp,
                const ContainerIndex& index) {
  keep_bytes(format, path, index_bytes(format, stamp, index));
}

int64_t first_outside(const ContainerIndex& index, int64_t file_bytes) {
  for (int64_t i = 0; i < index.size(); ++i) {
    const int64_t offset = index.offsets[i], length = index.lengths[i];
    if (offset < 0 || length < 0 || offset > file_bytes || length > file_bytes - offset) return i;
  }
  return -1;
}

std::vector<std::vector<int64_t>> number_lines(const std::string& text, const std::string& path, size_t columns) {
  std::vector<std::vector<int64_t>> lines;
  size_t line = 0;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    ++line;
    std::vector<int64_t> numbers;
    for (const char *p = text.data() + at, *stop = text.data() + end; p < stop;) {
      if (*p == ' ' || *p == '\t' || *p == '\r') {
        ++p;
        continue;
      }
      int64_t value = 0;
      const auto [next, error] = std::from_chars(p, stop, value);
      if (error != std::errc() || (next < stop && *next != ' ' && *next != '\t' && *next != '\r') ||
          numbers.size() == columns)
        fail_on(path, ErrorKind::data, "line {} of the index does not have {} whole numbers", line, columns);
      numbers.push_back(value);
      p = next;
    }
    if (!numbers.empty() && numbers.size() != columns)
      fail_on(path, ErrorKind::data, "line {} of the index does not have {} whole numbers", line, columns);
    if (!numbers.empty()) lines.push_back(std::move(numbers));
    at = end + 1;
  }
  return lines;
}

}  // namespace penstock
