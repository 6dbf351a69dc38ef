// SPDX-License-Identifier: Apache-2.0
// Stages that resample or convolve: depth, then rows, then columns; then the tile program; then the store.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/crew.h"
#include "cpu/affine_rows.h"
#include "cpu/filter_axes.h"

namespace penstock {
namespace {

class Filter {
 public:
  explicit Filter(SampleRun& r)
      : run(r),
        rows(filter_rows(r.stage.target)),
        geometry(r.scratch.geometry),
        dims(geometry),
        z(make_axis(r, dims.dim[2], 2)),
        y(make_axis(r, dims.dim[1], 1)),
        x(make_axis(r, dims.dim[0], 0)),
        program(r, tile_length(std::max(r.in_planes, r.out_planes))),
        channels(r.in_planes),
        dtype(r.inputs[0].dtype),
        element(static_cast<int64_t>(size_of(dtype))) {
    base.clear();  // copy_row fills it once for a sample
    if (geometry.has_plane) {
      stride_c = geometry.plane.in_stride[0], out_plane = geometry.plane.out_stride;
      if (geometry.plane_pick >= 0) channel_index = gathered(geometry, geometry.plane, 0);
    }
    if (x.dim < 0) x.stride = channels;
    if (run.rows) stride_c = 1, x.stride = channels;  // as if they were in memory
    interleaved = channels == 1 ? (x.stride == 1) : (stride_c == 1 && x.stride == channels);
    group = interleaved ? channels : 1;
    groups = channels / group;
    lane = run.stage.values[run.stage.source].lane;
  }

  // What rows have in common; the number of rows that there are of each depth.
  int64_t begin() {
    if (x.count <= 0 || y.count <= 0 || z.count <= 0) return 0;
    indexed = x.plain && y.plain && z.plain;
    if (run.rows && (indexed || !rows_fit())) take_all_rows();
    if (!indexed && !channel_index.empty())
      bad_argument(
          "channels that reflect or wrap cannot be combined with a "
          "resampling");
    if (!indexed) prepare();
    return y.count;
  }

  // After begin(): rows [from, to).
  void run_rows(int64_t from, int64_t to) {
    first_row = from;
    for_each_outer(run, z, y, x, [&](const char* in, char* out) {
      for (int64_t k = 0; k < z.count; ++k)
        for (int64_t j = from; j < to; ++j) {
          char* row = out + ((z.lo + k) * z.out_stride + (y.lo + j) * y.out_stride + x.lo * x.out_stride) *
                                static_cast<int64_t>(size_of(run.output.dtype));
          if (indexed) copy_row(in, row, k, j);
          else filter_row(in, row, k, j);
        }
    });
    if (planned_pixels && large_output)
      std::atomic_thread_fence(std::memory_order_seq_cst);  // after stores past caches
  }

 private:
  SampleRun& run;
  const FilterRows& rows;
  const SampleGeometry& geometry;
  FilterDims dims;
  FilterAxis z, y, x;
  TileProgram program;
  int channels, group = 1, groups = 1;
  DType dtype;
  int64_t element, stride_c = 0, out_plane = 0;
  bool interleaved = true, planned = false, indexed = false;
  bool one_by_one = false;  // columns that are selected follow each other, as where nothing is resized
  int64_t first_row = 0;
  bool bytes_direct = false, shorts_direct = false, floats_direct = false;  // rows are read where they are
  bool direct = false;                                                      // results are stored as pixels
  bool planned_pixels = false, large_output = false;                        // and planned as one plane
  Lane lane = Lane::f32;
  // Columns that are read, in source order: [column, column + columns).
  int64_t column = 0, columns = 0;
  std::vector<int32_t>& base = run.scratch.base;
  std::vector<int32_t> channel_index;
  // Rows converted to float, in a ring of slots tagged with (depth, row). If a decoder makes rows on demand, the rows
  // are bytes.
  int64_t ring = 0, row_floats = 0;
  int64_t byte_row = 0;
  int64_t shared_lo = 0, shared_hi = 0;
  std::vector<float> convolved;
  LineVector<float>& pixels = run.scratch.pixels_of_row;
  std::vector<float> wide;  // planes in f32 if the source has another compute type

