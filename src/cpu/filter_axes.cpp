// SPDX-License-Identifier: Apache-2.0
#include "cpu/filter_axes.h"

namespace penstock {

namespace {

// A filter that takes each sample as it is, such as one axis of a resize that keeps its extent, reads that sample
// alone. Not for floating point, where a weight of 0 makes NaN of infinity.
void leave_ones(TapTable& t) {
  const auto taps = static_cast<size_t>(t.taps), n = t.first.size();
  if (taps < 2) return;
  const auto is_one = [&](size_t o) {
    const auto w = t.weight.begin() + static_cast<std::ptrdiff_t>(o * taps);
    const auto end = w + t.taps, one = std::find_if(w, end, [](float v) { return v != 0; });
    return one != end && *one == 1 && std::all_of(one + 1, end, [](float v) { return v == 0; });
  };
  for (size_t o = 0; o < n; ++o)
    if (!is_one(o)) return;
  t.lowest = t.highest = n ? t.first[0] : 0;
  for (size_t o = 0; o < n; ++o) {
    size_t k = 0;
    while (t.weight[o * taps + k] == 0) ++k;
    t.first[o] += static_cast<int32_t>(k);
    t.lowest = o ? std::min<int64_t>(t.lowest, t.first[o]) : t.first[o];
    t.highest = std::max<int64_t>(t.highest, t.first[o] + 1);
  }
  t.taps = 1, t.copies = true;
  t.weight.assign(n, 1.0f);
}

// The table of the outputs that read the filter, in slot `slot` of the scratch; made anew if the slot holds another.
void filter_taps(CpuScratch::State& s, int slot, const DimFilter& f, int64_t count, DType source) {
  if (s.cached_in[slot] == f.in && s.cached_begin[slot] == f.begin && s.cached_step[slot] == f.step &&
      s.cached_count[slot] == count && s.cached_type[slot] == source && s.cached[slot] == f.filter)
    return;
  s.cached_in[slot] = -1;  // nobody owns the table if this throws
  f.table(count, s.taps[slot]);
  if (is_integer(source)) leave_ones(s.taps[slot]);
  s.cached[slot] = f.filter;
  s.cached_in[slot] = f.in, s.cached_begin[slot] = f.begin, s.cached_step[slot] = f.step;
  s.cached_count[slot] = count, s.cached_type[slot] = source;
}

}  // namespace

FilterAxis make_axis(SampleRun& run, int dim, int slot) {
  FilterAxis a;
  a.dim = dim;
  TapTable& table = run.scratch.taps[slot];
  a.taps = &table;
  if (a.dim < 0) {
    run.scratch.cached_in[slot] = -1;
    table.taps = 1, table.lowest = 0, table.highest = 1, table.copies = true;
    table.first.assign(1, 0), table.weight.assign(1, 1.0f);
    return a;
  }
  const SampleGeometry& g = run.scratch.geometry;
  const LoopDim& d = g.dims[dim];
  a.lo = d.lo, a.count = d.hi - d.lo;
  a.start = d.start - run.origin[dim], a.step = d.step;
  a.stride = d.sample_stride(), a.out_stride = d.out_stride;
  if (d.filter >= 0) {
    filter_taps(run.scratch, slot, g.filters[d.filter], a.count, run.inputs[0].dtype);
  } else {
    run.scratch.cached_in[slot] = -1;
    table.taps = 1;
    table.copies = true;
    table.lowest = d.lo, table.highest = d.hi;
    table.weight.assign(a.count, 1.0f);
    table.first.resize(a.count);
    for (int64_t i = 0; i < a.count; ++i) table.first[i] = static_cast<int32_t>(a.lo + i);
  }
  a.plain = table.copies;
  return a;
}

std::vector<int32_t> gathered(const SampleGeometry& g, const LoopDim& d, int64_t origin) {
  TapTable taps;
  g.filters[d.filter].table(d.hi - d.lo, taps);
  for (auto& k : taps.first) k = static_cast<int32_t>(d.start + d.step * k - origin);
  return taps.first;
}

}  // namespace penstock
