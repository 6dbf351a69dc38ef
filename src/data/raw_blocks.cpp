// SPDX-License-Identifier: Apache-2.0
#include "data/raw_blocks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace penstock {
namespace {

constexpr uint32_t kMagic = 0xFD2FB528;
constexpr int64_t kMostInBlock = 128 << 10, kHeadOfBlock = 3;
constexpr int64_t kLeastOfBlocks = 4096;  // bytes of a block on average: else their list is large
constexpr int kMostWindowLog = 31;        // that the library takes

// All numbers have the order of this machine, as in the file.
uint64_t number(const uint8_t* from, size_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

}  // namespace

// Each step returns false where the library has to look at the file.
class RawBlocks::Scan {
 public:
  Scan(const Peek& peek, int64_t file_bytes, int64_t content_bytes)
      : peek_(peek), end_(file_bytes), most_(content_bytes) {}

  bool frame(RawBlocks& out) {
    // The magic number and what says how long the header is; the most that follows it is read with them.
    std::array<uint8_t, kMostOfHeader> head{};
    const int64_t there = std::min(end_ - at_, kMostOfHeader);
    if (there < 5 || !peek_(at_, there, head.data()) || number(head.data(), 4) != kMagic) return false;
    const int flags = head[4];
    const bool single = flags & 0x20;
    if (flags & 0x0F) return false;  // a reserved bit, a sum of the content, a dictionary
    const int64_t window_bytes = single ? 0 : 1;
    const int64_t size_bytes = flags >> 6 ? int64_t{1} << (flags >> 6) : single ? 1 : 0;
    if (there < 5 + window_bytes + size_bytes) return false;
    uint64_t content = number(head.data() + 5 + window_bytes, static_cast<size_t>(size_bytes));
    if (size_bytes == 2) content += 256;
    const uint64_t window = single ? content : window_of(head[5]);
    if (window > uint64_t{1} << kMostWindowLog) return false;
    at_ += 5 + window_bytes + size_bytes;
    const int64_t begin = out.bytes_;
    if (!blocks(out, std::min(static_cast<int64_t>(window), kMostInBlock))) return false;
    return size_bytes == 0 || content == static_cast<uint64_t>(out.bytes_ - begin);
  }
  bool at_end() const { return at_ == end_; }

 private:
  static constexpr int64_t kMostOfHeader = 14;

  static uint64_t window_of(int code) {
    const uint64_t base = uint64_t{1} << (10 + (code >> 3));
    return base + base / 8 * (code & 7);
  }

  bool blocks(RawBlocks& out, int64_t most_of_block) {
    for (bool last = false; !last;) {
      std::array<uint8_t, kHeadOfBlock + 1> head{};  // and the byte of a block of one byte
      const int64_t there = std::min<int64_t>(end_ - at_, kHeadOfBlock + 1);
      if (there < kHeadOfBlock || !peek_(at_, there, head.data())) return false;
      const auto header = static_cast<int64_t>(number(head.data(), kHeadOfBlock));
      const int64_t kind = header >> 1 & 3, bytes = header >> 3, stored = kind == 1 ? 1 : bytes;
      last = header & 1;
      at_ += kHeadOfBlock;
      if (kind > 1 || bytes > most_of_block || bytes > most_ - out.bytes_ || stored > end_ - at_) return false;
      if (++count_ > 64 + most_ / kLeastOfBlocks) return false;
      if (bytes > 0) out.blocks_.push_back({out.bytes_, at_, kind == 1 ? head[kHeadOfBlock] : -1});
      out.bytes_ += bytes;
      at_ += stored;
    }
    return true;
  }

  const Peek& peek_;
  const int64_t end_, most_;
  int64_t at_ = 0, count_ = 0;
};

std::optional<RawBlocks> RawBlocks::find(const Peek& peek, int64_t file_bytes, int64_t content_bytes) {
  RawBlocks found;
  Scan scan(peek, file_bytes, content_bytes);
  while (!scan.at_end())
    if (!scan.frame(found)) return std::nullopt;
  if (found.bytes_ != content_bytes) return std::nullopt;
  return found;
}

void RawBlocks::read(const OpenFile& file, int64_t offset, int64_t length, uint8_t* out) const {
  if (offset < 0 || length < 0 || offset > bytes_ || length > bytes_ - offset)
    bad_data("{} bytes at {} do not lie inside the {} bytes of the shard", length, offset, bytes_);
  if (length == 0) return;
  const auto follows = [](int64_t place, const Block& block) { return place < block.begin; };
  auto block = std::upper_bound(blocks_.begin(), blocks_.end(), offset, follows) - 1;
  // Raw blocks and the headers between them follow one another: one call reads many.
  constexpr size_t kMostParts = 64;
  std::array<iovec, kMostParts> parts;
  std::array<uint8_t, kHeadOfBlock> heads;
  size_t count = 0;
  int64_t from = 0, next = -1;  // in the file: of the parts
  const auto flush = [&] {
    if (count > 0) file.read(from, std::span(parts).first(count));
    count = 0;
  };
  while (length > 0) {
    const int64_t end = block + 1 == blocks_.end() ? bytes_ : block[1].begin;
    const int64_t within = offset - block->begin, take = std::min(length, end - offset);
    if (block->byte >= 0) {
      std::memset(out, block->byte, static_cast<size_t>(take));
    } else {
      const int64_t at = block->at + within;
      if (count + 2 > kMostParts || at - next != kHeadOfBlock) flush();
      if (count == 0) from = at;
      else parts[count++] = {heads.data(), kHeadOfBlock};
      parts[count++] = {out, static_cast<size_t>(take)};
      next = at + take;
    }
    out += take, offset += take, length -= take, ++block;
  }
  flush();
}

}  // namespace penstock
