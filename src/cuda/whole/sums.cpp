// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/sums.h"

#include <algorithm>
#include <bit>

#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/device_work.h"
#include "cuda/whole/given_numbers.h"
#include "cuda/whole/numbers.h"

namespace penstock {

const char* const kResultNumbers = R"(
__device__ inline double number_at(const int64_t* words, const char* data, int64_t r) {
  const double* p = words[0] ? reinterpret_cast<const double*>(words[0]) :
      reinterpret_cast<const double*>(data + words[1]);
  return p[r * words[2]];
}
)";

void put_numbers(int64_t* words, const ResultNumbers& numbers, int64_t data_at) {
  words[0] = reinterpret_cast<int64_t>(numbers.there);
  words[1] = data_at;
  words[2] = numbers.step;
}

namespace {

constexpr int kUnits = kStageThreads / 32;  // chunks, or results, that a block processes at once
constexpr int kFewest = 4, kFew = 16;       // elements of a result that one thread sums by itself
constexpr int kColumns = 32;                // adjacent results that a block processes at once

// The first words are those of finish(), in every kernel.
enum Word {
  kWork,
  kCount,
  kOut,
  kDdof,
  kEpsilon,
  kScale,
  kIn,
  kAbout,
  kSums = kAbout + kNumberWords,
  kChunks,
  kWidth,
  kKept,
  kSummed,
  kLoops,
  kSumWords = kLoops + 4 * Shape::kMaxDims
};
enum FoldWord { kSegments = kIn, kSegmentData, kFoldWidth, kFoldWords };

// Joins two partial results; the neutral element.
constexpr const char* kJoined = R"(
inline constexpr bool kAdds = kFold <= 2;
template <class P> __device__ inline P joined(P a, P b) {
  if constexpr (kAdds) return a + b;
  else return (kFold == 4 ? b > a : b < a) ? b : a;
}
template <class P> __device__ inline P begun() {
  if constexpr (kAdds) return 0;
  else return static_cast<P>(kStart);
}
)";

// The positions of a result's elements. Loops are outermost first: extent, stride.
constexpr const char* kPlaces = R"(
constexpr int kChunk = 4096, kPartials = 128;
template <class I> __device__ inline I place(const int64_t* loops, int n, I i) {
  I at = 0;
  for (int k = n - 1; k > 0; --k) {
    const I extent = static_cast<I>(loops[2 * k]);
    at += i % extent * static_cast<I>(loops[2 * k + 1]);
    i /= extent;
  }
  return n > 0 ? at + i * static_cast<I>(loops[1]) : 0;
}
template <class T> inline constexpr bool small = std::is_integral_v<T> && sizeof(T) <= 2;
template <bool first, class A, class B> struct Choose { typedef A type; };
template <class A, class B> struct Choose<false, A, B> { typedef B type; };
// Small integers are added as such in a chunk: it is exact either way.
typedef Choose<small<In> && kAdds && !kSquares, int32_t, Total>::type Sum;
__device__ inline Total term(In v, double about) {
  if constexpr (kSquares) { const double e = static_cast<double>(v) - about; return e * e; }
  else if constexpr (kFold == 0) return static_cast<double>(v);
  else if constexpr (kFold == 2) return static_cast<Total>(static_cast<int64_t>(v));
  else return static_cast<Total>(static_cast<Total>(v) + static_cast<Total>(0));
}
__device__ inline Sum summand(In v, double about) {
  if constexpr (small<In> && kAdds && !kSquares) return static_cast<Sum>(v);
  else return term(v, about);
}
)";