  static constexpr int64_t kLargestRing = 1 << 18;  // bytes: a ring that exceeds the second-level cache gains nothing

  // Only whole rows of interleaved bytes come from a decoder.
  bool rows_fit() const {
    return z.dim < 0 && channels <= 4 && dtype == DType::uint8 && run.plane_dim >= 0 && channel_index.empty();
  }

  void take_all_rows() {
    auto* const to = static_cast<uint8_t*>(const_cast<void*>(run.inputs[0].data));
    const Shape& s = run.inputs[0].shape;
    const int64_t bytes = s[1] * s[2];
    auto& last = run.scratch.bytes;  // what a row writes past its end must stay in the buffer
    if (static_cast<int64_t>(last.size()) < bytes + RegionRows::kSlack) last.resize(bytes + RegionRows::kSlack);
    // A row may spoil the beginning of the next one, which must come later.
    const auto aside = [&](int64_t i, uint8_t* row) {
      run.rows->read(i, row);
      std::memcpy(to + i * bytes, row, static_cast<size_t>(bytes));
    };
    if (bytes >= RegionRows::kSlack) {
      Crew::share(s[0], s[0] * bytes, [&](int64_t from, int64_t end) {
        for (int64_t i = from; i + 1 < end; ++i) run.rows->read(i, to + i * bytes);
        std::vector<uint8_t> row(static_cast<size_t>(bytes + RegionRows::kSlack));
        aside(end - 1, row.data());
      });
    } else {
      for (int64_t i = 0; i < s[0]; ++i) aside(i, last.data());
    }
    run.rows = nullptr;
  }

  void prepare() {
    const int64_t first = x.source(x.taps->lowest), last = x.source(x.taps->highest - 1);
    column = std::min(first, last);
    columns = std::max(first, last) - column + 1;
    base.resize(x.count);
    for (int64_t i = 0; i < x.count; ++i) base[i] = static_cast<int32_t>(x.source(x.taps->first[i]) - column);
    if (x.dim >= 0) find_shared_weights();
    auto& s = run.scratch;
    ring = y.taps->taps + 1;
    const int64_t row_bytes = (columns + 48) * channels * 4;
    // To separate pixels into planes costs what planes gain, so interleaved pixels stay so; and a filter whose outputs
    // share their weights needs no plan.
    const bool planes = channels == 1 || !interleaved || run.rows;
    if (rows.lanes && planes && x.dim >= 0 && shared_hi <= shared_lo && channels <= 4 &&
        ring * row_bytes <= kLargestRing) {
      plan(1);
      planned = s.plan.parts > 0;
    }
    bytes_direct = !planned && dtype == DType::uint8 && z.plain && (interleaved || x.stride == 1);
    const bool in_place = !planned && !run.rows && z.plain && (interleaved || x.stride == 1);
    shorts_direct = in_place && dtype == DType::uint16;
    floats_direct = in_place && dtype == DType::float32;
    if (run.rows && !planned && !bytes_direct) take_all_rows();
    if (planned) group = 1, groups = channels;
    direct = !planned && stores_pixels();
    if (direct) pixels.resize(static_cast<size_t>(std::min(program.tile_n(), x.count) * group) + 16);
    large_output = has_large_output(run);
    if (direct && rows.lanes && shared_hi <= shared_lo &&
        x.count * group * x.taps->taps * static_cast<int64_t>(sizeof(float)) <= kLargestRing) {
      plan(group);
      planned_pixels = s.plan.parts == 1;  // with more of them pixel by pixel is as fast
    }
    row_floats = (columns * group + 15) / 16 * 16 + (planned || planned_pixels ? 32 : 16);
    if (static_cast<int64_t>(s.acc.size()) < row_floats * groups) s.acc.resize(row_floats * groups);
    if (bytes_direct) {
      byte_row = columns * channels + RegionRows::kSlack;
      if (run.rows && static_cast<int64_t>(s.bytes.size()) < whole_row() + byte_row * ring)
        s.bytes.resize(whole_row() + byte_row * ring);
      if (!run.rows) ring = 0;
    } else if (!floats_direct && !shorts_direct &&
               static_cast<int64_t>(s.rows.size()) < row_floats * (ring + 1) * groups) {
      s.rows.resize(row_floats * (ring + 1) * groups);
    }
    if (run.rows && planned && static_cast<int64_t>(s.bytes.size()) < whole_row()) s.bytes.resize(whole_row());
    s.row_tag.assign(ring, -1);
    if (lane != Lane::f32) wide.resize(static_cast<size_t>(channels) * (program.tile_n() + 16));
  }

