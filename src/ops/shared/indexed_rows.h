// SPDX-License-Identifier: Apache-2.0
// The rows of an array that a boolean mask or a list of indices selects: shared by the operators of x[mask] and x[[0,
// 2]].
#pragma once
#include <cstring>
#include <vector>

#include "families/team/rows.h"
#include "operator/broadcast.h"

namespace penstock {

// Row numbers where the mask is true; a row has those axes of x that the mask does not have.
inline std::vector<int64_t> rows_where(const View& mask) {
  const auto* const chosen = mask.as<const uint8_t>();
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < mask.volume(); ++i)
    if (chosen[i]) rows.push_back(i);
  return rows;
}

[[noreturn]] inline void refuse_index(int64_t i, int64_t n) {
  bad_argument("index {} is out of bounds for dimension 0 with {} elements", i, n);
}
inline std::vector<int64_t> rows_listed(const View& list, int64_t n) {
  std::vector<int64_t> rows;
  for (int64_t k = 0; k < list.volume(); ++k) {
    const int64_t i = element_as_int(list, k);
    if (i < -n || i >= n) refuse_index(i, n);
    rows.push_back(i < 0 ? i + n : i);
  }
  return rows;
}

inline void check_mask(const Shape& mask, const Shape& x) {
  bool fits = mask.size() <= x.size();
  for (int d = 0; fits && d < mask.size(); ++d) fits = mask[d] == x[d];
  if (!fits) bad_argument("a mask of shape {} does not fit a value of shape {}", mask.text(), x.text());
}

// Axes `from` and later of x's shape, after `front`.
inline Shape with_rest(Shape front, const Shape& x, int from) {
  for (int d = from; d < x.size(); ++d) front.push_back(x[d]);
  return front;
}

// Dense bytes of a row.
inline size_t row_bytes(const View& x, int from) {
  size_t bytes = size_of(x.dtype);
  for (int d = from; d < x.shape.size(); ++d) bytes *= static_cast<size_t>(x.shape[d]);
  return bytes;
}

// Row numbers as rows_listed() gives them, where the work is done.
struct ListedRows {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t count;
        int64_t n;
      };
      template <class In> PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team,
                                                      Refusal& refusal) {
        const Share own = team.share(c.count);
        for (int64_t k = own.begin; k < own.end; ++k) {
          int64_t i = 0;
          if constexpr (std::is_integral_v<In>) i = static_cast<int64_t>(a.from<In>(0)[k]);
          const bool outside = i < -c.n || i >= c.n;
          a.to<int64_t>(0)[k] = outside ? -1 : i < 0 ? i + c.n : i;
          if (!outside || refusal.what) continue;
          refusal.what = 1;
          refusal.whole[0] = i;
        }
      });
};
inline const int64_t* list_rows(const View& list, int64_t n, SampleWork& to) {
  const int64_t count = list.volume();
  void* const rows = to.scratch(static_cast<size_t>(count) * sizeof(int64_t));
  run_team<ListedRows>({.in = {list.data},
                        .out = {rows},
                        .type = list.dtype,
                        .refused = [n](const Refusal& r) { refuse_index(r.whole[0], n); }},
                       {count, n}, to);
  return static_cast<const int64_t*>(rows);
}

// The number of rows where a mask is true, and their numbers.
struct MaskedRows {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t n;
        int64_t lists;
      };
      PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
        const uint8_t* const mask = a.from<uint8_t>(0);
        const Share own = team.share(c.n);
        int64_t count = 0;
        for (int64_t i = own.begin; i < own.end; ++i) count += mask[i] != 0;
        int64_t all = 0;
        int64_t next = team.before(count, all);
        if (!c.lists) {
          if (team.index == 0) a.to<int64_t>(0)[0] = all;
          return;
        }
        for (int64_t i = own.begin; i < own.end; ++i) {
          if (mask[i]) a.to<int64_t>(0)[next++] = i;
        }
      });
};
inline void count_rows(const View& mask, int64_t* number, SampleWork& to) {
  run_team<MaskedRows>({.in = {mask.data}, .out = {number}}, {mask.volume(), false}, to);
}
inline const int64_t* list_masked(const View& mask, int64_t count, SampleWork& to) {
  void* const rows = to.scratch(static_cast<size_t>(count) * sizeof(int64_t));
  run_team<MaskedRows>({.in = {mask.data}, .out = {rows}}, {mask.volume(), true}, to);
  return static_cast<const int64_t*>(rows);
}