// Contiguous pixels of kWidth channels: a warp makes the sums of all channels of a chunk.
constexpr const char* kSumChannels = R"(
struct alignas(sizeof(In) * 4 > 16 ? 16 : sizeof(In) * 4) Pixels { In v[4 * kWidth]; };
__device__ inline void run(const char* table) {
%ENTRY%
  const In* in = reinterpret_cast<const In*>(s[6]);
  Total* sums = reinterpret_cast<Total*>(s[10]);
  const int64_t count = s[1], chunks = s[11];
  PENSTOCK_SHARED(Sum, partial);
  for (int64_t first_unit = begin; first_unit < end; first_unit += kUnits) {
    for (int item = threadIdx.x; item < kUnits * 32; item += blockDim.x) {
      const int64_t unit = first_unit + item / 32;
      const int lane = item % 32;
      Sum a[kWidth][4];
      for (int k = 0; k < kWidth; ++k)
        for (int q = 0; q < 4; ++q) a[k][q] = begun<Sum>();
      if (unit < end) {
        const int64_t o = unit / chunks, first = unit % chunks * kChunk;
        const In* from = in + place(s + 15, static_cast<int>(s[13]), o) + (first + 4 * lane) * kWidth;
        const int n = (count - first < kChunk ? static_cast<int>(count - first) : kChunk) - 4 * lane;
        double about[kWidth] = {};
        if constexpr (kSquares)
          for (int k = 0; k < kWidth; ++k) about[k] = number_at(s + 7, data, o * kWidth + k);
        int j = 0;
        if ((reinterpret_cast<uint64_t>(from) & (alignof(Pixels) - 1)) == 0) {
          #pragma unroll 4
          for (; j + 4 <= n; j += kPartials) {
            const Pixels x = *reinterpret_cast<const Pixels*>(from + j * kWidth);
            PENSTOCK_UNROLL
            for (int q = 0; q < 4; ++q) {
              PENSTOCK_UNROLL
              for (int k = 0; k < kWidth; ++k) a[k][q] = joined(a[k][q], summand(x.v[q * kWidth + k], about[k]));
            }
          }
        }
        for (; j < n; j += kPartials) {
          PENSTOCK_UNROLL
          for (int q = 0; q < 4; ++q) {
            PENSTOCK_UNROLL
            for (int k = 0; k < kWidth; ++k)
              if (j + q < n) a[k][q] = joined(a[k][q], summand(from[(j + q) * kWidth + k], about[k]));
          }
        }
      }
      for (int k = 0; k < kWidth; ++k)
        for (int q = 0; q < 4; ++q) partial[(item / 32 * kWidth + k) * kPartials + 4 * lane + q] = a[k][q];
    }
    __syncthreads();
    for (int n = kPartials / 2; n > 0; n /= 2) {
      for (int item = threadIdx.x; item < kUnits * kWidth * n; item += blockDim.x) {
        Sum* p = partial + item / n * kPartials + item % n;
        p[0] = joined(p[0], p[n]);
      }
      __syncthreads();
    }
    for (int item = threadIdx.x; item < kUnits * kWidth && first_unit + item / kWidth < end; item += blockDim.x)
      sums[first_unit * kWidth + item] = static_cast<Total>(partial[item * kPartials]);
    __syncthreads();
  }
}
)";

// Many adjacent results: a block makes the sums of 32 of them over a chunk.
constexpr const char* kSumColumns = R"(
__device__ inline void run(const char* table) {
%ENTRY%
  const In* in = reinterpret_cast<const In*>(s[6]);
  Total* sums = reinterpret_cast<Total*>(s[10]);
  const int64_t count = s[1], chunks = s[11], width = s[12], groups = (width + 31) / 32;
  const int kept = static_cast<int>(s[13]), summed = static_cast<int>(s[14]);
  PENSTOCK_SHARED(Total, partial);
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t column = unit % groups * 32, rest = unit / groups, chunk = rest % chunks, o = rest / chunks;
    const int64_t first = chunk * kChunk;
    const In* from = in + place(s + 15, kept, o) + column;
    const int n = count - first < kChunk ? static_cast<int>(count - first) : kChunk;
    for (int item = threadIdx.x; item < kPartials * 32; item += blockDim.x) {
      const int c = item % 32;
      Total a = begun<Total>();
      if (column + c < width) {
        double about = 0;
        if constexpr (kSquares) about = number_at(s + 7, data, o * width + column + c);
        if (summed == 1) {
          const int64_t stride = s[32];
          #pragma unroll 4
          for (int j = item / 32; j < n; j += kPartials) a = joined(a, term(from[(first + j) * stride + c], about));
        } else {
          for (int j = item / 32; j < n; j += kPartials) 
            a = joined(a, term(from[place(s + 31, summed, first + j) + c], about));
        }
      }
      partial[item] = a;
    }
    __syncthreads();
    for (int n = kPartials / 2; n > 0; n /= 2) {
      for (int item = threadIdx.x; item < n * 32; item += blockDim.x) 
        partial[item] = joined(partial[item], partial[item + n * 32]);
      __syncthreads();
    }
    for (int item = threadIdx.x; item < 32 && column + item < width; item += blockDim.x)
      sums[rest * width + column + item] = partial[item];
    __syncthreads();
  }
}
)";

