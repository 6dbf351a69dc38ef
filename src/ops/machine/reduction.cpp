// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/reduction.h"

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

namespace {

double total(const double* partial, int64_t step) {
  double p[kPartialSums];
  for (int i = 0; i < kPartialSums; ++i) p[i] = partial[i * step];
  for (int n = kPartialSums / 2; n > 0; n /= 2)
    for (int i = 0; i < n; ++i) p[i] += p[i + n];
  return p[0];
}

// A dimension of the loop nest; neighbors of the same kind are merged.
struct Loop {
  int64_t extent, stride;
  bool reduced;
};

template <class T, bool kSquares>
void reduce_typed(const View& in, const ReductionPlan& plan, const double* about, double* sums) {
  std::vector<Loop> loops;
  const Shape strides = dense_strides(plan.in);
  for (int d = 0; d < plan.in.size(); ++d) {
    if (plan.in[d] == 1) continue;
    if (!loops.empty() && loops.back().reduced == plan.reduced[d])
      loops.back() = {loops.back().extent * plan.in[d], strides[d], plan.reduced[d]};
    else
      loops.push_back({plan.in[d], strides[d], plan.reduced[d]});
  }
  // The innermost kept run is summed side by side, so that memory is read in order.
  Loop inner{1, 1, false};
  if (!loops.empty() && !loops.back().reduced) inner = loops.back(), loops.pop_back();
  std::vector<Loop> kept, summed;
  for (const Loop& l : loops) (l.reduced ? summed : kept).push_back(l);
  const T* data = in.as<T>();
  const int64_t width = inner.extent, outer = plan.results / std::max<int64_t>(width, 1);
  const int64_t block = kPartialSums * width;
  std::vector<double> partial(static_cast<size_t>(block)), about_block(kSquares ? static_cast<size_t>(block) : 0);
  const int64_t run = summed.empty() ? 1 : summed.back().extent, step = summed.empty() ? 0 : summed.back().stride;
  const int64_t runs = plan.count / std::max<int64_t>(run, 1);
  for (int64_t o = 0; o < outer; ++o) {
    const T* base = data;
    int64_t rest = o;
    for (size_t k = kept.size(); k-- > 0; rest /= kept[k].extent) base += rest % kept[k].extent * kept[k].stride;
    std::fill(partial.begin(), partial.end(), 0.0);
    if constexpr (kSquares)
      for (int64_t k = 0; k < block; ++k) about_block[k] = about[o * width + k % width];
    int64_t j = 0;
    for (int64_t r = 0; r < runs; ++r) {
      const T* row = base;
      int64_t left = r;
      for (size_t k = summed.empty() ? 0 : summed.size() - 1; k-- > 0; left /= summed[k].extent) row += left % summed[k].extent * summed[k].stride;
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
      auto add_one = [&](int64_t i) {
        double* p = partial.data() + j % kPartialSums * width;
        const T* v = row + i * step;
        for (int64_t k = 0; k < width; ++k) add(p + k, v[k], k);
        ++j;
      };
      int64_t i = 0;
      if (step == width) {  // sixteen neighbors at a time: one run in memory, one addition to each partial sum
        for (; i < run && j % kPartialSums != 0; ++i) add_one(i);
        double* p = partial.data();
        for (; i + kPartialSums <= run; i += kPartialSums, j += kPartialSums)
          for (int64_t k = 0; k < block; ++k) add(p + k, row[i * width + k], k);
      }
      for (; i < run; ++i) add_one(i);
    }
    for (int64_t k = 0; k < width; ++k) sums[o * width + k] += total(partial.data() + k, width);
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
