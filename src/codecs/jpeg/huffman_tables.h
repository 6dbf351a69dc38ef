// SPDX-License-Identifier: Apache-2.0
// Look-up tables for Huffman codes. One look-up gives the run, size and value of one or two coefficients, and the
// number of bits that they took, so that the chain from look-up to look-up is one shift and one load.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "codecs/jpeg/scan_header.h"

namespace penstock::jpeg {

constexpr int kAcBits = 11;  // the fastest of 10 to 13: the tables of an image fit into L1
constexpr int kDcBits = 9;

// Entry of an AC table of one coefficient: bits 0..5 bits to drop, 7 "exception", 8..23 value, 24..31 advance.
//   advance 1..16    a coefficient (or sixteen zeros: 16 and the value 0)
//   kEndOfBlock      end of block; so large that it cannot be taken for an overrun
//   exception        the code is dropped; `value` counts the bits that are still to be read; advance as above.
//                    Advance 0: no such code of at most kAcBits bits; nothing dropped
// Of two coefficients: 0..7 as above, 8..23 value of the first, 24..31 advance to it, 32..39 bits of the second, 40..55
// value of the last, 56..63 advance to it; both the same where there is only one.
constexpr uint32_t kEndOfBlock = 128, kException = 128;

// Positions of coefficients in natural order. A position past the block maps to slot 64, which is the next block's DC
// and is written later: so the loop needs no range check, only one more block slot.
// Aligned to its size: the low 8 bits of a pointer into it are the position in the block.
struct alignas(256) PaddedOrder {
  std::array<uint8_t, 256> at;  // up to 62 + 16 + kEndOfBlock are needed
  PaddedOrder();
};

constexpr std::array<uint8_t, 256> kBehindTheBlock = [] {
  std::array<uint8_t, 256> a{};
  a.fill(64);
  return a;
}();

// Canonical codes longer than a table, left-aligned in 16 bits.
struct LongCodes {
  uint32_t limit[18];  // [l]: the first pattern that is not a code of at most l bits
  int32_t delta[18];   // from code to index in `symbol`
  uint8_t symbol[256];
  void build(const HuffmanSpec& spec);
};

struct DcTable {
  uint16_t entry[1 << kDcBits];  // bits 0..7 length of the code, 8..15 size of the value; 0: a longer code
  LongCodes codes;
  void build(const HuffmanSpec& spec);
};

template <class Entry>
struct AcEntries {
  alignas(64) Entry entry[1 << kAcBits];
  PaddedOrder order;  // here, so that the loop reaches it from the same register
};

// For blocks whose values are not needed: as many coefficients as have their codes in kSkipBits bits. Bits 0..5: number
// of bits of all of them, including the last one's value (21 at most); 7: "exception" (no such code; nothing dropped);
// 24..31: advance, 63 at most, plus kEndOfBlock if that code comes last.
constexpr int kSkipBits = 11;
static_assert(kSkipBits >= kAcBits, "the search for a code that is not in the table starts at kAcBits");
struct SkipEntries {
  alignas(64) uint32_t entry[1 << kSkipBits];
};

struct AcTable {
  AcEntries<uint32_t> one;
  // These take 10 us each to build: only for tables that are used repeatedly.
  std::unique_ptr<AcEntries<uint64_t>> two;
  std::unique_ptr<SkipEntries> skip;
  LongCodes codes;
  bool fast() const { return skip != nullptr; }
  void build(const HuffmanSpec& spec);
  void build_fast(const HuffmanSpec& spec);
};

// The tables of recent images: most files of a data set share theirs. One cache per thread.
class TableCache {
 public:
  // Valid for at least the next kKept - 1 calls.
  const DcTable& dc(const HuffmanSpec& spec);
  const AcTable& ac(const HuffmanSpec& spec);

 private:
  static constexpr size_t kKept = 16;  // two images in turn need 8
  static constexpr int kUsesUntilFast = 3;
  template <class Table>
  struct Entry {
    HuffmanSpec spec;
    Table table;
    uint64_t used = 0;
    int uses = 0;
  };
  template <class Table>
  using Entries = std::vector<std::unique_ptr<Entry<Table>>>;
  template <class Table>
  Entry<Table>& find(Entries<Table>& entries, const HuffmanSpec& spec);
  Entries<DcTable> dc_;
  Entries<AcTable> ac_;
  uint64_t clock_ = 0;
};

}  // namespace penstock::jpeg