constexpr const char* kSum = R"(
constexpr int kLoad = sizeof(In) == 1 ? 16 : sizeof(In) == 2 ? 8 : 4;
struct alignas(sizeof(In) * kLoad > 16 ? 16 : sizeof(In) * kLoad) Pack { In v[kLoad]; };
__device__ inline void run(const char* table) {
%ENTRY%
  const In* in = reinterpret_cast<const In*>(s[6]);
  Total* sums = reinterpret_cast<Total*>(s[10]);
  const int64_t count = s[1], chunks = s[11], width = s[12];
  const int kept = static_cast<int>(s[13]), summed = static_cast<int>(s[14]);
  const int64_t *kept_loops = s + 15, *summed_loops = s + 31;
  PENSTOCK_SHARED(Sum, partial);
  for (int64_t first_unit = begin; first_unit < end; first_unit += kUnits) {
    for (int item = threadIdx.x; item < kUnits * 32; item += blockDim.x) {
      const int64_t unit = first_unit + item / 32;
      const int lane = item % 32;
      Sum a[4] = {begun<Sum>(), begun<Sum>(), begun<Sum>(), begun<Sum>()};
      if (unit < end) {
        const int64_t k = unit % width, rest = unit / width, chunk = rest % chunks, o = rest / chunks;
        const int64_t first = chunk * kChunk;
        const In* from = in + place(kept_loops, kept, o) + k;
        const int n = count - first < kChunk ? static_cast<int>(count - first) : kChunk;
        double about = 0;
        if constexpr (kSquares) about = number_at(s + 7, data, o * width + k);
        if (summed <= 1) {
          const int64_t stride = summed ? summed_loops[1] : 0;
          from += first * stride;
          int j = 0;  // of the chunk, the same for all lanes
          if (stride == 1 && (reinterpret_cast<uint64_t>(from) & (alignof(Pack) - 1)) == 0) {
            if constexpr (small<In> && !kSquares) {
              PENSTOCK_UNROLL
              for (; j + 32 * kLoad <= n; j += 32 * kLoad) {
                const Pack x = *reinterpret_cast<const Pack*>(from + j + kLoad * lane);
                PENSTOCK_UNROLL
                for (int q = 0; q < kLoad; ++q) a[q % 4] = joined(a[q % 4], summand(x.v[q], 0));
              }
            } else if constexpr (kLoad == 4) {
              #pragma unroll 8
              for (; j + kPartials <= n; j += kPartials) {
                const Pack x = *reinterpret_cast<const Pack*>(from + j + 4 * lane);
                for (int q = 0; q < 4; ++q) a[q] = joined(a[q], summand(x.v[q], about));
              }
            }
          }
          #pragma unroll 4
          for (; j < n; j += kPartials) {
            const int at = j + 4 * lane;
            for (int q = 0; q < 4; ++q)
              if (at + q < n) a[q] = joined(a[q], summand(from[(at + q) * stride], about));
          }
        } else {
          for (int j = 4 * lane; j < n; j += kPartials)
            for (int q = 0; q < 4 && j + q < n; ++q)
              a[q] = joined(a[q], summand(from[place(summed_loops, summed, first + j + q)], about));
        }
      }
      for (int q = 0; q < 4; ++q) partial[item / 32 * kPartials + 4 * lane + q] = a[q];
    }
    __syncthreads();
    for (int n = kPartials / 2; n > 0; n /= 2) {
      for (int item = threadIdx.x; item < kUnits * n; item += blockDim.x) {
        Sum* p = partial + item / n * kPartials + item % n;
        p[0] = joined(p[0], p[n]);
      }
      __syncthreads();
    }
    for (int item = threadIdx.x; item < kUnits && first_unit + item < end; item += blockDim.x)
      sums[first_unit + item] = static_cast<Total>(partial[item * kPartials]);
    __syncthreads();
  }
}
)";

constexpr const char* kSumFew = R"(
__device__ inline void run(const char* table) {
%ENTRY%
  const In* in = reinterpret_cast<const In*>(s[6]);
  const int count = static_cast<int>(s[1]);
  const Index width = static_cast<Index>(s[12]);
  const int kept = static_cast<int>(s[13]), summed = static_cast<int>(s[14]);
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const Index r = static_cast<Index>(i), o = width == 1 ? r : r / width;
    const In* from = in + place(s + 15, kept, o) + (r - o * width);
    double about = 0;
    Total p[kFew];
    if constexpr (kSquares) about = number_at(s + 7, data, r);
    PENSTOCK_UNROLL
    for (int j = 0; j < kFew; ++j)
      p[j] = j < count ? joined(begun<Total>(), term(from[place(s + 31, summed, static_cast<Index>(j))], about))
                       : begun<Total>();
    PENSTOCK_UNROLL
    for (int n = kFew / 2; n > 0; n /= 2) {
      PENSTOCK_UNROLL
      for (int j = 0; j < n; ++j) p[j] = joined(p[j], p[j + n]);
    }
    finish(s, r, p[0]);
  }
}
)";