  void plan(int of_channels) {
    plan_row(base.data(), x.count, static_cast<int>(x.step), x.taps->weight.data(), x.taps->taps, of_channels,
             rows.lanes, run.scratch.plan);
  }

  // A row of the decoder's region in planes or pixels, and the room that it may write past its end.
  int64_t whole_row() const { return (run.inputs[0].shape[1] + RegionRows::kSlack) * channels; }

  // All planes of row (sz, sy), plane group g at to + g * hop.
  void load_row(const char* in, int64_t sz, int64_t sy, float* to, int64_t hop) {
    void* planes[kMaxPlanes];
    for (int g = 0; g < groups; ++g) planes[g] = to + g * hop;
    const auto& load = run.convert.load[static_cast<int>(dtype)][0];
    if (run.rows) {
      uint8_t* bytes[4];
      const int64_t plane = run.inputs[0].shape[1] + RegionRows::kSlack;
      for (int c = 0; c < channels; ++c) bytes[c] = run.scratch.bytes.data() + c * plane;
      if (run.luma_chroma) run.rows->read_stored(sy, bytes);
      else run.rows->read_planes(sy, bytes);
      for (int c = 0; c < channels; ++c) load(bytes[c] + column, 1, 0, planes + c, 1, columns);
      return;
    }
    const char* p = in + (sz * z.stride + sy * y.stride + column * x.stride) * element;
    if (interleaved && group == channels) load(p, 1, 0, planes, 1, columns * group);
    else load(p, x.stride, stride_c, planes, groups, columns);
  }

  // Row `sy` at output depth k, in float, filtered along the depth: plane group 0; each further group is `ring` rows
  // further on.
  const float* float_row(const char* in, int64_t k, int64_t sy, int64_t key) {
    auto& s = run.scratch;
    const int64_t slot = key % ring, hop = ring * row_floats;
    float* to = s.rows.data() + slot * row_floats;
    const int64_t tag = k * (int64_t{1} << 40) + key;
    if (s.row_tag[slot] == tag) return to;
    s.row_tag[slot] = tag;
    const float* w = &z.taps->weight[k * z.taps->taps];
    const int64_t first = z.taps->first[k];
    if (z.plain) {
      load_row(in, z.source(first), sy, to, hop);
      return to;
    }
    float* held = s.rows.data() + ring * groups * row_floats;
    const int64_t n = columns * group;
    for (int t = 0; t < z.taps->taps; ++t) {
      load_row(in, z.source(first + t), sy, held, row_floats);
      for (int g = 0; g < groups; ++g) {
        const float* one = held + g * row_floats;
        rows.vertical_f32(&one, w + t, 1, to + g * hop, n, t > 0, {});
      }
    }
    return to;
  }

  // The interleaved bytes of row `sy` from a decoder.
  const uint8_t* byte_row_of(int64_t sy, int64_t key) {
    auto& s = run.scratch;
    const int64_t slot = key % ring;
    uint8_t* const to = s.bytes.data() + whole_row() + slot * byte_row;
    if (s.row_tag[slot] == key) return to;
    s.row_tag[slot] = key;
    run.rows->read(sy, s.bytes.data());
    std::memcpy(to, s.bytes.data() + column * channels, static_cast<size_t>(columns * channels));
    return to;
  }

