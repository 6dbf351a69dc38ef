// SPDX-License-Identifier: Apache-2.0
#include "operator/host_work.h"

#include <algorithm>

#include "operator/broadcast.h"
#include "operator/convert_dense.h"
#include "operator/statistics.h"
#include "operator/stored.h"

namespace penstock {

SampleNumbers SampleNumbers::part(int64_t begin, int64_t end) const {
  SampleNumbers p;
  if (on_gpu()) {
    p.there = reshaped(there, Shape{end - begin});
    p.there.data = there.as<char>() + begin * static_cast<int64_t>(size_of(there.dtype));
  } else {
    p.here.assign(here.begin() + begin, here.begin() + end);
  }
  return p;
}

SampleNumbers numbers_of(const PerSample<std::vector<float>>& argument, int sample) {
  SampleNumbers n;
  const Batch* batch = argument.batch();
  if (!batch || batch->device().kind == DeviceKind::cpu) {
    n.here = argument[sample];
    return n;
  }
  const View v = batch->view(sample);
  if (!v.dense()) bad_argument("a value on the GPU is not contiguous: fn.copy() makes it dense");
  if (v.volume() > 0) n.there = reshaped(v, Shape{v.volume()});
  return n;
}

// Without the repetitions of a broadcast, which need no conversion.
static View once(View v) {
  for (int d = 0; d < v.shape.size(); ++d)
    if (v.strides[d] == 0 && v.shape[d] > 1) v.shape[d] = 1;
  return v;
}

void HostWork::copy(const View& from, const View& to) {
  if (from.dtype == to.dtype) copy_strided(from, to);
  else if (!convert_dense(from, to)) assign(once(from), to);
}

void HostWork::fill(const View& to, const SampleNumbers& values, int channel_dim) {
  fill_strided(to, values.here, channel_dim);
}

void HostWork::draw(const View& out, const RandomStream& stream, const DrawRule& rule,
                    std::span<const std::byte> coef) {
  rule.fill(out, stream, coef.data());
}

void HostWork::reduce(const View& given, const ReductionPlan& plan, const ReductionRule& rule, const View& out) {
  Tensor owner;
  const View in = dense_numbers(given, owner);
  const Fold fold = fold_of(rule.statistic, in.dtype);
  if (fold == Fold::numbers || fold == Fold::squares) {
    std::vector<double> sums(static_cast<size_t>(plan.results)), about;
    if (fold == Fold::squares) {
      about.resize(sums.size());
      const bool one = rule.about.volume() <= 1;
      if (rule.about.data)
        for (size_t i = 0; i < about.size(); ++i)
          about[i] = element_as_double(rule.about, one ? 0 : static_cast<int64_t>(i));
    }
    penstock::reduce(in, plan, fold == Fold::squares ? about.data() : nullptr, sums.data());
    for (int64_t i = 0; i < plan.results; ++i)
      store_value(out, i, finished(rule.statistic, sums[i], plan.count, rule.ddof));
    return;
  }
  const DType type = folded_type(fold, in.dtype);
  std::vector<std::byte> results(static_cast<size_t>(plan.results) * size_of(type));
  fold_elements(in, plan, fold, results.data());
  assign({results.data(), type, {}, out.shape, dense_strides(out.shape)}, out);
}

void HostWork::normalize(const View& given, const ReductionPlan& plan, const NormalizeRule& r, const View& out) {
  Tensor owner;
  const View in = dense_numbers(given, owner);
  std::vector<double> mean = r.has_mean ? for_each_result(r.mean, plan) : std::vector<double>{};
  const Moments own = r.common || (r.has_mean && r.has_stddev)
                          ? Moments{}
                          : statistics(in, plan, mean, !r.has_stddev, r.ddof, r.epsilon);
  const Moments& found = r.common ? *r.common : own;
  if (!r.has_mean) mean = found.mean;
  std::vector<double> factor = found.deviation;
  if (r.has_stddev) {
    factor = for_each_result(r.stddev, plan);
    for (double& d : factor) d = sqrt(d * d + r.epsilon);
  }
  for (double& d : factor) d = d == 0 && !r.zero_divides ? 0.0 : r.scale / d;
  apply_affine(in, plan, mean, factor, r.shift, out);
}

void HostWork::map_axis(const View& in, const View& out, int axis, const AxisRule& rule,
                        std::span<const std::byte> coef) {
  const AxisExtents e(in.shape, out.shape, axis);
  const int64_t from = e.n * e.inner, to = e.m * e.inner;  // elements of one of the outer positions
  if (to == 0) return;
  const int64_t block = std::clamp<int64_t>(4096 / std::max(from, to), 1, std::max<int64_t>(e.outer, 1));
  std::vector<double> source(static_cast<size_t>(block * from)), results(static_cast<size_t>(block * to));
  for (int64_t o = 0; o < e.outer; o += block) {
    const int64_t count = std::min(block, e.outer - o);
    dispatch(in.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* values = in.as<T>() + o * from;
      for (int64_t i = 0; i < count * from; ++i) {
        if constexpr (std::is_same_v<T, Half>) source[i] = static_cast<float>(values[i]);
        else source[i] = static_cast<double>(values[i]);
      }
    });
    rule.apply(source.data(), results.data(), count, e.n, e.m, e.inner, coef.data());
    dispatch(out.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* values = out.as<T>() + o * to;
      for (int64_t i = 0; i < count * to; ++i) values[i] = stored<T>(results[i]);
    });
  }
}

SampleWork& host_work() {
  static HostWork work;
  return work;
}

}  // namespace penstock
