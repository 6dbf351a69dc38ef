// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/index_store_format.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/checksum.h"

namespace penstock {
namespace {

using Span = std::span<const uint8_t>;
constexpr std::string_view kFileMagic = "PENSTOCK ENTROPY INDEX\n";
constexpr uint64_t kSegmentMagic = 0x0A6765734B545350u;  // "PSTKseg\n"
constexpr uint32_t kVersion = 1;
constexpr size_t kFixedBytes = 4 + 8 + 8 + 8;  // of an entry: checksum, key, content, time
constexpr int64_t kMostSide = 65535;           // JPEG's own limit in pixels

template <class T> T swapped(T x) {
  if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1) return x;
  else if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(static_cast<uint32_t>(x)));
  else return static_cast<T>(__builtin_bswap64(static_cast<uint64_t>(x)));
}
template <class T> T load(Span from, size_t at) {
  T x;
  std::memcpy(&x, from.data() + at, sizeof x);
  return swapped(x);
}
template <class T> void store(uint8_t* to, T x) {
  x = swapped(x);
  std::memcpy(to, &x, sizeof x);
}
template <class T> void append(std::vector<uint8_t>& to, T x) {
  to.resize(to.size() + sizeof x);
  store(to.data() + to.size() - sizeof x, x);
}
void append_varint(std::vector<uint8_t>& to, uint64_t x) {
  for (; x >= 128; x >>= 7) to.push_back(static_cast<uint8_t>(x | 128));
  to.push_back(static_cast<uint8_t>(x));
}
void append_signed(std::vector<uint8_t>& to, int32_t x) {
  append_varint(to, (static_cast<uint32_t>(x) << 1) ^ static_cast<uint32_t>(x >> 31));
}

// False past the end and for numbers of more than 64 bits.
bool take_varint(Span from, size_t& at, uint64_t& x) {
  x = 0;
  for (int shift = 0; shift < 64 && at < from.size(); shift += 7) {
    const uint8_t b = from[at++];
    if (shift == 63 && b > 1) return false;
    x |= static_cast<uint64_t>(b & 127) << shift;
    if (b < 128) return true;
  }
  return false;
}
bool take_up_to(Span from, size_t& at, int64_t most, auto& value) {
  uint64_t x;
  if (!take_varint(from, at, x) || x > static_cast<uint64_t>(most)) return false;
  value = static_cast<std::remove_reference_t<decltype(value)>>(x);
  return true;
}

}  // namespace

void append_entry(const IndexRecord& record, const EntropyIndex& index, std::vector<uint8_t>& to) {
  const size_t begin = to.size();
  append<uint32_t>(to, 0);
  append(to, record.key);
  append(to, record.content);
  append(to, record.modified_ns);
  const bool colored = std::any_of(index.points.begin(), index.points.end(),
                                   [](const EntropyPoint& p) { return p.dc[1] != 0 || p.dc[2] != 0; });
  const int components = colored ? 3 : 1;
  append_varint(to, static_cast<uint64_t>(record.file_bytes));
  append_varint(to, index.file_bytes);
  append_varint(to, index.scan_bytes);
  for (int32_t x : {index.step, index.columns, index.rows, components}) append_varint(to, static_cast<uint32_t>(x));
  EntropyPoint before;
  for (const EntropyPoint& p : index.points) {
    append_varint(to, p.bit - before.bit);
    for (int c = 0; c < components; ++c) append_signed(to, p.dc[c] - before.dc[c]);
    before = p;
  }
  store(to.data() + begin, crc32c(Span(to).subspan(begin + 4)));
}

std::optional<EntryHead> read_entry_head(Span entry, bool check_sum) {
  if (entry.size() <= kFixedBytes) return {};
  if (check_sum && load<uint32_t>(entry, 0) != crc32c(entry.subspan(4))) return {};
  EntryHead h;
  h.record.key = load<uint64_t>(entry, 4);
  h.record.content = load<uint64_t>(entry, 12);
  h.record.modified_ns = load<int64_t>(entry, 20);
  constexpr int64_t kAny32 = std::numeric_limits<uint32_t>::max();
  size_t at = kFixedBytes;
  if (!take_up_to(entry, at, std::numeric_limits<int64_t>::max(), h.record.file_bytes) ||
      !take_up_to(entry, at, kAny32, h.shape.file_bytes) || !take_up_to(entry, at, kAny32, h.shape.scan_bytes) ||
      !take_up_to(entry, at, kMostSide, h.shape.step) || !take_up_to(entry, at, kMostSide, h.shape.columns) ||
      !take_up_to(entry, at, kMostSide, h.shape.rows) || !take_up_to(entry, at, 3, h.components))
    return {};
  if (h.shape.step < 1 || h.shape.columns < 1 || h.shape.rows < 1 || h.components < 1 || h.components == 2 ||
      h.shape.scan_bytes > h.shape.file_bytes)
    return {};
  // A point has at least one byte for each of its numbers: checked before memory is allocated.
  const int64_t points = int64_t{h.shape.columns} * h.shape.rows;
  if (points > static_cast<int64_t>(entry.size() - at) / (1 + h.components)) return {};
  h.points_at = at;
  return h;
}