  int64_t offset(int64_t k, int64_t key) const {
    return z.source(z.taps->first[k]) * z.stride + y.source(key) * y.stride + column * x.stride;
  }
  template <class T> NextRows<T> next_rows(NextRows<T> next, const char* in, int64_t k, int64_t j) const {
    if (j + 1 >= y.count) return next;
    const int64_t begin = std::max<int64_t>(y.taps->first[j + 1], y.taps->first[j] + y.taps->taps);
    const int64_t end = std::min<int64_t>(y.taps->first[j + 1] + y.taps->taps, begin + NextRows<T>::kMost);
    for (int64_t key = begin; key < end; ++key)
      next.rows[next.count++] = reinterpret_cast<const T*>(in) + offset(k, key);
    return next;
  }

  void filter_row(const char* in, char* out, int64_t k, int64_t j) {
    auto& s = run.scratch;
    if (ring && j == first_row) std::fill(s.row_tag.begin(), s.row_tag.end(), -1);
    const int taps = y.taps->taps;
    const float* weight = &y.taps->weight[j * taps];
    int skip = 0, end = taps;  // taps of weight zero at the ends need no row
    while (skip < taps - 1 && weight[skip] == 0) ++skip;
    while (end > skip + 1 && weight[end - 1] == 0) --end;
    const uint8_t* bytes[64];
    const uint16_t* shorts[64];
    const float* floats[64];
    const int64_t first = y.taps->first[j];
    for (int t = skip; t < end;) {  // in pieces of 64 rows
      const int n = std::min(64, end - t);
      for (int q = 0; q < n; ++q) {
        const int64_t key = first + t + q, sy = y.source(key);
        const int64_t at = offset(k, key);
        if (floats_direct) floats[q] = reinterpret_cast<const float*>(in) + at;
        else if (shorts_direct) shorts[q] = reinterpret_cast<const uint16_t*>(in) + at;
        else if (!bytes_direct) floats[q] = float_row(in, k, sy, key);
        else if (run.rows) bytes[q] = byte_row_of(sy, key);
        else bytes[q] = reinterpret_cast<const uint8_t*>(in) + at;
      }
      const bool more = t > skip, last = t + n == end;
      const auto in_place = [&](const auto& sum, auto* from, auto next) {
        if (last && !run.rows) next = next_rows(next, in, k, j);
        for (int g = 0; g < groups; ++g) {
          sum(from, weight + t, n, s.acc.data() + g * row_floats, columns * group, more, next);
          for (int q = 0; q < n; ++q) from[q] += stride_c;
          for (int q = 0; q < next.count; ++q) next.rows[q] += stride_c;
        }
      };
      if (bytes_direct) {
        in_place(rows.vertical_u8, bytes, NextRows<uint8_t>{});
      } else if (shorts_direct) {
        in_place(rows.vertical_u16, shorts, NextRows<uint16_t>{});
      } else if (floats_direct) {
        in_place(rows.vertical_f32, floats, NextRows<float>{});
      } else {
        for (int g = 0; g < groups; ++g) {
          // Whole registers: a row has spare room past its end.
          rows.vertical_f32(floats, weight + t, n, s.acc.data() + g * row_floats, (columns * group + 15) / 16 * 16,
                            more, {});
          for (int q = 0; q < n; ++q) floats[q] += ring * row_floats;
        }
      }
      t += n;
    }
    finish_row(out);
  }

