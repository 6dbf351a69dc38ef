// SPDX-License-Identifier: Apache-2.0
// The frames here are written by the description of the format; libzstd, through unpack_mds(), says what they hold.
#include "data/raw_blocks.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "data/mds.h"
#include "data/test_folder.h"

namespace penstock {
namespace {

constexpr int kRaw = 0, kOneByte = 1;

std::string number(uint64_t value, int bytes) {
  std::string text;
  for (int k = 0; k < bytes; ++k) text += static_cast<char>(value >> 8 * k);
  return text;
}

struct Part {
  int kind;
  std::string content;  // of a block
};

std::string noise(size_t bytes, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

std::string content_of(const std::vector<Part>& parts) {
  std::string all;
  for (const Part& part : parts) all += part.content;
  return all;
}

// size_code: how many bytes the size of the content has, 0 to 3 as in the format; `single`: no window.
std::string frame(const std::vector<Part>& parts, int size_code = 3, bool single = true) {
  const size_t size = content_of(parts).size();
  std::string out = number(0xFD2FB528, 4) + number(static_cast<uint64_t>(size_code << 6 | single << 5), 1);
  if (!single) out += number(7 << 3, 1);  // 128 KiB
  if (size_code > 0 || single) out += number(size - (size_code == 1 ? 256 : 0), 1 << size_code);
  for (size_t k = 0; k < parts.size(); ++k) {
    const auto& [kind, content] = parts[k];
    out += number(content.size() << 3 | static_cast<uint64_t>(kind) << 1 | (k + 1 == parts.size()), 3);
    out += kind == kOneByte ? content.substr(0, 1) : content;
  }
  return out;
}

std::optional<RawBlocks> found(const std::string& packed, size_t content) {
  const auto peek = [&](int64_t offset, int64_t length, uint8_t* out) {
    EXPECT_LE(static_cast<size_t>(offset + length), packed.size());
    packed.copy(reinterpret_cast<char*>(out), static_cast<size_t>(length), static_cast<size_t>(offset));
    return true;
  };
  return RawBlocks::find(peek, static_cast<int64_t>(packed.size()), static_cast<int64_t>(content));
}

bool accepts(const std::string& packed, size_t content) { return found(packed, content).has_value(); }

std::string read(const RawBlocks& blocks, const OpenFile& file, size_t offset, size_t length) {
  std::string out(length, '?');
  blocks.read(file, static_cast<int64_t>(offset), static_cast<int64_t>(length), reinterpret_cast<uint8_t*>(out.data()));
  return out;
}

std::string unpacked(const std::string& packed, size_t content) {
  MdsShard shard;
  shard.bytes = static_cast<int64_t>(content), shard.compression = "zstd";
  std::string out;
  unpack_mds(shard, {reinterpret_cast<const uint8_t*>(packed.data()), packed.size()}, [&](size_t bytes) {
    out.resize(bytes);
    return reinterpret_cast<uint8_t*>(out.data());
  });
  out.pop_back();
  return out;
}

std::vector<Part> many_parts() {
  std::vector<Part> parts;
  for (uint32_t k = 0; k < 80; ++k) parts.push_back({kRaw, noise(k % 7 == 3 ? 0 : 900 * k % 5000 + 1, k)});
  parts[20] = {kOneByte, std::string(100000, 'x')};
  parts[40] = {kRaw, noise(128 << 10)};
  parts[41] = {kRaw, noise(128 << 10, 2)};
  parts.push_back({kOneByte, std::string(3, '\0')});
  return parts;
}

TEST(RawBlocks, GiveAnyPartOfTheContent) {
  const std::string content = content_of(many_parts());
  for (const auto& packed :
       {frame(many_parts()), frame(many_parts(), 2, false), frame(many_parts(), 0, false),
        frame({{kRaw, content.substr(0, 1000)}}, 1) + frame({{kRaw, ""}}, 0) +
            frame({{kRaw, content.substr(1000, 70000)}, {kRaw, content.substr(71000, 130000)}}, 2) +
            frame({{kRaw, content.substr(201000, 30000)}, {kRaw, content.substr(231000, 130000)}}, 2) +
            frame({{kRaw, content.substr(361000, 100000)}, {kRaw, content.substr(461000)}}, 3)}) {
    const TestFolder folder;
    const OpenFile file(folder.write("f", packed));
    ASSERT_EQ(unpacked(packed, content.size()), content);
    const auto blocks = found(packed, content.size());
    ASSERT_TRUE(blocks);
    EXPECT_EQ(read(*blocks, file, 0, content.size()), content);
    EXPECT_EQ(read(*blocks, file, content.size(), 0), "");
    std::mt19937 random(3);
    for (int k = 0; k < 300; ++k) {
      const size_t offset = random() % content.size(), most = content.size() - offset;
      const size_t length = std::min<size_t>(most, random() % (k % 3 ? 9000 : 400000));
      ASSERT_EQ(read(*blocks, file, offset, length), content.substr(offset, length)) << offset << " " << length;
    }
    EXPECT_THROW(read(*blocks, file, content.size() - 1, 2), Error);
  }
}

TEST(RawBlocks, LeaveWhatOnlyTheLibraryKnows) {
  const std::string text = noise(5000), good = frame({{kRaw, text}});
  ASSERT_TRUE(accepts(good, 5000));
  EXPECT_FALSE(accepts(good, 4999));  // of another size than its index says
  EXPECT_FALSE(accepts(good + "x", 5000));
  EXPECT_FALSE(accepts(good.substr(0, good.size() - 1), 5000));
  EXPECT_FALSE(accepts("", 1));
  EXPECT_FALSE(RawBlocks::find([](auto...) { return false; }, 5012, 5000));  // not in the page cache
  EXPECT_FALSE(accepts(number(0x184D2A50, 4) + number(0, 4) + good, 5000));  // a frame that is skipped
  EXPECT_FALSE(accepts(frame({{2, text}}), 5000));                           // a compressed block
  EXPECT_FALSE(accepts(frame({{3, text}}), 5000));
  for (const int bit : {0, 1, 2, 3}) {  // a dictionary, a sum, a reserved bit
    std::string other = good;
    other[4] = static_cast<char>(other[4] | 1 << bit);
    EXPECT_FALSE(accepts(other, 5000)) << bit;
  }
  EXPECT_FALSE(accepts(frame({{kRaw, noise((128 << 10) + 1)}}), (128 << 10) + 1));
  std::vector<Part> small(2000, {kRaw, "x"});  // a list of them would be larger than what they hold
  EXPECT_FALSE(accepts(frame(small), 2000));
}

TEST(RawBlocks, AreWhatTheLibraryFindsWhateverIsDamaged) {
  const std::vector<Part> parts{{kRaw, noise(300)}, {kOneByte, std::string(700, 'y')}, {kRaw, noise(500, 2)}};
  std::mt19937 random(4);
  int accepted = 0;
  const TestFolder folder;
  for (int k = 0; k < 2000; ++k) {
    std::string packed = frame(parts, static_cast<int>(k % 3 + 1), k % 2);
    for (uint32_t n = random() % 3 + 1; n > 0; --n) {
      const size_t heads[] = {random() % 16, 300 + random() % 30, random() % packed.size()};
      packed[heads[random() % 3]] ^= static_cast<char>(1 << random() % 8);
    }
    const auto blocks = found(packed, 1500);
    if (!blocks) continue;
    const OpenFile file(folder.write(std::to_string(++accepted), packed));
    ASSERT_EQ(read(*blocks, file, 0, 1500), unpacked(packed, 1500)) << k;
  }
  EXPECT_GT(accepted, 50);
}

TEST(Storage, ReadsIntoSeveralPieces) {
  const TestFolder folder;
  const std::string text = noise(10000);
  const OpenFile file(folder.write("f", text));
  std::string out(9000, '?');
  std::vector<iovec> pieces;
  for (const auto& [at, length] : {std::pair{0, 4000}, {4000, 0}, {4500, 4500}, {4000, 500}})
    pieces.push_back({out.data() + at, static_cast<size_t>(length)});
  file.read(1000, pieces);
  EXPECT_EQ(out, text.substr(1000, 4000) + text.substr(9500, 500) + text.substr(5000, 4500));
  EXPECT_THROW(file.read(1001, pieces), Error);  // a byte more than the file has
  std::array<uint8_t, 2> end{};
  EXPECT_FALSE(file.read_if_cached(9999, 2, end.data()));
}

}  // namespace
}  // namespace penstock
