// SPDX-License-Identifier: Apache-2.0
#include "numerics/reduction.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "numerics/reduction_rows.h"

namespace penstock {

ReductionPlan::ReductionPlan(const Shape& shape, std::span<const int> axes) : in(shape) {
  for (int a : axes) reduced[a] = true;
  for (int d = 0; d < in.size(); ++d)
    if (int64_t& n = reduced[d] ? count : results; __builtin_mul_overflow(n, in[d], &n))
      bad_argument("a shape of more than 2^63 elements: {}", in.text());
}

Shape ReductionPlan::result_strides() const {
  Shape s = in;
  int64_t step = 1;
  for (int d = in.size() - 1; d >= 0; --d) {
    s[d] = reduced[d] ? 0 : step;
    if (!reduced[d]) step *= in[d];
  }
  return s;
}

ReductionLoops::ReductionLoops(const ReductionPlan& plan) {
  struct Merged {
    Loop loop;
    bool reduced;
  };
  FixedVector<Merged, Shape::kMaxDims> loops;
  const Shape strides = dense_strides(plan.in);
  for (int d = 0; d < plan.in.size(); ++d) {
    if (plan.in[d] == 1) continue;
    if (!loops.empty() && loops.back().reduced == plan.reduced[d])
      loops.back().loop = {loops.back().loop.extent * plan.in[d], strides[d]};
    else loops.push_back({{plan.in[d], strides[d]}, plan.reduced[d]});
  }
  // The innermost kept run is summed side by side, so that memory is read in order.
  if (!loops.empty() && !loops.back().reduced) width = loops.back().loop.extent, loops.pop_back();
  for (const Merged& m : loops) (m.reduced ? summed : kept).push_back(m.loop);
}

namespace {

constexpr int64_t kColumns = 256;  // number of contiguous results that are summed at once

// A power of two, enough for these partial sums: the others are 0.
int64_t partial_sums(int64_t used, int most) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(used, 1, most))));
}

// How a fold handles elements of type T: its initial value, an element as a partial result, two partial results as one.
template <class T> struct AddNumbers {
  using Partial = double;
  static constexpr bool about = false;
  static constexpr Partial start = 0;
  static Partial of(const T& v, double) { return static_cast<double>(v); }
  static Partial joined(Partial a, Partial b) { return a + b; }
};
template <class T> struct AddSquares : AddNumbers<T> {
  static constexpr bool about = true;
  static double of(const T& v, double from) {
    const double e = static_cast<double>(v) - from;
    return e * e;
  }
};
template <class T> struct AddIntegers {
  using Partial = uint64_t;  // negative numbers by their complement
  static constexpr bool about = false;
  static constexpr Partial start = 0;
  static Partial of(const T& v, double) { return static_cast<Partial>(static_cast<int64_t>(v)); }
  static Partial joined(Partial a, Partial b) { return a + b; }
};
template <class T, bool kGreatest> struct Extreme {
  using Number = std::conditional_t<std::is_same_v<T, Half>, float, T>;
  using Partial = std::conditional_t<std::is_same_v<T, bool>, uint8_t, Number>;
  using Limits = std::numeric_limits<Partial>;
  static constexpr bool about = false;
  static constexpr Partial start = Limits::has_infinity ? (kGreatest ? -Limits::infinity() : Limits::infinity())
                                   : kGreatest          ? Limits::lowest()
                                                        : Limits::max();
  // -0 becomes 0, so that the order does not matter.
  static Partial of(const T& v, double) { return static_cast<Partial>(static_cast<Partial>(v) + Partial(0)); }
  static Partial joined(Partial a, Partial b) { return (kGreatest ? b > a : b < a) ? b : a; }
};

// Folds n rows of `width` partial results into the first.
template <class F> void fold_halves(typename F::Partial* partial, int64_t n, int64_t width) {
  while (n /= 2)
    for (int64_t i = 0; i < n * width; ++i) partial[i] = F::joined(partial[i], partial[i + n * width]);
}