// The chunks of each input (a segment), then the inputs in order.
constexpr const char* kFoldChunks = R"(
__device__ inline void run(const char* table) {
%ENTRY%
  const int64_t* segments = reinterpret_cast<const int64_t*>(data + s[7]);
  const int64_t width = s[8];
  PENSTOCK_SHARED(Total, partial);
  Total* total = partial + kUnits * 32;
  for (int64_t first = begin; first < end; first += kUnits) {
    for (int item = threadIdx.x; item < kUnits; item += blockDim.x) total[item] = begun<Total>();
    for (int64_t segment = 0; segment < s[6]; ++segment) {
      const Total* sums = reinterpret_cast<const Total*>(segments[2 * segment]);
      const int64_t chunks = segments[2 * segment + 1];
      for (int item = threadIdx.x; item < kUnits * 32; item += blockDim.x) {
        const int64_t r = first + item / 32;
        Total a = begun<Total>();
        if (r < end) {
          const Total* from = sums + r / width * chunks * width + r % width;
          #pragma unroll 4
          for (int64_t c = item % 32; c < chunks; c += 32) a = joined(a, from[c * width]);
        }
        partial[item] = a;
      }
      __syncthreads();
      for (int n = 16; n > 0; n /= 2) {
        for (int item = threadIdx.x; item < kUnits * n; item += blockDim.x) {
          Total* p = partial + item / n * 32 + item % n;
          p[0] = joined(p[0], p[n]);
        }
        __syncthreads();
      }
      for (int item = threadIdx.x; item < kUnits; item += blockDim.x) 
        total[item] = joined(total[item], partial[item * 32]);
      __syncthreads();
    }
    for (int item = threadIdx.x; item < kUnits && first + item < end; item += blockDim.x)
      finish(s, first + item, total[item]);
    __syncthreads();
  }
}
)";

// The initial value of a fold and the type of its result: the words that its kernels begin with.
std::string fold_words(Fold fold, DType type) {
  const DType total = folded_type(fold, type);
  const bool least = fold == Fold::least;
  std::string start = "0";
  if (fold >= Fold::least) {
    start = fmt::format("std::numeric_limits<{}>::{}()", element(total), least ? "max" : "lowest");
    if (total == DType::float32)
      start = least ? "std::bit_cast<float>(0x7f800000u)" : "std::bit_cast<float>(0xff800000u)";
    if (total == DType::float64)
      start = least ? "std::bit_cast<double>(0x7ff0000000000000ull)" : "std::bit_cast<double>(0xfff0000000000000ull)";
  }
  return fmt::format("typedef {} Total;\nconstexpr int kFold = {};\n#define kStart {}\n", element(total),
                     static_cast<int>(fold), start);
}

// kFold uses only partial results.
std::string finish_text(SumUse use, Statistic statistic, DType out_type) {
  const std::string head =
      "__device__ inline void finish(const int64_t* s, int64_t r, Total sum) {\n  const double count = "
      "static_cast<double>(s[1]);\n";
  const char* const nan = "std::bit_cast<double>(0x7ff8000000000000ull)";
  const std::string free = "(sum / (count - static_cast<double>(s[3])))";
  const auto store = [&](const std::string& v) {
    return fmt::format("{}  reinterpret_cast<{}*>(s[2])[r] = {};\n}}\n", head, element(out_type), v);
  };
  const auto number = [&](const std::string& v) { return store(fmt::format("stored<{}>({})", element(out_type), v)); };
  switch (use) {
    case SumUse::mean: return head + "  reinterpret_cast<double*>(s[2])[r] = sum / count;\n}\n";
    case SumUse::factor:
      return head + R"(  const double epsilon = std::bit_cast<double>(s[4]), scale = std::bit_cast<double>(s[5]);
  const double d = sqrt((s[1] > s[3] ? sum / static_cast<double>(s[1] - s[3]) : 0.0) + epsilon);
  reinterpret_cast<double*>(s[2])[r] = d == 0 ? 0.0 : scale / d;
}
)";
    case SumUse::statistic: break;
  }
  switch (statistic) {
    case Statistic::mean:
    case Statistic::mean_square: return number(fmt::format("s[1] ? sum / count : {}", nan));
    case Statistic::rms: return number(fmt::format("s[1] ? sqrt(sum / count) : {}", nan));
    case Statistic::variance: return number(free);
    case Statistic::std_dev: return number(fmt::format("sqrt{}", free));
    case Statistic::min:
    case Statistic::max: return store(fmt::format("static_cast<{}>(sum)", element(out_type)));
    case Statistic::sum: break;
  }
  return R"(template <class T> __device__ inline T whole(Total v) {
  if constexpr (!std::is_integral_v<Total>) return stored<T>(v);
  else if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>) return stored<T>(static_cast<double>(v));
  else if constexpr (static_cast<Total>(-1) < 0) {
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
)" + store(fmt::format("whole<{}>(sum)", element(out_type)));
}

