// SPDX-License-Identifier: Apache-2.0
#include "data/container.h"

#include <gtest/gtest.h>

#include <thread>

#include "data/container_index.h"
#include "data/test_folder.h"
#include "data/tfrecord.h"
#include "data/wire_format.h"

namespace penstock {
namespace {

// Records of one byte each.
ContainerIndex bytes_of(int64_t n) {
  ContainerIndex index;
  for (int64_t i = 0; i < n; ++i) index.add(i, 1);
  return index;
}

TEST(Container, NumbersRecordsOverFilesAndKeepsFewFilesOpen) {
  const TestFolder folder;
  std::vector<std::string> paths;
  std::vector<ContainerIndex> indexes;
  constexpr int kFiles = 300;  // more than stay open
  for (int f = 0; f < kFiles; ++f) {
    paths.push_back(folder.write(fmt::format("f{:03d}", f), std::string(f % 4, static_cast<char>('a' + f % 26))));
    indexes.push_back(bytes_of(f % 4));
  }
  const Container c("test", paths, indexes);
  ASSERT_EQ(c.size(), kFiles / 4 * 6);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int64_t k = 0; k < c.size(); ++k) {
        const int64_t record = (k * 37 + t) % c.size();
        const int file = c.file_of(record);
        uint8_t byte = 0;
        c.read(record, &byte);
        wrong += byte != 'a' + file % 26 || record < c.first_of(file) || record >= c.first_of(file + 1);
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Container, AFileThatHasChangedIsRefused) {
  const TestFolder folder;
  const std::string path = folder.write("a", "abcdef");
  const Container c("test", {path}, {bytes_of(6)});
  folder.write("a", "abc");
  uint8_t byte;
  try {
    c.read(5, &byte);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::data);
    EXPECT_EQ(e.source, path + ", byte 5");
  }
}

TEST(Container, RangesOutsideAreRefusedWhateverTheNumbers) {
  const TestFolder folder;
  const Container c("test", {folder.write("a", "abcdef")}, {bytes_of(6)});
  uint8_t out[8];
  for (const auto& [offset, length] : {std::pair<int64_t, int64_t>{-1, 1},
                                       {0, -1},
                                       {0, 7},
                                       {6, 1},
                                       {7, 0},
                                       {INT64_MAX, INT64_MAX},
                                       {5, INT64_MAX},
                                       {INT64_MIN, INT64_MAX}})
    EXPECT_THROW(c.read_range(0, offset, length, out), Error) << offset << " " << length;
  EXPECT_NO_THROW(c.read_range(0, 6, 0, out));
}

TEST(Container, AnEmptySetIsRefused) {
  const TestFolder folder;
  EXPECT_THROW(Container("test", {folder.write("a", "x")}, {bytes_of(0)}), Error);
}

TEST(FileScan, GivesThePiecesOfTheFileInAnyOrder) {
  const TestFolder folder;
  std::string content(300000, '\0');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7 + i / 251);
  const OpenFile file(folder.write("a", content));
  FileScan scan(file);
  uint64_t state = 1;
  for (int k = 0; k < 2000; ++k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto offset = static_cast<int64_t>((k % 3 ? state >> 33 : k * 100) % content.size());
    const int64_t length =
        std::min<int64_t>(static_cast<int64_t>(state >> 20 & 4095), static_cast<int64_t>(content.size()) - offset);
    const Bytes got = scan.at(offset, length, "a piece");
    ASSERT_EQ(std::string(got.begin(), got.end()), content.substr(offset, length));
  }
  EXPECT_THROW(scan.at(299999, 2, "a piece"), Error);
  EXPECT_THROW(scan.at(-1, 2, "a piece"), Error);
  EXPECT_THROW(scan.at(INT64_MAX, INT64_MAX, "a piece"), Error);
}

TEST(ContainerIndex, KeptBytesComeBackAndDamageIsSeen) {
  ContainerIndex index = bytes_of(5);
  index.names = {"a", "", "long name", "b", "c"};
  index.heads = {1, 2, 3, 4, 0xFFFFFFFF};
  const FileStamp stamp{5, 77};
  const std::vector<uint8_t> bytes = index_bytes("tar", stamp, index);
  const auto back = index_from_bytes(bytes, "tar", stamp);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->offsets, index.offsets);
  EXPECT_EQ(back->names, index.names);
  EXPECT_EQ(back->heads, index.heads);
  EXPECT_FALSE(index_from_bytes(bytes, "lmdb", stamp));
  EXPECT_FALSE(index_from_bytes(bytes, "tar", {6, 77}));
  EXPECT_FALSE(index_from_bytes(bytes, "tar", {5, 78}));
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] ^= 1;
    EXPECT_FALSE(index_from_bytes(damaged, "tar", stamp)) << i;
    EXPECT_FALSE(index_from_bytes(Bytes(bytes).first(i), "tar", stamp)) << i;
  }
}

TEST(WireReader, StopsAtEveryCut) {
  const std::vector<uint8_t> message{0x08, 0x96, 0x01, 0x12, 0x03, 'a', 'b', 'c', 0x1D, 0, 0,
                                     0x80, 0x3F, 0x21, 1,    2,    3,   4,   5,   6,    7, 8};
  WireReader all(message);
  int fields = 0;
  while (all.next()) ++fields;
  EXPECT_EQ(fields, 4);
  for (size_t n = 0; n < message.size(); ++n) {
    const std::vector<uint8_t> cut(message.begin(), message.begin() + static_cast<long>(n));
    WireReader r(cut);
    const bool between = n == 0 || n == 3 || n == 8 || n == 13;
    const auto walk = [&] {
      while (r.next()) {
      }
    };
    if (between) EXPECT_NO_THROW(walk()) << n;
    else EXPECT_THROW(walk(), Error) << n;
  }
}

TEST(ExpandPaths, SortsWhatMatchesAndKeepsOthers) {
  const TestFolder folder;
  for (const char* name : {"b.rec", "a.rec", "c.idx", "odd[1].rec"}) folder.write(name, "x");
  const std::vector<std::string> both{folder.path("*.rec"), folder.path("c.idx"), folder.path("odd[1].rec")};
  const auto found = expand_paths(both);
  EXPECT_EQ(found, (std::vector<std::string>{folder.path("a.rec"), folder.path("b.rec"), folder.path("odd[1].rec"),
                                             folder.path("c.idx"), folder.path("odd[1].rec")}));
  EXPECT_THROW(expand_paths(std::vector{folder.path("*.none")}), Error);
  EXPECT_THROW(expand_paths({}), Error);
}

}  // namespace
}  // namespace penstock
