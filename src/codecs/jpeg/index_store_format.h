// SPDX-License-Identifier: Apache-2.0
// The bytes of a file of entropy indexes. Everything read from one is checked: it may be damaged, forged or half
// written.
//
//   file     64 bytes of header, then segments, each at a multiple of 64
//   segment  header (32 bytes: magic, number of entries, sum of the directory, bytes, sum of the header), directory
//            (16 bytes an entry: key, offset in the segment, bytes), entries, padding
//   entry    CRC-32C of what follows; key, hash of the record's bytes, modification time; then varints: bytes of the
//            file, of the record, of the scan, step, columns, rows, components, and for each point the bits since the
//            point before and, zigzag, the change of each predictor
//
// Numbers are little-endian. A file only grows: a segment that a killed writer left half written costs its own entries.
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

// What an index was made from. `key` names the record, `content` is the content_hash of its bytes.
struct IndexRecord {
  uint64_t key = 0, content = 0;
  int64_t file_bytes = 0, modified_ns = 0;  // of the file that holds the record
  bool operator==(const IndexRecord&) const = default;
};

void append_entry(const IndexRecord& record, const EntropyIndex& index, std::vector<uint8_t>& to);

// What stands in front of an entry's points.
struct EntryHead {
  IndexRecord record;
  EntropyIndex shape;  // without points
  int components = 0;
  size_t points_at = 0;
};
// nullopt where it is no whole entry. `check_sum` false is for the fuzzer, which cannot guess sums.
std::optional<EntryHead> read_entry_head(std::span<const uint8_t> entry, bool check_sum = true);
// The points into index.points, whose memory is used again; false where they do not ascend, leave the scan or do not
// fill the entry. So decoding with an index costs no more than one pass over the scan, whoever wrote it.
bool read_entry_points(std::span<const uint8_t> entry, const EntryHead& head, EntropyIndex& index);

struct DirectoryEntry {
  uint64_t key = 0;
  uint32_t offset = 0, bytes = 0;
};
struct SegmentHeader {
  uint32_t entries = 0, directory_sum = 0;
  int64_t bytes = 0;  // with this header and the padding
  int64_t directory_bytes() const { return kDirectoryEntryBytes * entries; }
};

std::vector<uint8_t> file_header();
bool is_file_header(std::span<const uint8_t> bytes);
// nullopt where no segment begins here, or one that no writer of ours makes.
std::optional<SegmentHeader> read_segment_header(std::span<const uint8_t> bytes, bool check_sum = true);
// Entries whose place is inside the segment; empty where the sum does not fit.
std::vector<DirectoryEntry> read_directory(const SegmentHeader& header, std::span<const uint8_t> bytes,
                                           bool check_sum = true);
// One segment; `directory` gets each entry's key, offset and size.
std::vector<uint8_t> make_segment(std::span<const std::vector<uint8_t>* const> entries,
                                  std::vector<DirectoryEntry>& directory);

}  // namespace penstock
