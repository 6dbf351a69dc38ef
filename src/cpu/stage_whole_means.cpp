// SPDX-License-Identifier: Apache-2.0
// A stage that is only the means of rectangles of whole bytes (FilterKind::area): sums of integers, with the bytes of
// float32. A power of two loses no bit there, and of an odd number of bytes no mean is near a half.
#include <bit>
#include <cstring>

#include "cpu/filter_axes.h"
#include "cpu/whole_means.h"

namespace penstock {
namespace {

constexpr int64_t kMostOdd = 1001;

class WholeArea {
 public:
  explicit WholeArea(SampleRun& r)
      : run(r),
        loops(whole_means(r.stage.target)),
        dims(r.scratch.geometry),
        z(make_axis(r, dims.dim[2], 2)),
        y(make_axis(r, dims.dim[1], 1)),
        x(make_axis(r, dims.dim[0], 0)) {}

  // False: a sample of another form.
  bool begin() {
    const SampleGeometry& g = run.scratch.geometry;
    if (x.dim < 0 || y.dim < 0 || x.count <= 0 || y.count <= 0 || z.count <= 0 || !z.plain || g.plane_pick >= 0)
      return false;
    factor_x = factor_of(g, x), factor_y = factor_of(g, y);
    const int64_t area = int64_t{factor_x} * factor_y;
    if (area <= 1 || factor_y > WholeMeans::kMostRows) return false;
    if (!std::has_single_bit(static_cast<uint64_t>(area)) && (area % 2 == 0 || area > kMostOdd)) return false;
    if (area > 65536) return false;
    scale = 1.0f / static_cast<float>(area);
    if (!find_planes(g)) return false;
    halves_go_up = g.filters[g.dims[x.dim].filter].filter.rounds_up || g.filters[g.dims[y.dim].filter].filter.rounds_up;
    columns = x.count * factor_x * group;
    return !halves_go_up || (factor_x == 2 && factor_y == 2 && group != 2);
  }
  int64_t rows() const { return y.count; }

  void run_rows(int64_t from, int64_t to) {
    std::vector<const uint8_t*> read(static_cast<size_t>(factor_y));
    std::vector<uint16_t> sums(halves_go_up ? 0 : static_cast<size_t>(columns));
    for_each_outer(run, z, y, x, [&](const char* in, char* out) {
      for (int64_t k = 0; k < z.count; ++k)
        for (int64_t j = from; j < to; ++j)
          for (int p = 0; p < planes; ++p) {
            const auto* const first = reinterpret_cast<const uint8_t*>(in) + p * in_plane +
                                      z.source(z.taps->first[k]) * z.stride + y.source(y.taps->first[j]) * y.stride +
                                      x.source(x.taps->first[0]) * x.stride;
            auto* const made = reinterpret_cast<uint8_t*>(out) + p * out_plane + (z.lo + k) * z.out_stride +
                               (y.lo + j) * y.out_stride + x.lo * x.out_stride;
            make_row(first, read, sums, made);
          }
    });
  }

 private:
  SampleRun& run;
  const WholeMeans& loops;
  FilterDims dims;
  FilterAxis z, y, x;
  int factor_x = 1, factor_y = 1, group = 1, planes = 1;
  int64_t in_plane = 0, out_plane = 0, columns = 0;
  float scale = 1;
  bool halves_go_up = false;

  // How many samples an output is the mean of; 0: something else.
  static int factor_of(const SampleGeometry& g, const FilterAxis& a) {
    const int own = g.dims[a.dim].filter;
    if (own < 0 || a.step != 1 || g.filters[own].step != 1) return 0;
    const DimFilter& f = g.filters[own];
    const AxisTaps taps = axis_taps(f.filter, f.in);
    const bool whole = f.filter.kind == FilterKind::area && covers_whole_samples(taps) && taps.scale > 0;
    const double last = taps.lo + static_cast<double>(f.filter.out) * taps.scale;
    return whole && taps.lo >= 0 && last <= static_cast<double>(f.in) && taps.taps == taps.full ? taps.taps : 0;
  }
  // Pixels whose channels are beside each other, or planes of one channel.
  bool find_planes(const SampleGeometry& g) {
    const int channels = run.in_planes;
    if (channels != run.out_planes) return false;
    const int64_t from = g.has_plane ? g.plane.in_stride[0] : 0, to = g.has_plane ? g.plane.out_stride : 0;
    if (x.stride == 1 && x.out_stride == 1) {
      planes = channels, in_plane = from, out_plane = to;
      return true;
    }
    group = channels;
    return channels <= 4 && from == 1 && to == 1 && x.stride == channels && x.out_stride == channels;
  }
  void make_row(const uint8_t* first, std::vector<const uint8_t*>& read, std::vector<uint16_t>& sums, uint8_t* out) {
    if (halves_go_up) return loops.means_of_four(first, first + y.stride, group, out, x.count);
    for (int k = 0; k < factor_y; ++k) read[static_cast<size_t>(k)] = first + k * y.stride;
    loops.add_rows(read.data(), factor_y, sums.data(), columns);
    loops.means(sums.data(), group, factor_x, scale, out, x.count);
  }
};

}  // namespace

bool run_whole_area(SampleRun& run) {
  if (run.rows || run.luma_chroma || !run.stage.code.empty() || run.inputs[0].dtype != DType::uint8 ||
      run.output.dtype != DType::uint8)
    return false;
  const auto& filters = run.scratch.geometry.filters;
  if (filters.size() != 2 || filters[0].filter.kind != FilterKind::area) return false;
  WholeArea all(run);
  if (!all.begin()) return false;
  run_bands(run, all.rows(), [&](SampleRun& band, int64_t from, int64_t to) {
    if (&band == &run) return all.run_rows(from, to);
    WholeArea area(band);
    area.begin();
    area.run_rows(from, to);
  });
  return true;
}

}  // namespace penstock
