// SPDX-License-Identifier: Apache-2.0
// Rows that a list of numbers selects, taken from an array or put into it.
#pragma once
#include "families/team/team.h"

namespace penstock::team {

// A row is `pieces` numbers of type In. A row with a negative number is left out.
struct MovedRows {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t pieces;
        int64_t puts;
      };
      template <class In> PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team,
                                                      Refusal&) {
        const int64_t* const rows = a.from<int64_t>(1);
        for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
          const bool narrow = ((team.end | c.pieces) >> 32) == 0;
          const int64_t k = narrow ? static_cast<uint32_t>(i) / static_cast<uint32_t>(c.pieces) : i / c.pieces;
          const int64_t other = rows[k] * c.pieces + (i - k * c.pieces);
          if (rows[k] < 0) continue;
          if (c.puts) a.to<In>(0)[other] = a.from<In>(0)[i];
          else a.to<In>(0)[i] = a.from<In>(0)[other];
        }
      });
};

inline void move_rows(const void* from, int64_t bytes, const int64_t* rows, int64_t count, void* out, bool puts,
                      SampleWork& work) {
  if (bytes == 0 || count == 0) return;
  if (work.at_once()) {
    for (int64_t k = 0; k < count; ++k) {
      const int64_t listed = rows[k] * bytes, next = k * bytes;
      std::memcpy(static_cast<char*>(out) + (puts ? listed : next),
                  static_cast<const char*>(from) + (puts ? next : listed), static_cast<size_t>(bytes));
    }
    return;
  }
  const auto fits = [&](int64_t piece) {
    const uint64_t all =
        static_cast<uint64_t>(bytes) | reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(out);
    return all % static_cast<uint64_t>(piece) == 0;
  };
  const int64_t piece = fits(8) ? 8 : fits(4) ? 4 : fits(2) ? 2 : 1;
  const DType type = piece == 8   ? DType::uint64
                     : piece == 4 ? DType::uint32
                     : piece == 2 ? DType::uint16
                                  : DType::uint8;
  const int64_t pieces = bytes / piece;
  run_team<MovedRows>({.in = {from, rows}, .out = {out}, .type = type, .units = count * pieces}, {pieces, puts}, work);
}
// Row k of `out` is row rows[k] of `from`.
inline void take_rows(const void* from, int64_t bytes, const int64_t* rows, int64_t count, void* out,
                      SampleWork& work) {
  move_rows(from, bytes, rows, count, out, false, work);
}
// Row rows[k] of `out` is row k of `from`; no row occurs twice.
inline void put_rows(const void* from, int64_t bytes, const int64_t* rows, int64_t count, void* out, SampleWork& work) {
  move_rows(from, bytes, rows, count, out, true, work);
}

}  // namespace penstock::team