bool read_entry_points(Span entry, const EntryHead& head, EntropyIndex& index) {
  const size_t points = static_cast<size_t>(head.shape.columns) * head.shape.rows;
  index.step = head.shape.step, index.columns = head.shape.columns, index.rows = head.shape.rows;
  index.file_bytes = head.shape.file_bytes, index.scan_bytes = head.shape.scan_bytes;
  index.points.assign(points, {});
  const uint64_t end = uint64_t{head.shape.scan_bytes} * 8;
  const uint8_t* p = entry.data() + head.points_at;
  const uint8_t* const last = entry.data() + entry.size();
  // Numbers here have at most 32 bits.
  auto take = [&](uint32_t& x) {
    if (p < last && *p < 128) {
      x = *p++;
      return true;
    }
    uint64_t sum = 0;
    for (int shift = 0; shift < 35 && p < last; shift += 7) {
      const uint8_t b = *p++;
      sum |= static_cast<uint64_t>(b & 127) << shift;
      if (b < 128) {
        x = static_cast<uint32_t>(sum);
        return sum <= 0xFFFFFFFFu;
      }
    }
    return false;
  };
  uint64_t bit = 0;
  int32_t dc[3] = {0, 0, 0};
  for (size_t i = 0; i < points; ++i) {
    uint32_t x;
    if (!take(x) || (x == 0 && i > 0)) return false;
    bit += x;
    if (bit >= end) return false;
    index.points[i].bit = static_cast<uint32_t>(bit);
    for (int c = 0; c < head.components; ++c) {
      if (!take(x)) return false;
      const int64_t changed = int64_t{dc[c]} + static_cast<int32_t>((x >> 1) ^ (0u - (x & 1)));
      if (changed < -32768 || changed > 32767) return false;
      dc[c] = static_cast<int32_t>(changed);
      index.points[i].dc[c] = static_cast<int16_t>(changed);
    }
  }
  return p == last;
}

std::vector<uint8_t> file_header() {
  std::vector<uint8_t> h(kFileHeaderBytes);
  std::memcpy(h.data(), kFileMagic.data(), kFileMagic.size());
  store(h.data() + 32, kVersion);
  store(h.data() + 60, crc32c(Span(h).first(60)));
  return h;
}

bool is_file_header(Span bytes) {
  static const std::vector<uint8_t> expected = file_header();
  return bytes.size() >= expected.size() && std::equal(expected.begin(), expected.end(), bytes.begin());
}

std::optional<SegmentHeader> read_segment_header(Span bytes, bool check_sum) {
  if (bytes.size() < kSegmentHeaderBytes || load<uint64_t>(bytes, 0) != kSegmentMagic) return {};
  if (check_sum && load<uint32_t>(bytes, 28) != crc32c(bytes.first(28))) return {};
  SegmentHeader h;
  h.entries = load<uint32_t>(bytes, 8);
  h.directory_sum = load<uint32_t>(bytes, 12);
  h.bytes = load<int64_t>(bytes, 16);
  if (h.bytes < kIndexAlignment || h.bytes > kMostSegmentBytes || h.bytes % kIndexAlignment ||
      h.directory_bytes() > h.bytes - kSegmentHeaderBytes)
    return {};
  return h;
}

std::vector<DirectoryEntry> read_directory(const SegmentHeader& header, Span bytes, bool check_sum) {
  std::vector<DirectoryEntry> d;
  if (static_cast<int64_t>(bytes.size()) < header.directory_bytes()) return d;
  bytes = bytes.first(static_cast<size_t>(header.directory_bytes()));
  if (check_sum && crc32c(bytes) != header.directory_sum) return d;
  d.reserve(header.entries);
  for (uint32_t i = 0; i < header.entries; ++i) {
    const size_t at = i * size_t{kDirectoryEntryBytes};
    const DirectoryEntry e{load<uint64_t>(bytes, at), load<uint32_t>(bytes, at + 8), load<uint32_t>(bytes, at + 12)};
    if (e.offset >= kSegmentHeaderBytes && e.bytes > 0 && int64_t{e.offset} + e.bytes <= header.bytes) d.push_back(e);
  }
  return d;
}

std::vector<uint8_t> make_segment(std::span<const std::vector<uint8_t>* const> entries,
                                  std::vector<DirectoryEntry>& directory) {
  directory.clear();
  size_t at = kSegmentHeaderBytes + kDirectoryEntryBytes * entries.size();
  for (const auto* e : entries) {
    directory.push_back({load<uint64_t>(*e, 4), static_cast<uint32_t>(at), static_cast<uint32_t>(e->size())});
    at += e->size();
  }
  std::vector<uint8_t> s(static_cast<size_t>(aligned_up(static_cast<int64_t>(at))));
  uint8_t* d = s.data() + kSegmentHeaderBytes;
  for (size_t i = 0; i < entries.size(); ++i, d += kDirectoryEntryBytes) {
    store(d, directory[i].key);
    store(d + 8, directory[i].offset);
    store(d + 12, directory[i].bytes);
    std::copy(entries[i]->begin(), entries[i]->end(), s.begin() + directory[i].offset);
  }
  store(s.data(), kSegmentMagic);
  store(s.data() + 8, static_cast<uint32_t>(entries.size()));
  store(s.data() + 12, crc32c(Span(s).subspan(kSegmentHeaderBytes, kDirectoryEntryBytes * entries.size())));
  store(s.data() + 16, static_cast<int64_t>(s.size()));
  store(s.data() + 24, uint32_t{0});
  store(s.data() + 28, crc32c(Span(s).first(28)));
  return s;
}

}  // namespace penstock
