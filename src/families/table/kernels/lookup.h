// SPDX-License-Identifier: Apache-2.0
// Bytes to elements by tables in shared memory, one for each channel. A thread writes 16 bytes at once.
#pragma once
#include <cstdint>

#include "launch/entry.h"

namespace penstock::table {

using namespace whole;

struct LookupRow {
  const uint8_t* in;
  void* out;
  const void* tables;  // null: those in the data
  InData<char> own_tables;
  int64_t n, channels;
};
static_assert(sizeof(LookupRow) == 48);

template <class T, int n> struct alignas(sizeof(T) * n) Several {
  T v[n];
};

// Units of work are 16 bytes of the output. `known`: channels, or 0 if they are not known here.
template <class Word, int known> PENSTOCK_KERNEL void look_up(const Entry<LookupRow>& e) {
  constexpr int kEach = static_cast<int>(16 / sizeof(Word));
  const LookupRow& r = e.row;
  const int channels = known ? known : static_cast<int>(r.channels);
  Word* const tables = shared_memory<Word>();
  const Word* const given =
      r.tables ? static_cast<const Word*>(r.tables) : reinterpret_cast<const Word*>(e.at(r.own_tables));
  for (int i = thread(); i < 256 * channels; i += threads()) tables[i] = given[i];
  wait_for_block();
  Word* const out = static_cast<Word*>(r.out);
  const bool whole = reinterpret_cast<uint64_t>(r.in) % kEach == 0 && reinterpret_cast<uint64_t>(out) % 16 == 0;
  for (int64_t unit = e.begin + thread(); unit < e.end; unit += threads()) {
    const int64_t first = unit * kEach;
    int channel = channels == 1 ? 0 : static_cast<int>(first % channels);
    const auto next = [&](uint8_t place) {
      const Word word = tables[channel * 256 + place];
      channel = channel + 1 == channels ? 0 : channel + 1;
      return word;
    };
    if (whole && first + kEach <= r.n) {
      const auto from = *reinterpret_cast<const Several<uint8_t, kEach>*>(r.in + first);
      Several<Word, kEach> to;
      PENSTOCK_UNROLL
      for (int k = 0; k < kEach; ++k) to.v[k] = next(from.v[k]);
      *reinterpret_cast<Several<Word, kEach>*>(out + first) = to;
    } else {
      for (int64_t i = first; i < first + kEach && i < r.n; ++i) out[i] = next(r.in[i]);
    }
  }
}

}  // namespace penstock::table