  void finish_row(char* out) {
    const int taps = x.taps->taps;
    float* wide_planes[kMaxPlanes];
    float* const* planes = program.source_planes();
    if (lane != Lane::f32) {
      for (int c = 0; c < channels; ++c) wide_planes[c] = wide.data() + c * (program.tile_n() + 16);
      planes = wide_planes;
    }
    for (int64_t i = 0; i < x.count; i += program.tile_n()) {
      const int64_t n = std::min(program.tile_n(), x.count - i);
      if (planned) {
        const float* acc[4];
        for (int c = 0; c < channels; ++c) acc[c] = run.scratch.acc.data() + c * row_floats;
        rows.resample_planes(acc, channels, run.scratch.plan, static_cast<int>(x.step), taps, planes, i, i + n, false);
        if (run.luma_chroma) {
          rows.to_rgb(planes[0], planes[1], planes[2], n);
          if (run.blue_first) std::swap_ranges(planes[0], planes[0] + n, planes[2]);
        }
        store_tile(out, i, n);
        continue;
      }
      // Outputs [a, b) of the tile share their weights; the rest is at the border.
      const int64_t a = std::clamp<int64_t>(shared_lo, i, i + n), b = std::clamp<int64_t>(shared_hi, a, i + n);
      if (direct) {
        store_pixels(out, i, n, a, b);
        continue;
      }
      for (int g = 0; g < groups; ++g) {
        const float* acc = run.scratch.acc.data() + g * row_floats;
        horizontal(acc, planes + g * group, i, i, a);
        if (b > a) {
          rows.convolve(acc + int64_t{base[a]} * group, group, &x.taps->weight[a * taps], taps, convolved.data(),
                        (b - a) * group);
          void* to[kMaxPlanes];
          for (int c = 0; c < group; ++c) to[c] = planes[g * group + c] + (a - i);
          run.convert.load[static_cast<int>(DType::float32)][0](convolved.data(), group, 1, to, group, b - a);
        }
        horizontal(acc, planes + g * group, i, b, i + n);
      }
      store_tile(out, i, n);
    }
  }

  // Nothing follows the filter, and pixels stay pixels: they need no planes.
  bool stores_pixels() const {
    return run.stage.code.empty() && lane == Lane::f32 && groups == 1 && x.dim >= 0 && x.out_stride == channels &&
           (channels == 1 || out_plane == 1);
  }
  // Outputs [i, i + n); those in [a, b) share their weights.
  void store_pixels(char* out, int64_t i, int64_t n, int64_t a, int64_t b) {
    const DType type = run.output.dtype;
    const int taps = x.taps->taps;
    const float* acc = run.scratch.acc.data();
    char* const to = out + i * x.out_stride * static_cast<int64_t>(size_of(type));
    float* const sums = type == DType::float32 ? reinterpret_cast<float*>(to) : pixels.data();
    if (planned_pixels) sums_of_plan(sums, i * group, (i + n) * group, type == DType::float32);
    for (const auto& [from, end] : {std::pair{i, a}, std::pair{b, i + n}})
      if (end > from && !planned_pixels)
        rows.horizontal_to_pixels(acc, group, base.data() + from, static_cast<int>(x.step),
                                  &x.taps->weight[from * taps], taps, sums + (from - i) * group, end - from);
    if (b > a)
      rows.convolve(acc + int64_t{base[a]} * group, group, &x.taps->weight[a * taps], taps, sums + (a - i) * group,
                    (b - a) * group);
    const void* const plane[1] = {sums};
    if (type != DType::float32) run.convert.store[static_cast<int>(type)][0](plane, 1, n * group, to, 1, 0, false);
  }
  // Sums [from, end) of the plane that pixels are; `exact`: nothing may be written after them.
  void sums_of_plan(float* sums, int64_t from, int64_t end, bool exact) {
    const float* const acc[1] = {run.scratch.acc.data()};
    const RowPlan& p = run.scratch.plan;
    const int step = static_cast<int>(x.step) * group, taps = x.taps->taps;
    const int64_t whole = exact ? end / p.lanes * p.lanes : end;
    if (whole > from) rows.resample_planes(acc, 1, p, step, taps, &sums, from, whole, exact && large_output);
    if (whole == end) return;
    float last[16], *const to = last;
    rows.resample_planes(acc, 1, p, step, taps, &to, whole, end, false);
    std::memcpy(sums + (whole - from), last, static_cast<size_t>(end - whole) * sizeof(float));
  }

