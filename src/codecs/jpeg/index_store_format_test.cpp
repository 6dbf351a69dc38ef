// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/index_store_format.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/checksum.h"
#include "codecs/jpeg/test_indexes.h"

namespace penstock {
namespace {

using test::make_index;
using Buffer = std::vector<uint8_t>;
const IndexRecord kRecord{0x1234567890ABCDEFu, 0xFEDCBA0987654321u, 123456, -5};

Buffer entry_of(const EntropyIndex& index, const IndexRecord& record = kRecord) {
  Buffer b;
  append_entry(record, index, b);
  return b;
}
// Neither crashes nor takes memory or time beyond the entry's size; the points it returns ascend.
bool reads(std::span<const uint8_t> entry, bool check_sum, EntropyIndex& index) {
  const auto head = read_entry_head(entry, check_sum);
  if (!head || !read_entry_points(entry, *head, index)) return false;
  EXPECT_EQ(index.points.size(), static_cast<size_t>(index.rows) * index.columns);
  EXPECT_LE(index.points.size() * 2, entry.size());
  for (size_t i = 0; i < index.points.size(); ++i) {
    EXPECT_LT(index.points[i].bit, uint64_t{index.scan_bytes} * 8);
    EXPECT_TRUE(i == 0 || index.points[i].bit > index.points[i - 1].bit);
  }
  return true;
}

TEST(IndexStoreFormat, KeepsEveryNumber) {
  for (int components : {1, 3})
    for (auto [columns, rows] : {std::pair{1, 1}, {4, 24}, {1, 500}, {40, 70}}) {
      auto index = make_index(columns, rows, 7, 500000, components);
      index.points.back().dc[0] = std::numeric_limits<int16_t>::min();
      const Buffer b = entry_of(index);
      const auto head = read_entry_head(b);
      ASSERT_TRUE(head);
      EXPECT_EQ(head->record, kRecord);
      EntropyIndex back;
      ASSERT_TRUE(read_entry_points(b, *head, back));
      EXPECT_EQ(back, index);
    }
}

TEST(IndexStoreFormat, IsSmall) {  // 4 x 24 points, as for a photograph of 500 x 375 at step 8
  EXPECT_LT(entry_of(make_index(4, 24, 1)).size(), 96 * 8 + 48u);
}

TEST(IndexStoreFormat, SeesEveryFlippedBit) {
  Buffer b = entry_of(make_index(4, 12, 3));
  EntropyIndex index;
  ASSERT_TRUE(reads(b, true, index));
  for (size_t bit = 0; bit < b.size() * 8; ++bit) {
    b[bit / 8] ^= 1 << bit % 8;
    EXPECT_FALSE(reads(b, true, index)) << bit;
    b[bit / 8] ^= 1 << bit % 8;
  }
}

TEST(IndexStoreFormat, ForgedEntriesStayInBounds) {
  const Buffer good = entry_of(make_index(4, 12, 3));
  EntropyIndex index;
  for (size_t at = 0; at < good.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      Buffer b = good;
      b[at] = static_cast<uint8_t>(value);
      reads(b, false, index);
    }
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(reads(std::span(good).first(n), false, index)) << n;
  Buffer longer = good;
  longer.push_back(0);
  EXPECT_FALSE(reads(longer, false, index));
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    Buffer b = i % 2 ? good : test::make_bytes(random() % 200, random());
    for (int k = 0; k < 4 && !b.empty(); ++k) b[random() % b.size()] = static_cast<uint8_t>(random());
    reads(b, false, index);
  }
}

TEST(IndexStoreFormat, RefusesPointsThatDoNotAscend) {
  auto refused = [](auto&& change) {
    auto index = make_index(4, 12, 3);
    change(index);
    EntropyIndex back;
    return !reads(entry_of(index), true, back);
  };
  EXPECT_FALSE(refused([](EntropyIndex&) {}));
  EXPECT_TRUE(refused([](EntropyIndex& i) { i.points[5].bit = i.points[4].bit; }));
  EXPECT_TRUE(refused([](EntropyIndex& i) { std::swap(i.points[5].bit, i.points[6].bit); }));
  EXPECT_TRUE(refused([](EntropyIndex& i) { i.points.back().bit = i.scan_bytes * 8; }));
  EXPECT_TRUE(refused([](EntropyIndex& i) { i.points.pop_back(); }));
  EXPECT_TRUE(refused([](EntropyIndex& i) { i.rows = 1 << 20; }));
  EXPECT_TRUE(refused([](EntropyIndex& i) { i.step = 0; }));
  EXPECT_TRUE(refused([](EntropyIndex& i) { i.columns = -1; }));
  EXPECT_TRUE(refused([](EntropyIndex& i) { i.scan_bytes = i.file_bytes + 1; }));
}

TEST(IndexStoreFormat, SegmentsGiveTheirEntriesBack) {
  const Buffer a = entry_of(make_index(4, 12, 1)), b = entry_of(make_index(5, 3, 2), {9, 8, 7, 6});
  const std::vector<const Buffer*> entries{&a, &b};
  std::vector<DirectoryEntry> directory;
  Buffer s = make_segment(entries, directory);
  EXPECT_EQ(s.size() % kIndexAlignment, 0u);
  const auto header = read_segment_header(s);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->bytes, static_cast<int64_t>(s.size()));
  auto read = [&](bool check_sum = true) {
    return read_directory(*header, std::span(s).subspan(kSegmentHeaderBytes), check_sum);
  };
  const auto d = read();
  ASSERT_EQ(d.size(), 2u);
  EXPECT_EQ(d[0].key, kRecord.key);
  EXPECT_EQ(d[1].key, 9u);
  EXPECT_TRUE(std::equal(b.begin(), b.end(), s.begin() + d[1].offset));
  for (size_t bit = 0; bit < kSegmentHeaderBytes * 8; ++bit) {
    s[bit / 8] ^= 1 << bit % 8;
    EXPECT_FALSE(read_segment_header(s)) << bit;
    s[bit / 8] ^= 1 << bit % 8;
  }
  const size_t directory_at = kSegmentHeaderBytes;
  for (size_t at = 0; at < 2 * kDirectoryEntryBytes; ++at) {
    s[directory_at + at] ^= 0x80;
    EXPECT_TRUE(read().empty());
    for (const auto& e : read(false)) EXPECT_LE(int64_t{e.offset} + e.bytes, header->bytes);
    s[directory_at + at] ^= 0x80;
  }
  for (size_t at = 8; at < 28; ++at)  // with a correct checksum
    for (int value : {0, 1, 127, 255}) {
      Buffer forged = s;
      forged[at] = static_cast<uint8_t>(value);
      const uint32_t sum = crc32c(std::span(forged).first(28));
      for (int k = 0; k < 4; ++k) forged[28 + k] = static_cast<uint8_t>(sum >> (8 * k));
      if (const auto h = read_segment_header(forged)) {
        EXPECT_GE(h->bytes, kIndexAlignment);
        EXPECT_LE(h->bytes, kMostSegmentBytes);
        EXPECT_LE(h->directory_bytes(), h->bytes);
      }
    }
}

TEST(IndexStoreFormat, OtherVersionsAreNotRead) {
  Buffer h = file_header();
  EXPECT_TRUE(is_file_header(h));
  h[32] ^= 3;
  EXPECT_FALSE(is_file_header(h));
  EXPECT_FALSE(is_file_header(std::span(h).first(10)));
}

}  // namespace
}  // namespace penstock