void put_output(int64_t* w, const SumOutput& o) {
  w[kCount] = o.count;
  w[kOut] = reinterpret_cast<int64_t>(o.out);
  w[kDdof] = o.ddof;
  w[kEpsilon] = std::bit_cast<int64_t>(o.epsilon);
  w[kScale] = std::bit_cast<int64_t>(o.scale);
}

// An entry of `work` for an input; its count is that of the input alone.
int64_t* add_input(EntryTable& entries, const SumInput& input, const ReductionLoops& loops, int64_t work) {
  static const ResultNumbers none{nullptr, {}, 0};
  const ResultNumbers& about = input.about ? *input.about : none;
  const int64_t here = entries.data(about.here.data(), about.here.size() * sizeof(double));
  int64_t* w = entries.add(work);
  w[kCount] = input.plan->count;
  w[kIn] = reinterpret_cast<int64_t>(input.in.data);
  put_numbers(w + kAbout, about, here);
  w[kWidth] = loops.width;
  w[kKept] = loops.kept.size(), w[kSummed] = loops.summed.size();
  for (int k = 0; k < loops.kept.size(); ++k)
    w[kLoops + 2 * k] = loops.kept[k].extent, w[kLoops + 2 * k + 1] = loops.kept[k].stride;
  int64_t* summed = w + kLoops + 2 * Shape::kMaxDims;
  for (int k = 0; k < loops.summed.size(); ++k)
    summed[2 * k] = loops.summed[k].extent, summed[2 * k + 1] = loops.summed[k].stride;
  return w;
}

}  // namespace