  // Outputs [lo, hi) of the row, into planes that start at output `origin`.
  void horizontal(const float* acc, float* const* planes, int64_t origin, int64_t lo, int64_t hi) {
    if (hi <= lo) return;
    float* to[kMaxPlanes];
    for (int c = 0; c < group; ++c) to[c] = planes[c] + (lo - origin);
    const int taps = x.taps->taps;
    rows.horizontal(acc, group, base.data() + lo, static_cast<int>(x.step), &x.taps->weight[lo * taps], taps, to,
                    hi - lo);
  }

  // A convolution has the same weights everywhere except at the border.
  void find_shared_weights() {
    const int own = geometry.dims[x.dim].filter;
    if (own < 0) return;
    const DimFilter& f = geometry.filters[own];
    if (f.filter.kind != FilterKind::window || x.step != 1 || f.step != 1 ||
        x.taps->taps != static_cast<int>(f.filter.window.size()))
      return;
    const int half = x.taps->taps / 2;
    shared_lo = std::clamp<int64_t>(half - f.begin, 0, x.count);
    shared_hi = std::clamp<int64_t>(f.in - half - f.begin, shared_lo, x.count);
    convolved.resize(std::min(program.tile_n(), x.count) * group + 16);
  }

  void store_tile(char* out, int64_t i, int64_t n) {
    if (lane != Lane::f32)
      for (int c = 0; c < channels; ++c)
        run.convert.lane[0][static_cast<int>(lane)](wide.data() + c * (program.tile_n() + 16),
                                                    program.source_planes()[c], n);
    TilePlace place{};
    place.out_step = x.dim < 0 ? 1 : x.out_stride;
    place.out = out + i * place.out_step * static_cast<int64_t>(size_of(run.output.dtype));
    place.out_plane = out_plane;
    place.n = n;
    place.x = i;
    program.execute(place);
  }

