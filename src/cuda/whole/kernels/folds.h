// SPDX-License-Identifier: Apache-2.0
// How partial results of a fold are joined, and what the whole of it becomes. A warp folds the chunks of a result.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "launch/entry.h"
#include "numerics/folds.h"
#include "pixel/math.h"
#include "pixel/stored.h"

namespace penstock::whole {

constexpr int kUnits = kThreads / 32;  // chunks, or results, that a block processes at once

template <class Total_, Fold fold> struct Folded {
  using Total = Total_;
  static constexpr bool kAdds = fold <= Fold::integers;

  template <class P> PENSTOCK_HD static P joined(P a, P b) {
    if constexpr (kAdds) return a + b;
    else return (fold == Fold::greatest ? b > a : b < a) ? b : a;
  }
  template <class P> PENSTOCK_HD static P begun() {
    if constexpr (kAdds) return 0;
    else if constexpr (std::is_same_v<P, float>)
      return std::bit_cast<float>(fold == Fold::least ? 0x7f800000u : 0xff800000u);
    else if constexpr (std::is_same_v<P, double>)
      return std::bit_cast<double>(fold == Fold::least ? 0x7ff0000000000000ull : 0xfff0000000000000ull);
    else return fold == Fold::least ? std::numeric_limits<P>::max() : std::numeric_limits<P>::lowest();
  }
};

// Where a result goes, and what it is finished with.
struct ResultRow {
  int64_t count;  // elements per result
  void* out;
  int64_t ddof;
  double epsilon, scale;
};
static_assert(sizeof(ResultRow) == 40);

// An integer as another type: saturated.
template <class T, class Total> PENSTOCK_KERNEL T whole_number(Total v) {
  if constexpr (!std::is_integral_v<Total>) {
    return stored<T>(v);
  } else if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>) {
    return stored<T>(static_cast<double>(v));
  } else if constexpr (static_cast<Total>(-1) < 0) {
    if constexpr (static_cast<T>(-1) > 0) {
      if (v < 0) return 0;
      if (static_cast<uint64_t>(v) > std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
    } else {
      if (v < std::numeric_limits<T>::lowest()) return std::numeric_limits<T>::lowest();
      if (v > std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
    }
    return static_cast<T>(v);
  } else {
    return v > static_cast<uint64_t>(std::numeric_limits<T>::max()) ? std::numeric_limits<T>::max() : static_cast<T>(v);
  }
}

// What a sum becomes: an element of a reduction, or a number for normalize().
template <class Out, Statistic statistic> struct AsStatistic {
  template <class Total> PENSTOCK_HD static void store(const ResultRow& row, int64_t r, Total sum) {
    const auto count = static_cast<double>(row.count);
    const auto put = [&](double v) { static_cast<Out*>(row.out)[r] = stored<Out>(v); };
    constexpr double kNan = std::bit_cast<double>(0x7ff8000000000000ull);
    if constexpr (statistic == Statistic::sum) {
      static_cast<Out*>(row.out)[r] = whole_number<Out>(sum);
    } else if constexpr (statistic == Statistic::min || statistic == Statistic::max) {
      static_cast<Out*>(row.out)[r] = static_cast<Out>(sum);
    } else if constexpr (statistic == Statistic::mean || statistic == Statistic::mean_square) {
      put(row.count ? sum / count : kNan);
    } else if constexpr (statistic == Statistic::rms) {
      put(row.count ? sqrt(sum / count) : kNan);
    } else {
      const double variance = sum / (count - static_cast<double>(row.ddof));
      put(statistic == Statistic::std_dev ? sqrt(variance) : variance);
    }
  }
};
struct AsMean {
  PENSTOCK_HD static void store(const ResultRow& row, int64_t r, double sum) {
    static_cast<double*>(row.out)[r] = sum / static_cast<double>(row.count);
  }
};
struct AsFactor {
  PENSTOCK_HD static void store(const ResultRow& row, int64_t r, double sum) {
    const double variance = row.count > row.ddof ? sum / static_cast<double>(row.count - row.ddof) : 0.0;
    const double d = sqrt(variance + row.epsilon);
    static_cast<double*>(row.out)[r] = d == 0 ? 0.0 : row.scale / d;
  }
};

struct Segment {  // an input's chunks
  const void* sums;
  int64_t chunks;
};
struct FoldRow {
  ResultRow result;
  int64_t segments;  // added in order
  InData<Segment> segment;
  int64_t width;
};
static_assert(sizeof(Segment) == 16 && sizeof(FoldRow) == 64);
constexpr int kFoldBytes = kUnits * 33 * sizeof(double);  // of shared memory

// Units of work are results.
template <class F, class Finish> PENSTOCK_KERNEL void fold_chunks(const Entry<FoldRow>& e) {
  using Total = typename F::Total;
  const Segment* segments = e.at(e.row.segment);
  const int64_t width = e.row.width;
  Total* partial = shared_memory<Total>();
  Total* total = partial + kUnits * 32;
  for (int64_t first = e.begin; first < e.end; first += kUnits) {
    for (int item = thread(); item < kUnits; item += threads()) total[item] = F::template begun<Total>();
    for (int64_t segment = 0; segment < e.row.segments; ++segment) {
      const Total* sums = static_cast<const Total*>(segments[segment].sums);
      const int64_t chunks = segments[segment].chunks;
      for (int item = thread(); item < kUnits * 32; item += threads()) {
        const int64_t r = first + item / 32;
        Total a = F::template begun<Total>();
        if (r < e.end) {
          const Total* from = sums + r / width * chunks * width + r % width;
          PENSTOCK_UNROLL_BY(4)
          for (int64_t c = item % 32; c < chunks; c += 32) a = F::joined(a, from[c * width]);
        }
        partial[item] = a;
      }
      wait_for_block();
      for (int n = 16; n > 0; n /= 2) {
        for (int item = thread(); item < kUnits * n; item += threads()) {
          Total* p = partial + item / n * 32 + item % n;
          p[0] = F::joined(p[0], p[n]);
        }
        wait_for_block();
      }
      for (int item = thread(); item < kUnits; item += threads())
        total[item] = F::joined(total[item], partial[item * 32]);
      wait_for_block();
    }
    for (int item = thread(); item < kUnits && first + item < e.end; item += threads())
      Finish::store(e.row.result, first + item, total[item]);
    wait_for_block();
  }
}

}  // namespace penstock::whole
