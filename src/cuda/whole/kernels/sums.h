// SPDX-License-Identifier: Apache-2.0
// Folds of elements over axes, chunk by chunk, in the order of numerics/reduction.h.
#pragma once
#include <cstdint>
#include <type_traits>

#include "cuda/whole/kernels/arguments.h"
#include "launch/entry.h"
#include "cuda/whole/kernels/folds.h"
#include "numerics/folds.h"

namespace penstock::whole {

struct LoopRow {
  int64_t extent, stride;
};
struct SumRow {
  ResultRow result;  // the count is that of the input alone
  const void* in;
  NumbersRow about;  // squares are of differences from these
  void* sums;        // of chunks: [outer][chunk][width]
  int64_t chunks;
  int64_t width;         // results that are contiguous
  int64_t kept, summed;  // loops, outermost first
  LoopRow kept_loop[kMostDims], summed_loop[kMostDims];
};
static_assert(sizeof(SumRow) == 112 + 32 * kMostDims);

constexpr int kColumns = 32;  // adjacent results that a block processes at once
// Shared memory of the kernels.
constexpr int kLinesBytes = kUnits * kPartialSums * sizeof(double);
constexpr int kColumnsBytes = kColumns * kPartialSums * sizeof(double);

// The position of element i of a result, or of result i.
template <class I> PENSTOCK_KERNEL I place_of(const LoopRow* loops, int n, I i) {
  I at = 0;
  PENSTOCK_UNROLL_BY(1)
  for (int k = n - 1; k > 0; --k) {
    const LoopRow loop = loops[k];
    at += i % static_cast<I>(loop.extent) * static_cast<I>(loop.stride);
    i /= static_cast<I>(loop.extent);
  }
  return n > 0 ? at + i * static_cast<I>(loops[0].stride) : 0;
}

template <bool first, class A, class B> struct Choose {
  using type = A;
};
template <class A, class B> struct Choose<false, A, B> {
  using type = B;
};
// What elements of a type are in a fold.
template <class In_, class Total, Fold fold> struct Summed : Folded<Total, fold> {
  using In = In_;
  static constexpr bool kSquares = fold == Fold::squares;
  static constexpr bool kSmall = std::is_integral_v<In> && sizeof(In) <= 2;
  static constexpr bool kBytes = fold <= Fold::integers && (std::is_same_v<In, uint8_t> || std::is_same_v<In, bool>);
  // Small integers are added as such in a chunk: it is exact either way.
  using Sum = typename Choose<kSmall && fold <= Fold::integers && !kSquares, int32_t, Total>::type;

  PENSTOCK_HD static Total term(In v, double about) {
    if constexpr (kSquares) {
      const double e = static_cast<double>(v) - about;
      return e * e;
    } else if constexpr (fold == Fold::numbers) {
      return static_cast<double>(v);
    } else if constexpr (fold == Fold::integers) {
      return static_cast<Total>(static_cast<int64_t>(v));
    } else {
      return static_cast<Total>(static_cast<Total>(v) + static_cast<Total>(0));
    }
  }
  PENSTOCK_HD static Sum summand(In v, double about) {
    if constexpr (std::is_same_v<Sum, int32_t> && kSmall) return static_cast<Sum>(v);
    else return term(v, about);
  }
};

// Of four bytes: their sum or that of their squares.
PENSTOCK_HD inline int32_t added_bytes(uint32_t four, bool squares, int32_t sum) {
#ifdef __CUDA_ARCH__
  return static_cast<int32_t>(__dp4a(four, squares ? four : 0x01010101u, static_cast<uint32_t>(sum)));
#else
  for (int k = 0; k < 4; ++k) {
    const auto v = static_cast<int32_t>(four >> (8 * k) & 0xFF);
    sum += squares ? v * v : v;
  }
  return sum;
#endif
}
struct alignas(16) BytesAtOnce {
  uint32_t v[4];
};

// The sums that a lane makes of pixels of three bytes, of which it takes 16 bytes in every 512. Words that begin with
// the same channel go to the same sums, two of 16 bits in a number; three such steps later channels come again.
// Returns how many pixels of n, the same for all lanes, are in them.
PENSTOCK_HD inline int add_three_channels(const uint8_t* from, int n, int lane, int32_t (&a)[3]) {
  constexpr int kPixels = 512;
  uint32_t low[3] = {}, high[3] = {};
  int j = 0;
  PENSTOCK_UNROLL_BY(2)
  for (; j + kPixels <= n; j += kPixels) {
    PENSTOCK_UNROLL
    for (int part = 0; part < 3; ++part) {
      const BytesAtOnce x = *reinterpret_cast<const BytesAtOnce*>(from + 3 * j + 512 * part + 16 * lane);
      PENSTOCK_UNROLL
      for (int k = 0; k < 4; ++k) {
        low[(2 * part + k) % 3] += x.v[k] & 0x00FF00FFu;
        high[(2 * part + k) % 3] += x.v[k] >> 8 & 0x00FF00FFu;
      }
    }
  }
  int32_t t[3] = {};  // from the lane's first channel on
  PENSTOCK_UNROLL
  for (int k = 0; k < 3; ++k) {
    t[k] += static_cast<int32_t>((low[k] & 0xFFFF) + (high[k] >> 16));
    t[(k + 1) % 3] += static_cast<int32_t>(high[k] & 0xFFFF);
    t[(k + 2) % 3] += static_cast<int32_t>(low[k] >> 16);
  }
  const int begin = lane % 3;
  a[0] = begin == 0 ? t[0] : begin == 1 ? t[2] : t[1];
  a[1] = begin == 0 ? t[1] : begin == 1 ? t[0] : t[2];
  a[2] = begin == 0 ? t[2] : begin == 1 ? t[1] : t[0];
  return j;
}

// Folds the partial sums of `rows` rows in shared memory into the first of each.
template <class F, class Sum> PENSTOCK_KERNEL void fold_partial(Sum* partial, int rows) {
  wait_for_block();
  for (int n = kPartialSums / 2; n > 0; n /= 2) {
    for (int item = thread(); item < rows * n; item += threads()) {
      Sum* p = partial + item / n * kPartialSums + item % n;
      p[0] = F::joined(p[0], p[n]);
    }
    wait_for_block();
  }
}

// Contiguous pixels of `width` channels: a warp makes the sums of all channels of a chunk.
template <class F, int width> PENSTOCK_KERNEL void sum_channels(const Entry<SumRow>& e) {
  using In = typename F::In;
  using Sum = typename F::Sum;
  using Total = typename F::Total;
  struct alignas(sizeof(In) * 4 > 16 ? 16 : sizeof(In) * 4) Pixels {
    In v[4 * width];
  };
  const In* in = static_cast<const In*>(e.row.in);
  Total* sums = static_cast<Total*>(e.row.sums);
  const int64_t count = e.row.result.count, chunks = e.row.chunks;
  Sum* partial = shared_memory<Sum>();
  for (int64_t first_unit = e.begin; first_unit < e.end; first_unit += kUnits) {
    for (int item = thread(); item < kUnits * 32; item += threads()) {
      const int64_t unit = first_unit + item / 32;
      const int lane = item % 32;
      Sum a[width][4];
      for (int k = 0; k < width; ++k)
        for (int q = 0; q < 4; ++q) a[k][q] = F::template begun<Sum>();
      if (unit < e.end) {
        const int64_t o = unit / chunks, first = unit % chunks * kReductionChunk;
        const In* from = in + place_of(e.row.kept_loop, static_cast<int>(e.row.kept), o) + (first + 4 * lane) * width;
        const int n = (count - first < kReductionChunk ? static_cast<int>(count - first) : kReductionChunk) - 4 * lane;
        double about[width] = {};
        if constexpr (F::kSquares)
          for (int k = 0; k < width; ++k) about[k] = first_of(e.row.about, e)[(o * width + k) * e.row.about.step];
        int j = 0;
        if constexpr (F::kBytes && !F::kSquares && width == 3) {
          const auto* const begin = reinterpret_cast<const uint8_t*>(from - 4 * lane * width);
          if ((reinterpret_cast<uint64_t>(begin) & 15) == 0) {
            int32_t sums_of_lane[3];
            j = add_three_channels(begin, n + 4 * lane, lane, sums_of_lane);
            for (int k = 0; k < width; ++k) a[k][0] = sums_of_lane[k];
          }
        }
        if ((reinterpret_cast<uint64_t>(from) & (alignof(Pixels) - 1)) == 0) {
          PENSTOCK_UNROLL_BY(4)
          for (; j + 4 <= n; j += kPartialSums) {
            const Pixels x = *reinterpret_cast<const Pixels*>(from + j * width);
            PENSTOCK_UNROLL
            for (int q = 0; q < 4; ++q) {
              PENSTOCK_UNROLL
              for (int k = 0; k < width; ++k) a[k][q] = F::joined(a[k][q], F::summand(x.v[q * width + k], about[k]));
            }
          }
        }
        for (; j < n; j += kPartialSums) {
          PENSTOCK_UNROLL
          for (int q = 0; q < 4; ++q) {
            PENSTOCK_UNROLL
            for (int k = 0; k < width; ++k)
              if (j + q < n) a[k][q] = F::joined(a[k][q], F::summand(from[(j + q) * width + k], about[k]));
          }
        }
      }
      for (int k = 0; k < width; ++k)
        for (int q = 0; q < 4; ++q) partial[(item / 32 * width + k) * kPartialSums + 4 * lane + q] = a[k][q];
    }
    fold_partial<F>(partial, kUnits * width);
    for (int item = thread(); item < kUnits * width && first_unit + item / width < e.end; item += threads())
      sums[first_unit * width + item] = static_cast<Total>(partial[item * kPartialSums]);
    wait_for_block();
  }
}

// Sums of 32 adjacent results over n rows, in 32 rows of partial sums. Exact in any order: a thread takes four columns.
template <class F> PENSTOCK_KERNEL void add_small_columns(const typename F::In* from, int64_t stride, int n,
                                                          typename F::Sum* partial) {
  using In = typename F::In;
  struct alignas(4 * sizeof(In)) Pack {
    In v[4];
  };
  for (int item = thread(); item < 8 * 32; item += threads()) {
    const int column = item % 8 * 4, row = item / 8;
    typename F::Sum a[4] = {};
    const In* at = from + row * stride + column;
    PENSTOCK_UNROLL_BY(8)
    for (int j = row; j < n; j += 32, at += 32 * stride) {
      const Pack x = *reinterpret_cast<const Pack*>(at);
      PENSTOCK_UNROLL
      for (int k = 0; k < 4; ++k) a[k] += F::summand(x.v[k], 0);
    }
    for (int k = 0; k < 4; ++k) partial[row * kColumns + column + k] = a[k];
  }
}

// Many adjacent results: a block makes the sums of 32 of them over a chunk.
template <class F> PENSTOCK_KERNEL void sum_columns(const Entry<SumRow>& e) {
  using In = typename F::In;
  using Sum = typename F::Sum;
  using Total = typename F::Total;
  const In* in = static_cast<const In*>(e.row.in);
  Total* sums = static_cast<Total*>(e.row.sums);
  const int64_t count = e.row.result.count, chunks = e.row.chunks, width = e.row.width,
                groups = (width + kColumns - 1) / kColumns;
  const int kept = static_cast<int>(e.row.kept), summed = static_cast<int>(e.row.summed);
  Sum* partial = shared_memory<Sum>();
  for (int64_t unit = e.begin; unit < e.end; ++unit) {
    const int64_t column = unit % groups * kColumns, rest = unit / groups, chunk = rest % chunks, o = rest / chunks;
    const int64_t first = chunk * kReductionChunk;
    const In* from = in + place_of(e.row.kept_loop, kept, o) + column;
    const int n = count - first < kReductionChunk ? static_cast<int>(count - first) : kReductionChunk;
    int rows = kPartialSums;
    if constexpr (F::kSmall && F::kAdds && !F::kSquares) {
      const int64_t stride = summed == 1 ? e.row.summed_loop[0].stride : 1;
      const In* const begin = from + first * stride;
      if (summed == 1 && column + kColumns <= width && stride % 4 == 0 &&
          reinterpret_cast<uint64_t>(begin) % (4 * sizeof(In)) == 0) {
        add_small_columns<F>(begin, stride, n, partial);
        rows = 32;
      }
    }
    for (int item = thread(); item < kPartialSums * kColumns && rows == kPartialSums; item += threads()) {
      const int c = item % kColumns;
      Sum a = F::template begun<Sum>();
      if (column + c < width) {
        double about = 0;
        if constexpr (F::kSquares) about = first_of(e.row.about, e)[(o * width + column + c) * e.row.about.step];
        if (summed == 1) {
          const int64_t stride = e.row.summed_loop[0].stride;
          PENSTOCK_UNROLL_BY(4)
          for (int j = item / kColumns; j < n; j += kPartialSums)
            a = F::joined(a, F::summand(from[(first + j) * stride + c], about));
        } else {
          PENSTOCK_UNROLL_BY(1)
          for (int j = item / kColumns; j < n; j += kPartialSums)
            a = F::joined(a, F::summand(from[place_of(e.row.summed_loop, summed, first + j) + c], about));
        }
      }
      partial[item] = a;
    }
    wait_for_block();
    for (int n = rows / 2; n > 0; n /= 2) {
      for (int item = thread(); item < n * kColumns; item += threads())
        partial[item] = F::joined(partial[item], partial[item + n * kColumns]);
      wait_for_block();
    }
    for (int item = thread(); item < kColumns && column + item < width; item += threads())
      sums[rest * width + column + item] = static_cast<Total>(partial[item]);
    wait_for_block();
  }
}

// The part of a chunk that a lane adds where elements are `stride` apart: four neighbors in every 128.
template <class F>
PENSTOCK_KERNEL void add_line(const typename F::In* from, int64_t stride, int n, int lane, double about,
                              typename F::Sum (&a)[4]) {
  using In = typename F::In;
  constexpr int kLoad = sizeof(In) == 1 ? 16 : sizeof(In) == 2 ? 8 : 4;
  struct alignas(sizeof(In) * kLoad > 16 ? 16 : sizeof(In) * kLoad) Pack {
    In v[kLoad];
  };
  int j = 0;  // of the chunk, the same for all lanes
  if constexpr (F::kBytes) {
    if (stride == 1 && about == 0 && (reinterpret_cast<uint64_t>(from) & 15) == 0) {  // exact, in any order
      int32_t sum[4] = {};
      PENSTOCK_UNROLL
      for (; j + 512 <= n; j += 512) {
        const BytesAtOnce x = *reinterpret_cast<const BytesAtOnce*>(from + j + 16 * lane);
        PENSTOCK_UNROLL
        for (int k = 0; k < 4; ++k) sum[k] = added_bytes(x.v[k], F::kSquares, sum[k]);
      }
      for (int k = 0; k < 4; ++k) a[k] = static_cast<typename F::Sum>(sum[k]);
    }
  }
  if (stride == 1 && (reinterpret_cast<uint64_t>(from) & (alignof(Pack) - 1)) == 0) {
    if constexpr (F::kSmall && !F::kSquares) {
      PENSTOCK_UNROLL
      for (; j + 32 * kLoad <= n; j += 32 * kLoad) {
        const Pack x = *reinterpret_cast<const Pack*>(from + j + kLoad * lane);
        PENSTOCK_UNROLL
        for (int q = 0; q < kLoad; ++q) a[q % 4] = F::joined(a[q % 4], F::summand(x.v[q], 0));
      }
    } else if constexpr (kLoad == 4) {
      PENSTOCK_UNROLL_BY(8)
      for (; j + kPartialSums <= n; j += kPartialSums) {
        const Pack x = *reinterpret_cast<const Pack*>(from + j + 4 * lane);
        for (int q = 0; q < 4; ++q) a[q] = F::joined(a[q], F::summand(x.v[q], about));
      }
    }
  }
  PENSTOCK_UNROLL_BY(4)
  for (; j < n; j += kPartialSums) {
    const int at = j + 4 * lane;
    for (int q = 0; q < 4; ++q)
      if (at + q < n) a[q] = F::joined(a[q], F::summand(from[(at + q) * stride], about));
  }
}

// A warp makes the sum of a result over a chunk.
template <class F> PENSTOCK_KERNEL void sum_lines(const Entry<SumRow>& e) {
  using In = typename F::In;
  using Sum = typename F::Sum;
  using Total = typename F::Total;
  const In* in = static_cast<const In*>(e.row.in);
  Total* sums = static_cast<Total*>(e.row.sums);
  const int64_t count = e.row.result.count, chunks = e.row.chunks, width = e.row.width;
  const int kept = static_cast<int>(e.row.kept), summed = static_cast<int>(e.row.summed);
  const LoopRow* summed_loop = e.row.summed_loop;
  Sum* partial = shared_memory<Sum>();
  for (int64_t first_unit = e.begin; first_unit < e.end; first_unit += kUnits) {
    for (int item = thread(); item < kUnits * 32; item += threads()) {
      const int64_t unit = first_unit + item / 32;
      const int lane = item % 32;
      Sum a[4] = {F::template begun<Sum>(), F::template begun<Sum>(), F::template begun<Sum>(),
                  F::template begun<Sum>()};
      if (unit < e.end) {
        const int64_t k = unit % width, rest = unit / width, chunk = rest % chunks, o = rest / chunks;
        const int64_t first = chunk * kReductionChunk;
        const In* from = in + place_of(e.row.kept_loop, kept, o) + k;
        const int n = count - first < kReductionChunk ? static_cast<int>(count - first) : kReductionChunk;
        double about = 0;
        if constexpr (F::kSquares) about = first_of(e.row.about, e)[(o * width + k) * e.row.about.step];
        if (summed <= 1) {
          const int64_t stride = summed ? summed_loop[0].stride : 0;
          add_line<F>(from + first * stride, stride, n, lane, about, a);
        } else {
          PENSTOCK_UNROLL_BY(1)
          for (int j = 4 * lane; j < n; j += kPartialSums)
            for (int q = 0; q < 4 && j + q < n; ++q)
              a[q] = F::joined(a[q], F::summand(from[place_of(summed_loop, summed, first + j + q)], about));
        }
      }
      for (int q = 0; q < 4; ++q) partial[item / 32 * kPartialSums + 4 * lane + q] = a[q];
    }
    fold_partial<F>(partial, kUnits);
    for (int item = thread(); item < kUnits && first_unit + item < e.end; item += threads())
      sums[first_unit + item] = static_cast<Total>(partial[item * kPartialSums]);
    wait_for_block();
  }
}

// Results of at most `most` elements: a thread makes each, and finishes it.
template <class F, class Finish, class Index, int most> PENSTOCK_KERNEL void sum_few(const Entry<SumRow>& e) {
  using In = typename F::In;
  using Total = typename F::Total;
  const In* in = static_cast<const In*>(e.row.in);
  const int count = static_cast<int>(e.row.result.count);
  const Index width = static_cast<Index>(e.row.width);
  const int kept = static_cast<int>(e.row.kept), summed = static_cast<int>(e.row.summed);
  for (int64_t i = e.begin + thread(); i < e.end; i += threads()) {
    const Index r = static_cast<Index>(i), o = width == 1 ? r : r / width;
    const In* from = in + place_of(e.row.kept_loop, kept, o) + (r - o * width);
    double about = 0;
    Total p[most];
    if constexpr (F::kSquares) about = first_of(e.row.about, e)[static_cast<int64_t>(r) * e.row.about.step];
    PENSTOCK_UNROLL
    for (int j = 0; j < most; ++j)
      p[j] = j < count ? F::joined(F::template begun<Total>(),
                                   F::term(from[place_of(e.row.summed_loop, summed, static_cast<Index>(j))], about))
                       : F::template begun<Total>();
    PENSTOCK_UNROLL
    for (int n = most / 2; n > 0; n /= 2) {
      PENSTOCK_UNROLL
      for (int j = 0; j < n; ++j) p[j] = F::joined(p[j], p[j + n]);
    }
    Finish::store(e.row.result, r, p[0]);
  }
}

}  // namespace penstock::whole