  void copy_row(const char* in, char* out, int64_t k, int64_t j) {
    if (base.empty()) {
      base.resize(x.count);
      one_by_one = channel_index.empty();
      for (int64_t i = 0; i < x.count; ++i) {
        base[i] = static_cast<int32_t>(x.source(x.taps->first[i]));
        one_by_one = one_by_one && base[i] == base[0] + i;
      }
    }
    const char* p = in + (z.source(z.taps->first[k]) * z.stride + y.source(y.taps->first[j]) * y.stride) * element;
    if (one_by_one && interleaved && stores_pixels() && run.output.dtype == dtype) {  // the same bytes
      std::memcpy(out, p + base[0] * x.stride * element, static_cast<size_t>(x.count * channels * element));
      return;
    }
    for (int64_t i = 0; i < x.count; i += program.tile_n()) {
      const int64_t n = std::min(program.tile_n(), x.count - i);
      const auto load = run.convert.load_indexed[static_cast<int>(dtype)][static_cast<int>(lane)];
      auto* const planes = reinterpret_cast<void* const*>(program.source_planes());
      if (one_by_one)
        run.convert.load[static_cast<int>(dtype)][static_cast<int>(lane)](p + base[i] * x.stride * element, x.stride,
                                                                          stride_c, planes, channels, n);
      else if (channel_index.empty()) load(p, base.data() + i, x.stride, stride_c, planes, channels, n);
      else
        for (int c = 0; c < channels; ++c)
          load(p + channel_index[c] * stride_c * element, base.data() + i, x.stride, 0, planes + c, 1, n);
      TilePlace place{};
      place.out_step = x.dim < 0 ? 1 : x.out_stride;
      place.out = out + i * place.out_step * static_cast<int64_t>(size_of(run.output.dtype));
      place.out_plane = out_plane;
      place.n = n;
      program.execute(place);
    }
  }
};

}  // namespace

void run_filtered(SampleRun& run) {
  if (run_byte_sums(run) || run_whole_area(run)) return;
  Filter all(run);
  run_bands(run, all.begin(), [&](SampleRun& band, int64_t from, int64_t to) {
    if (&band == &run) return all.run_rows(from, to);
    Filter filter(band);
    filter.begin();
    filter.run_rows(from, to);
  });
}

// One of the axes of an affine map: 0 x, 1 y, 2 z.
static FilterAxis warped_axis(const SampleGeometry& g, int axis) {
  FilterAxis a;
  for (int d = 0; d < g.dims.size(); ++d) {
    if (g.dims[d].axis != axis) continue;
    a.dim = d, a.count = g.dims[d].extent;
    a.start = g.dims[d].start, a.step = g.dims[d].step;
    a.stride = g.dims[d].in_stride[0], a.out_stride = g.dims[d].out_stride;
  }
  return a;
}

void run_affine(SampleRun& run) {
  const SampleGeometry& g = run.scratch.geometry;
  const FilterAxis z = warped_axis(g, 2), y = warped_axis(g, 1), x = warped_axis(g, 0);
  AffineSource source;
  source.dtype = run.inputs[0].dtype;
  source.width = g.source_extent[0], source.height = g.source_extent[1], source.depth = g.source_extent[2];
  source.stride_z = z.stride, source.stride_y = y.stride, source.stride_x = x.stride;
  source.channels = run.in_planes;
  source.stride_c = g.has_plane ? g.plane.in_stride[0] : 0;
  int64_t span = 0;
  for (int64_t d : {(source.depth - 1) * source.stride_z, (source.height - 1) * source.stride_y,
                    (source.width - 1) * source.stride_x})
    span += std::abs(d);
  if (span >= int64_t{1} << 31) bad_argument("images of 2^31 elements or more cannot be warped");
  const int64_t out_plane = g.has_plane ? g.plane.out_stride : 0;
  const auto out_bytes = static_cast<int64_t>(size_of(run.output.dtype));
  if (g.dims[x.dim].hi == 0)  // the source is empty
    return fill_strided(run.output, g.fill_values, run.plane_dim >= 0 ? run.out_dim[run.plane_dim] : -1);
  run_bands(run, y.count, [&](SampleRun& band, int64_t from, int64_t to) {
    TileProgram program(band, tile_length(std::max(run.in_planes, run.out_planes)));
    void* const* planes = reinterpret_cast<void* const*>(program.source_planes());
    const Lane lane = run.stage.values[run.stage.source].lane;
    const AffineRows rows(run.stage.target, *g.affine, g.fill_values, lane, run.stage.source_stays_bytes);
    AffineSource from_here = source;
    const bool copies = only_moves(run) && rows.copies(source) && x.out_stride == source.channels &&
                        (source.channels == 1 || out_plane == 1) && run.out_planes == source.channels;
    const std::vector<char> fill = copies ? rows.fill_pixel(source) : std::vector<char>{};
    for_each_outer(band, z, y, x, [&](const char* in, char* out) {
      from_here.data = in;
      for (int64_t k = 0; k < z.count; ++k)
        for (int64_t j = from; j < to; ++j) {
          char* const line = out + (k * z.out_stride + j * y.out_stride) * out_bytes;
          if (copies) rows.copied_row(from_here, {x.source(0), x.step}, y.source(j), x.count, fill, line);
          for (int64_t i = 0; i < x.count && !copies; i += program.tile_n()) {
            const int64_t n = std::min(program.tile_n(), x.count - i);
            rows.row(from_here, {x.source(i), x.step}, y.source(j), z.source(k), n, planes);
            TilePlace place{};
            place.out_step = x.out_stride;
            place.out = line + i * x.out_stride * out_bytes;
            place.out_plane = out_plane;
            place.n = n;
            program.execute(place);
          }
        }
    });
  });
}

}  // namespace penstock