template <class T, class F>
void reduce_typed(const View& in, const ReductionPlan& plan, const double* about, typename F::Partial* sums) {
  using Partial = typename F::Partial;
  constexpr bool kSquares = F::about;
  const ReductionLoops loops(plan);
  const auto &kept = loops.kept, &summed = loops.summed;
  const int64_t width = loops.width, outer = plan.results / std::max<int64_t>(width, 1);
  const int64_t columns = width <= 2 * kColumns ? width : kColumns;
  const int64_t n = partial_sums(plan.count, kPartialSums), chunks = (plan.count - 1) / kReductionChunk + 1;
  const int64_t levels = partial_sums(chunks, kPartialChunks);
  const auto begin_of = [&](int64_t o) {
    const T* base = in.as<T>();
    for (int k = kept.size() - 1; k > 0; o /= kept[k--].extent) base += o % kept[k].extent * kept[k].stride;
    return kept.empty() ? base : base + o * kept[0].stride;
  };
  if (width == 1 && plan.count <= 4 && summed.size() <= 1) {  // the same order, with less overhead
    const int64_t apart = summed.empty() ? 0 : summed[0].stride;
    for (int64_t o = 0; o < outer; ++o) {
      const T* v = begin_of(o);
      Partial p[4] = {F::start, F::start, F::start, F::start};
      for (int64_t j = 0; j < plan.count; ++j) p[j] = F::joined(p[j], F::of(v[j * apart], kSquares ? about[o] : 0.0));
      sums[o] = F::joined(sums[o], F::joined(F::joined(p[0], p[2]), F::joined(p[1], p[3])));
    }
    return;
  }
  std::vector<Partial> partial(static_cast<size_t>(n * columns)), level(static_cast<size_t>(levels * columns));
  std::vector<double> about_block(kSquares ? partial.size() : 0);
  const int64_t run = summed.empty() ? 1 : summed.back().extent, step = summed.empty() ? 0 : summed.back().stride;
  const int64_t runs = plan.count / std::max<int64_t>(run, 1);
  for (int64_t o = 0; o < outer; ++o) {
    const T* base = begin_of(o);
    for (int64_t first = 0; first < width; first += columns) {
      const int64_t w = std::min(columns, width - first), block = n * w;
      std::fill(partial.begin(), partial.end(), F::start);
      std::fill(level.begin(), level.end(), F::start);
      if constexpr (kSquares)
        for (int64_t k = 0; k < block; ++k) about_block[k] = about[o * width + first + k % w];
      const double* about_here = about_block.data();
      auto add = [&](Partial* to, const T& v, int64_t i) {
        *to = F::joined(*to, F::of(v, kSquares ? about_here[i] : 0.0));
      };
      int64_t j = 0, chunk = 0;  // j: in the chunk
      auto fold = [&] {
        fold_halves<F>(partial.data(), n, w);
        Partial* to = level.data() + chunk % levels * w;
        for (int64_t k = 0; k < w; ++k) to[k] = F::joined(to[k], partial[k]);
        std::fill(partial.begin(), partial.end(), F::start);
        ++chunk, j = 0;
      };
      for (int64_t r = 0; r < runs; ++r) {
        const T* row = base + first;
        int64_t left = r;
        for (int k = summed.empty() ? 0 : summed.size() - 1; k-- > 0; left /= summed[k].extent)
          row += left % summed[k].extent * summed[k].stride;
        for (int64_t i = 0; i < run;) {
          if (step == w && j % n == 0 &&
              i + n <= run) {  // contiguous: one run in memory, one addition to each partial sum
            Partial* p = partial.data();
            const T* v = row + i * w;
            for (int64_t k = 0; k < block; ++k) add(p + k, v[k], k);
            i += n, j += n;
          } else {
            Partial* p = partial.data() + j % n * w;
            const T* v = row + i * step;
            for (int64_t k = 0; k < w; ++k) add(p + k, v[k], k);
            ++i, ++j;
          }
          if (j == kReductionChunk) fold();
        }
      }
      if (j > 0) fold();
      fold_halves<F>(level.data(), levels, w);
      Partial* to = sums + o * width + first;
      for (int64_t k = 0; k < w; ++k) to[k] = F::joined(to[k], level[k]);
    }
  }
}

}  // namespace

void reduce(const View& in, const ReductionPlan& plan, const double* squares_about, double* sums) {
  if (plan.count == 0 || plan.results == 0) return;
  std::vector<double> totals(static_cast<size_t>(plan.results));
  if (fold_rows(best_target(), in, plan, squares_about ? Fold::squares : Fold::numbers, squares_about, totals.data())) {
    for (size_t i = 0; i < totals.size(); ++i) sums[i] += totals[i];
    return;
  }
  dispatch(in.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (squares_about) reduce_typed<T, AddSquares<T>>(in, plan, squares_about, sums);
    else reduce_typed<T, AddNumbers<T>>(in, plan, nullptr, sums);
  });
}

DType folded_type(Fold fold, DType element) {
  if (fold == Fold::numbers || fold == Fold::squares) return DType::float64;
  if (fold == Fold::integers) return is_unsigned(element) || element == DType::bool_ ? DType::uint64 : DType::int64;
  if (element == DType::bool_) return DType::uint8;
  return element == DType::float16 || element == DType::bfloat16 ? DType::float32 : element;
}

void fold_elements(const View& in, const ReductionPlan& plan, Fold fold, void* results) {
  if (plan.count > 0 && plan.results > 0 && fold_rows(best_target(), in, plan, fold, nullptr, results)) return;
  dispatch(in.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto run = [&]<class F>(F) {
      auto* to = static_cast<typename F::Partial*>(results);
      std::fill(to, to + plan.results, F::start);
      if (plan.count > 0 && plan.results > 0) reduce_typed<T, F>(in, plan, nullptr, to);
    };
    if (fold == Fold::least) return run(Extreme<T, false>{});
    if (fold == Fold::greatest) return run(Extreme<T, true>{});
    if constexpr (std::is_integral_v<T>)
      if (fold == Fold::integers) return run(AddIntegers<T>{});
    run(AddNumbers<T>{});
  });
}

Fold fold_of(Statistic statistic, DType element) {
  switch (statistic) {
    case Statistic::sum: return is_float(element) ? Fold::numbers : Fold::integers;
    case Statistic::mean: return Fold::numbers;
    case Statistic::min: return Fold::least;
    case Statistic::max: return Fold::greatest;
    default: return Fold::squares;
  }
}

double finished(Statistic statistic, double sum, int64_t count, int ddof) {
  const double n = static_cast<double>(count);
  switch (statistic) {
    case Statistic::mean:
    case Statistic::mean_square: return count ? sum / n : __builtin_nan("");
    case Statistic::rms: return count ? __builtin_sqrt(sum / n) : __builtin_nan("");
    case Statistic::variance: return sum / (n - ddof);
    case Statistic::std_dev: return __builtin_sqrt(sum / (n - ddof));
    default: return sum;
  }
}

}  // namespace penstock
