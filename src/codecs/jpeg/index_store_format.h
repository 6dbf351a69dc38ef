// SPDX-License-Identifier: Apache-2.0
// The bytes of a file of entropy indexes. Everything that is read from one is checked: it may be damaged, forged or
// half written.
//
//   file     64 bytes of header, then segments, each at a multiple of 64
//   segment  header (32 bytes: magic, number of entries, checksum of the directory, bytes, checksum of the header),
//            directory (16 bytes per entry: key, offset in the segment, bytes), entries, padding
//   entry    CRC-32C of what follows; key, hash of the record's bytes, modification time; then varints: bytes of the
//            file, of the record, of the scan, step, columns, rows, components, and for each point the number of bits
//            since the previous point and, zigzag, the change of each predictor
//
// Numbers are little-endian. A file only grows: a segment that a killed writer left half written costs only its own
// entries.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codecs/jpeg/entropy_index.h"

namespace penstock {

constexpr int64_t kIndexAlignment = 64;
constexpr int64_t kFileHeaderBytes = 64, kSegmentHeaderBytes = 32, kDirectoryEntryBytes = 16;
constexpr int64_t kMostSegmentBytes = int64_t{64} << 20;

constexpr int64_t aligned_up(int64_t n) { return (n + kIndexAlignment - 1) / kIndexAlignment * kIndexAlignment; }

// What an index was made from. `key` identifies the record, `content` is the content_hash of its bytes.
struct IndexRecord {
  uint64_t key = 0, content = 0;
  int64_t file_bytes = 0, modified_ns = 0;  // of the file that contains the record
  bool operator==(const IndexRecord&) const = default;
};

void append_entry(const IndexRecord& record, const EntropyIndex& index, std::vector<uint8_t>& to);

// The part of an entry before its points.
struct EntryHead {
  IndexRecord record;
  EntropyIndex shape;  // without points
  int components = 0;
  size_t points_at = 0;
};
// nullopt if it is not a complete entry. `check_sum` = false is for the fuzzer, which cannot guess checksums.
std::optional<EntryHead> read_entry_head(std::span<const uint8_t> entry, bool check_sum = true);
// Reads the points into index.points, whose memory is reused. False if they do not ascend, leave the scan or do not
// fill the entry. So decoding with an index costs no more than one pass over the scan, whoever wrote the index.
bool read_entry_points(std::span<const uint8_t> entry, const EntryHead& head, EntropyIndex& index);

struct DirectoryEntry {
  uint64_t key = 0;
  uint32_t offset = 0, bytes = 0;
};
struct SegmentHeader {
  uint32_t entries = 0, directory_sum = 0;
  int64_t bytes = 0;  // including this header and the padding
  int64_t directory_bytes() const { return kDirectoryEntryBytes * entries; }
};

std::vector<uint8_t> file_header();
bool is_file_header(std::span<const uint8_t> bytes);
// nullopt if no segment begins here, or one that our writer does not make.
std::optional<SegmentHeader> read_segment_header(std::span<const uint8_t> bytes, bool check_sum = true);
// Entries that are inside the segment; empty if the checksum does not match.
std::vector<DirectoryEntry> read_directory(const SegmentHeader& header, std::span<const uint8_t> bytes,
                                           bool check_sum = true);
// Makes one segment; `directory` gets each entry's key, offset and size.
std::vector<uint8_t> make_segment(std::span<const std::vector<uint8_t>* const> entries,
                                  std::vector<DirectoryEntry>& directory);

}  // namespace penstock
