// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/reduction.h"

#include <algorithm>
#include <bit>

namespace penstock {

ReductionPlan::ReductionPlan(const Shape& shape, std::span<const int> axes) : in(shape) {
  for (int a : axes) reduced[a] = true;
  for (int d = 0; d < in.size(); ++d) (reduced[d] ? count : results) *= in[d];
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
    else
      loops.push_back({{plan.in[d], strides[d]}, plan.reduced[d]});
  }
  // The innermost kept run is summed side by side, so that memory is read in order.
  if (!loops.empty() && !loops.back().reduced) width = loops.back().loop.extent, loops.pop_back();
  for (const Merged& m : loops) (m.reduced ? summed : kept).push_back(m.loop);
}

namespace {

constexpr int64_t kColumns = 256;  // results that are summed at once where many lie side by side

// A power of two, enough for so many partial sums: the others are 0.
int64_t partial_sums(int64_t used, int most) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(used, 1, most))));
}

// Folds n rows of `width` partial sums into the first.
void fold_halves(double* partial, int64_t n, int64_t width) {
  while (n /= 2)
    for (int64_t i = 0; i < n * width; ++i) partial[i] += partial[i + n * width];
}

template <class T, bool kSquares>
void reduce_typed(const View& in, const ReductionPlan& plan, const double* about, double* sums) {
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
  if (width == 1 && plan.count <= 4 && summed.size() <= 1) {  // the same order, with less around it
    const int64_t apart = summed.empty() ? 0 : summed[0].stride;
    for (int64_t o = 0; o < outer; ++o) {
      const T* v = begin_of(o);
      double p[4] = {};
      for (int64_t j = 0; j < plan.count; ++j) {
        p[j] = static_cast<double>(v[j * apart]);
        if constexpr (kSquares) p[j] -= about[o], p[j] *= p[j];
      }
      sums[o] += (p[0] + p[2]) + (p[1] + p[3]);
    }
    return;
  }
  std::vector<double> partial(static_cast<size_t>(n * columns)), level(static_cast<size_t>(levels * columns));
  std::vector<double> about_block(kSquares ? partial.size() : 0);
  const int64_t run = summed.empty() ? 1 : summed.back().extent, step = summed.empty() ? 0 : summed.back().stride;
  const int64_t runs = plan.count / std::max<int64_t>(run, 1);
  for (int64_t o = 0; o < outer; ++o) {
    const T* base = begin_of(o);
    for (int64_t first = 0; first < width; first += columns) {
      const int64_t w = std::min(columns, width - first), block = n * w;
      std::fill(partial.begin(), partial.end(), 0.0);
      std::fill(level.begin(), level.end(), 0.0);
      if constexpr (kSquares)
        for (int64_t k = 0; k < block; ++k) about_block[k] = about[o * width + first + k % w];
      const double* about_here = about_block.data();
      auto add = [&](double* to, const T& v, int64_t i) {
        const double d = static_cast<double>(v);
        if constexpr (kSquares) {
          const double e = d - about_here[i];
          *to += e * e;
        } else {
          *to += d;
        }
      };
      int64_t j = 0, chunk = 0;  // j: in the chunk
      auto fold = [&] {
        fold_halves(partial.data(), n, w);
        for (int64_t k = 0; k < w; ++k) level[chunk % levels * w + k] += partial[k];
        std::fill(partial.begin(), partial.end(), 0.0);
        ++chunk, j = 0;
      };
      for (int64_t r = 0; r < runs; ++r) {
        const T* row = base + first;
        int64_t left = r;
        for (int k = summed.empty() ? 0 : summed.size() - 1; k-- > 0; left /= summed[k].extent)
          row += left % summed[k].extent * summed[k].stride;
        for (int64_t i = 0; i < run;) {
          if (step == w && j % n == 0 &&
              i + n <= run) {  // neighbors: one run in memory, one addition to each partial sum
            double* p = partial.data();
            const T* v = row + i * w;
            for (int64_t k = 0; k < block; ++k) add(p + k, v[k], k);
            i += n, j += n;
          } else {
            double* p = partial.data() + j % n * w;
            const T* v = row + i * step;
            for (int64_t k = 0; k < w; ++k) add(p + k, v[k], k);
            ++i, ++j;
          }
          if (j == kReductionChunk) fold();
        }
      }
      if (j > 0) fold();
      fold_halves(level.data(), levels, w);
      for (int64_t k = 0; k < w; ++k) sums[o * width + first + k] += level[k];
    }
  }
}

}  // namespace

void reduce(const View& in, const ReductionPlan& plan, const double* squares_about, double* sums) {
  if (plan.count == 0 || plan.results == 0) return;
  dispatch(in.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (squares_about) reduce_typed<T, true>(in, plan, squares_about, sums);
    else reduce_typed<T, false>(in, plan, nullptr, sums);
  });
}

}  // namespace penstock