void enqueue_sums(std::span<const SumInput> inputs, std::span<const SumOutput> outputs, SumUse use, DType out_type,
                  Launches& to, Statistic statistic) {
  if (inputs.empty()) return;
  const DType type = inputs[0].in.dtype;
  const Fold fold = use == SumUse::mean     ? Fold::numbers
                    : use == SumUse::factor ? Fold::squares
                                            : fold_of(statistic, type);
  const bool squares = fold == Fold::squares, together = outputs.size() == 1 && inputs.size() > 1;
  const DType total = folded_type(fold, type);
  const std::string words = fold_words(fold, type);
  const std::string source = fmt::format("typedef {} In;\nconstexpr bool kSquares = {};\nconstexpr int kUnits = {};\n",
                                         element(type), squares, kUnits) +
                             words + kJoined + kResultNumbers + kPlaces;
  const std::string finish = finish_text(use, statistic, out_type);
  const std::string use_name =
      fmt::format("{} {} {}", static_cast<int>(use), static_cast<int>(statistic), name_of(out_type));
  const std::string about = fmt::format("{} {}", name_of(type), static_cast<int>(fold));
  enum Way { few4, few16, warps, columns, channels2, channels3, channels4, ways };
  std::vector<EntryTable> tables(ways, EntryTable(kSumWords));
  EntryTable folds(kFoldWords);
  std::vector<int64_t> segments;
  bool wide = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ReductionPlan& plan = *inputs[i].plan;
    if (plan.results == 0) continue;
    const ReductionLoops loops(plan);
    wide |= plan.in.volume() >= int64_t{1} << 31;
    if (plan.count <= kFew && !together) {
      put_output(add_input(tables[plan.count <= kFewest ? few4 : few16], inputs[i], loops, plan.results), outputs[i]);
      continue;
    }
    const int64_t chunks = (plan.count + kReductionChunk - 1) / kReductionChunk;
    void* sums = to.scratch(static_cast<size_t>(chunks * plan.results) * size_of(total));
    if (chunks > 0) {
      const int64_t outer = plan.results / loops.width;
      const bool pixels =
          loops.width > 1 && loops.width <= 4 && loops.summed.size() == 1 && loops.summed[0].stride == loops.width;
      const Way way = pixels                        ? static_cast<Way>(channels2 + loops.width - 2)
                      : loops.width >= kColumns / 2 ? columns
                                                    : warps;
      const int64_t work = pixels           ? outer
                           : way == columns ? outer * ((loops.width + kColumns - 1) / kColumns)
                                            : plan.results;
      int64_t* w = add_input(tables[way], inputs[i], loops, chunks * work);
      w[kSums] = reinterpret_cast<int64_t>(sums);
      w[kChunks] = chunks;
    }
    segments.push_back(reinterpret_cast<int64_t>(sums)), segments.push_back(chunks);
    if (together && i + 1 < inputs.size()) continue;
    const int64_t at = folds.data(segments.data(), segments.size() * sizeof(int64_t));
    int64_t* w = folds.add(plan.results);
    put_output(w, outputs[together ? 0 : i]);
    w[kSegments] = static_cast<int64_t>(segments.size() / 2);
    w[kSegmentData] = at;
    w[kFoldWidth] = loops.width;
    segments.clear();
  }
  for (int way = 0; way < ways; ++way) {
    const EntryTable& table = tables[way];
    if (table.empty()) continue;
    if (way <= few16) {
      const int most = way == few4 ? kFewest : kFew;
      to.add(to.kernel(fmt::format("sum few {} {} {} {}", most, wide, about, use_name),
                       [&] {
                         return whole_text(kSumWords, source +
                                                          fmt::format("typedef {} Index;\nconstexpr int kFew = {};\n",
                                                                      wide ? "int64_t" : "int32_t", most) +
                                                          finish + with_entry(kSumFew));
                       }),
             table, kStageThreads);
    } else if (way == warps) {
      to.add(to.kernel("sum " + about, [&] { return whole_text(kSumWords, source + with_entry(kSum)); }), table, kUnits,
             kUnits * kPartialSums * sizeof(double));
    } else if (way == columns) {
      to.add(to.kernel("sum columns " + about, [&] { return whole_text(kSumWords, source + with_entry(kSumColumns)); }),
             table, 1, kPartialSums * kColumns * sizeof(double));
    } else {
      const int width = way - channels2 + 2;
      to.add(to.kernel(fmt::format("sum {} channels {}", width, about),
                       [&] {
                         return whole_text(kSumWords, source + fmt::format("constexpr int kWidth = {};\n", width) +
                                                          with_entry(kSumChannels));
                       }),
             table, kUnits, static_cast<size_t>(kUnits) * width * kPartialSums * sizeof(double));
    }
  }
  if (!folds.empty())
    to.add(to.kernel(fmt::format("fold {} {} {}", name_of(total), static_cast<int>(fold), use_name),
                     [&] {
                       return whole_text(kFoldWords, fmt::format("constexpr int kUnits = {};\n", kUnits) + words +
                                                         kJoined + finish + with_entry(kFoldChunks));
                     }),
           folds, kUnits, kUnits * 33 * sizeof(double));
}

void enqueue_reductions(std::span<const ReductionStep> steps, Launches& to) {
  if (steps.empty()) return;
  const Statistic statistic = steps[0].rule.statistic;  // one for all
  const bool squares = fold_of(statistic, steps[0].in.dtype) == Fold::squares;
  std::vector<ResultNumbers> about(steps.size());
  GivenNumbers given;
  for (size_t i = 0; i < steps.size() && squares; ++i) {
    const View& v = steps[i].rule.about;
    if (!v.data) about[i] = {nullptr, {0.0}, 0};
    else if (v.dtype == DType::float64) about[i] = {v.as<const double>(), {}, v.volume() == 1 ? 0 : 1};
    else about[i] = given.numbers({{}, v}, steps[i].plan.results, {}, to);
  }
  given.enqueue(to);
  std::vector<SumInput> inputs;
  std::vector<SumOutput> outputs;
  for (size_t i = 0; i < steps.size(); ++i) {
    const ReductionStep& s = steps[i];
    inputs.push_back({s.in, &s.plan, squares ? &about[i] : nullptr});
    outputs.push_back({s.out.data, s.plan.count, s.rule.ddof});
  }
  enqueue_sums(inputs, outputs, SumUse::statistic, steps[0].out.dtype, to, statistic);
}

}  // namespace penstock
