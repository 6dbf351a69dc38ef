// SPDX-License-Identifier: Apache-2.0
// The family field, as operators use it; kernels/draws.h says what numbers elements get. Rules:
//
//   add_normals   noisy(in, z, coef): the element from itself and a normal number
//   add_counts    mean(in, coef), noisy(in, count, coef): from itself and a Poisson number with that mean
//   replace       static float value(uint32_t word, coef): what a position becomes whose word is at most `last`
#pragma once
#include <cmath>
#include <optional>
#include <vector>

#include "base/crew.h"
#include "families/field/kernels/noise.h"
#include "families/field/rows.h"
#include "operator/kernel_step.h"

namespace penstock::field {

template <class Rule> std::string rule_text() { return Rule::pixel_text; }

// f(first, end) for parts of a sample.
template <class F> void each_part(const View& out, int64_t n, const F& f) {
  const int64_t tiles = (n + kTile - 1) / kTile, bytes = out.volume() * static_cast<int64_t>(size_of(out.dtype));
  Crew::share(tiles, bytes, [&](int64_t begin, int64_t end) { f(begin * kTile, std::min(end * int64_t{kTile}, n)); });
}

template <class Row> KernelStep kernel_step(const char* name, const View& in, const Row& row, int64_t n, bool groups,
                                            std::string (*rule)(), std::function<void()> host) {
  KernelStep step;
  step.kernel.header = "families/field/kernels/noise.h", step.kernel.name = name;
  step.kernel.types = {in.dtype};
  step.kernel.rule = rule;
  step.row = row_bytes(row);
  if (groups) step.kernel.granule = 64;  // groups take long: small parts leave few processors idle at the end
  step.work = units_of(n, groups);
  step.host = std::move(host);
  return step;
}

template <class Rule>
void add_normals(const View& in, const View& out, const typename Rule::Coef& coef, const RandomStream& stream,
                 SampleWork& to) {
  const int64_t n = out.volume();
  if (n == 0) return;
  const auto host = [=] {
    const Target target = best_target();
    dispatch(in.dtype, [&]<class T>(TypeTag<T>) {
      if constexpr (std::is_same_v<NumberOf<T>, float>) {
        add_normals(target, {in.dtype, in.data, out.data, n}, stream, &coef,
                    PENSTOCK_FOR_TARGET(target, &rules, noisy<Rule>));
      } else {
        const T* from = in.as<const T>();
        T* made = out.as<T>();
        each_part(out, n, [&](int64_t i, int64_t end) {
          for (; i < end; ++i) made[i] = with_normal<T, Rule>(from[i], stream, static_cast<uint64_t>(i), coef);
        });
      }
    });
  };
  const Row<typename Rule::Coef> row{in.data, out.data, n, stream, coef};
  to.kernel(kernel_step("field::add_normals", in, row, n, size_of(in.dtype) == 1, &rule_text<Rule>, host));
}

template <class Rule>
void add_counts(const View& in, const View& out, const typename Rule::Coef& coef, const RandomStream& stream,
                SampleWork& to) {
  const int64_t n = out.volume();
  if (n == 0) return;
  const auto host = [=] {
    const Target target = best_target();
    dispatch(in.dtype, [&]<class T>(TypeTag<T>) {
      if constexpr (std::is_same_v<NumberOf<T>, float>) {
        add_counts(target, {in.dtype, in.data, out.data, n}, stream, &coef,
                   PENSTOCK_FOR_TARGET(target, &rules, mean<Rule>), PENSTOCK_FOR_TARGET(target, &rules, noisy<Rule>));
      } else {
        const T* from = in.as<const T>();
        T* made = out.as<T>();
        each_part(out, n, [&](int64_t i, int64_t end) {
          Tile<uint32_t> words;
          for (; i < end; ++i) {
            if (i % kTile == 0) tile_words(target, stream, i, words);
            made[i] = with_count<T, Rule>(from[i], words.of[i % kTile], stream, static_cast<uint64_t>(i), coef);
          }
        });
      }
    });
  };
  const Row<typename Rule::Coef> row{in.data, out.data, n, stream, coef};
  to.kernel(kernel_step("field::add_counts", in, row, n, false, &rule_text<Rule>, host));
}

// The largest of the words that have this probability; none: no word.
inline std::optional<uint32_t> last_word(double probability) {
  const double words = std::clamp(std::rint(probability * 0x1p32), 0.0, 0x1p32);
  if (!(words >= 1)) return std::nullopt;
  return static_cast<uint32_t>(static_cast<uint64_t>(words) - 1);
}

// The elements of positions [first, end), which lie in runs: f(element, length) for each.
template <class F> void each_run(const Positions& p, int64_t first, int64_t end, const F& f) {
  if (p.inner == 1) return f(first * p.channels, (end - first) * p.channels);
  while (first < end) {
    const int64_t n = std::min(end - first, p.inner - first % p.inner), element = first_element(p, first);
    for (int64_t c = 0; c < p.channels; ++c) f(element + c * p.inner, n);
    first += n;
  }
}
template <class Rule, class T>
void replace_tile(Target target, const T* in, T* out, const Positions& p, int64_t first, int64_t end, uint32_t last,
                  const typename Rule::Coef& coef, const RandomStream& stream) {
  each_run(p, first, end,
           [&](int64_t i, int64_t n) { std::memcpy(out + i, in + i, static_cast<size_t>(n) * sizeof(T)); });
  Tile<uint32_t> words;
  Tile<int32_t> places;
  tile_words(target, stream, first, words);
  const int count = tile_replaced(target, words, 0, static_cast<int>(end - first), last, places);
  for (int k = 0; k < count; ++k) {
    const T value = stored<T>(Rule::value(words.of[places.of[k]], coef));
    T* to = out + first_element(p, first + places.of[k]);
    for (int64_t c = 0; c < p.channels; ++c) to[c * p.inner] = value;
  }
}
template <class Rule>
void replace(const View& in, const View& out, const Positions& positions, uint32_t last,
             const typename Rule::Coef& coef, const RandomStream& stream, SampleWork& to) {
  if (out.volume() == 0) return;
  const auto host = [=] {
    const Target target = best_target();
    dispatch(in.dtype, [&]<class T>(TypeTag<T>) {
      each_part(out, positions.count, [&](int64_t first, int64_t end) {
        for (; first < end; first += kTile)
          replace_tile<Rule>(target, in.as<const T>(), out.as<T>(), positions, first, std::min(first + kTile, end),
                             last, coef, stream);
      });
    });
  };
  const bool together = positions.inner == 1 && (positions.channels == 1 || positions.channels == 3);
  const bool groups = together && size_of(in.dtype) == 1;
  const ReplaceRow<typename Rule::Coef> row{in.data, out.data, positions, stream, last, coef};
  KernelStep step = kernel_step("field::replace", in, row, positions.count, groups, &rule_text<Rule>, host);
  step.kernel.numbers = {groups ? static_cast<int>(positions.channels) : 0};
  to.kernel(std::move(step));
}

}  // namespace penstock::field