inline void take_rows(const View& x, int from, const int64_t* rows, int64_t count, const View& out, SampleWork& to) {
  to.then();
  team::take_rows(x.data, static_cast<int64_t>(row_bytes(x, from)), rows, count, out.data, to);
}

// As assign_rows(), on a GPU: `rows` is the list there, which has none twice; a negative one is left out.
inline void put_values(const View& x, const View& value, int from, const int64_t* rows, const Shape& picked,
                       const View& out, SampleWork& to) {
  if (x.data != out.data) to.copy(x, out);
  const size_t bytes = row_bytes(x, from);
  const View values{
      to.scratch(static_cast<size_t>(picked.volume()) * size_of(x.dtype)), x.dtype, {}, picked, dense_strides(picked)};
  to.copy(broadcast(value, picked), values);
  to.then();
  const int64_t count =
      bytes ? picked.volume() * static_cast<int64_t>(size_of(x.dtype)) / static_cast<int64_t>(bytes) : 0;
  team::put_rows(values.data, static_cast<int64_t>(bytes), rows, count, out.data, to);
}

// `picked`: the shape of the part that is assigned to; the value is broadcast to it.
inline void assign_rows(const View& x, const View& value, int from, const std::vector<int64_t>& rows,
                        const Shape& picked, const View& out) {
  if (x.data != out.data) copy_strided(x, out);  // otherwise the operator works in place
  std::vector<std::byte> values(static_cast<size_t>(picked.volume()) * size_of(x.dtype));
  assign(value, {values.data(), x.dtype, {}, picked, dense_strides(picked)});
  const size_t bytes = row_bytes(x, from);
  for (size_t k = 0; k < rows.size(); ++k)
    if (bytes) std::memcpy(out.as<char>() + static_cast<size_t>(rows[k]) * bytes, values.data() + k * bytes, bytes);
}

// out[i] = mask[i] ? the next of `values` : x[i]. `each`: there is a value for each true element, else one for all.
template <class Bits>
void assign_elements(const void* x, const uint8_t* mask, int64_t n, const void* values, bool each, void* out) {
  const Bits *const from = static_cast<const Bits*>(x), *value = static_cast<const Bits*>(values);
  Bits* const to = static_cast<Bits*>(out);
  if (each) {
    for (int64_t i = 0; i < n; ++i) to[i] = mask[i] ? *value++ : from[i];
    return;
  }
  const Bits only = *value;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const Bits old = from[i];
    to[i] = mask[i] ? only : old;
  }
}
// As assign_rows() with the rows where a mask is true. Elements are assigned without a list of them.
inline void assign_where(const View& x, const View& value, const View& mask, const Shape& picked, const View& out) {
  const int from = mask.shape.size();
  const size_t bytes = size_of(x.dtype);
  if (row_bytes(x, from) != bytes || !x.dense() || !out.dense())
    return assign_rows(x, value, from, rows_where(mask), picked, out);
  broadcast(value, picked);  // refuses a value that does not fit
  if (picked.volume() == 0) return x.data != out.data ? copy_strided(x, out) : void();
  const bool each = value.volume() != 1;
  const Shape made = each ? picked : Shape{};
  std::vector<std::byte> values(static_cast<size_t>(made.volume()) * size_of(x.dtype));
  assign(each ? value : View{value.data, value.dtype, {}, {}, {}},
         {values.data(), x.dtype, {}, made, dense_strides(made)});
  const auto run = [&](auto bits) {
    assign_elements<decltype(bits)>(x.data, mask.as<const uint8_t>(), mask.volume(), values.data(), each, out.data);
  };
  if (bytes == 1) run(uint8_t{});
  else if (bytes == 2) run(uint16_t{});
  else if (bytes == 4) run(uint32_t{});
  else run(uint64_t{});
}

}  // namespace penstock
