// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/huffman_tables.h"

#include <algorithm>

namespace penstock::jpeg {

namespace {

// Canonical codes in the order of the file: f(code, length, symbol), for codes of at most `longest` bits.
template <class F>
void for_each_code(const HuffmanSpec& spec, int longest, const F& f) {
  uint32_t code = 0;
  int k = 0;
  for (int l = 1; l <= longest; ++l, code <<= 1)
    for (int i = 0; i < spec.counts[l]; ++i, ++k, ++code) f(code, l, spec.values[k]);
}

// Advance of a symbol: run of zeros and the coefficient, or the meaning of size 0 (T.81, F.2.2.2).
uint32_t advance_of(int run, int size) { return size || run == 15 ? run + 1 : kEndOfBlock; }

void build_one(const HuffmanSpec& spec, uint32_t* entry) {
  uint32_t end = 0;
  for_each_code(spec, kAcBits, [&](uint32_t code, int length, uint8_t symbol) {
    const int size = symbol & 15, total = length + size;
    const uint32_t common = advance_of(symbol >> 4, size) << 24, span = 1u << (kAcBits - length);
    uint32_t* to = entry + (code << (kAcBits - length));
    end = (code << (kAcBits - length)) + span;
    if (size == 0) {
      std::fill_n(to, span, common | length);
    } else if (total > kAcBits) {
      std::fill_n(to, span, common | kException | length | size << 8);
    } else {
      const int values = 1 << size, repeat = 1 << (kAcBits - total);
      for (int i = 0; i < values; ++i, to += repeat) {
        const int value = i < values / 2 ? i - values + 1 : i;  // T.81, table F.1: the upper half is positive
        std::fill_n(to, repeat, common | total | static_cast<uint32_t>(static_cast<uint16_t>(value)) << 8);
      }
    }
  });
  std::fill(entry + end, entry + (1 << kAcBits), kException);
}

}  // namespace

PaddedOrder::PaddedOrder() {
  at.fill(64);
  std::copy_n(kNaturalOrder, 64, at.begin());
}

void LongCodes::build(const HuffmanSpec& spec) {
  std::copy_n(spec.values, 256, symbol);
  uint32_t code = 0;
  int k = 0;
  limit[0] = 0, delta[0] = 0;
  for (int l = 1; l <= 16; ++l) {
    delta[l] = k - static_cast<int32_t>(code);
    code += spec.counts[l];
    k += spec.counts[l];
    limit[l] = code << (16 - l);
    code <<= 1;
  }
  limit[17] = ~0u, delta[17] = 0;
}

void DcTable::build(const HuffmanSpec& spec) {
  codes.build(spec);
  std::fill(std::begin(entry), std::end(entry), uint16_t{0});
  for_each_code(spec, kDcBits, [&](uint32_t code, int length, uint8_t size) {
    std::fill_n(entry + (code << (kDcBits - length)), 1 << (kDcBits - length),
                static_cast<uint16_t>(length | size << 8));
  });
}

void AcTable::build(const HuffmanSpec& spec) {
  build_one(spec, one.entry);
  codes.build(spec);
  two.reset();
  skip.reset();
}

static void build_skip(const HuffmanSpec& spec, uint32_t* entry) {
  struct Code {
    uint8_t length = 0, symbol = 0;
  };
  std::array<Code, 1 << kSkipBits> codes{};
  for_each_code(spec, kSkipBits, [&](uint32_t code, int length, uint8_t symbol) {
    std::fill_n(&codes[code << (kSkipBits - length)], 1 << (kSkipBits - length),
                Code{static_cast<uint8_t>(length), symbol});
  });
  for (uint32_t i = 0; i < codes.size(); ++i) {
    int bits = 0;
    uint32_t advance = 0;
    while (bits < kSkipBits && advance < 48) {
      const Code c = codes[(i << bits) & (codes.size() - 1)];
      if (!c.length || bits + c.length > kSkipBits) break;
      const int size = c.symbol & 15;
      const uint32_t more = advance_of(c.symbol >> 4, size);
      advance += more;
      bits += c.length + size;
      if (more == kEndOfBlock) break;
    }
    entry[i] = bits ? advance << 24 | bits : kException;
  }
}

void AcTable::build_fast(const HuffmanSpec& spec) {
  auto made = std::make_unique<AcEntries<uint64_t>>();
  auto made_skip = std::make_unique<SkipEntries>();
  build_skip(spec, made_skip->entry);
  constexpr uint32_t kMask = (1 << kAcBits) - 1;
  for (uint32_t i = 0; i <= kMask; ++i) {
    const uint32_t a = one.entry[i], bits = a & 63, advance = a >> 24;
    uint64_t w = a | uint64_t{a >> 8} << 40;
    if (!(a & kException) && advance != kEndOfBlock && bits < kAcBits) {
      const uint32_t b = one.entry[(i << bits) & kMask], more = b & 63;
      if (!(b & kException) && bits + more <= kAcBits)
        w = (a & ~63u) | (bits + more) | uint64_t{more} << 32 | uint64_t{b >> 8 & 0xFFFF} << 40 |
            uint64_t{advance + (b >> 24)} << 56;
    }
    made->entry[i] = w;
  }
  two = std::move(made), skip = std::move(made_skip);  // both or neither: the table is used again after a bad_alloc
}

template <class Table>
TableCache::Entry<Table>& TableCache::find(Entries<Table>& entries, const HuffmanSpec& spec) {
  Entry<Table>* oldest = nullptr;
  for (auto& e : entries) {
    if (e->spec == spec) {
      e->used = ++clock_;
      ++e->uses;
      return *e;
    }
    if (!oldest || e->used < oldest->used) oldest = e.get();
  }
  if (entries.size() < kKept) oldest = entries.emplace_back(std::make_unique<Entry<Table>>()).get();
  oldest->spec = {};  // for the case that building throws
  oldest->table.build(spec);
  oldest->spec = spec;
  oldest->used = ++clock_;
  oldest->uses = 1;
  return *oldest;
}

const DcTable& TableCache::dc(const HuffmanSpec& spec) { return find(dc_, spec).table; }

const AcTable& TableCache::ac(const HuffmanSpec& spec) {
  Entry<AcTable>& e = find(ac_, spec);
  if (e.uses >= kUsesUntilFast && !e.table.fast()) e.table.build_fast(spec);
  return e.table;
}

}  // namespace penstock::jpeg
