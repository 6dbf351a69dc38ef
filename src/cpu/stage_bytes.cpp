// SPDX-License-Identifier: Apache-2.0
// A stage that filters bytes along one axis with weights of 16 bits and rounds the sums to bytes, halves up, as Pillow
// and torchvision do: sums of integers in place of float32, with the same bytes.
#include <algorithm>
#include <cstring>

#include "cpu/filter_axes.h"

namespace penstock {
namespace {

// Whether the number that the stage adds before it rounds down is a half.
bool adds_half(const SampleRun& run) {
  const Instruction& add = run.stage.code[0];
  float pair[4];
  const auto& op = *run.stage.program.nodes[add.node].op;
  return op.fused_multiply_adds(run.scratch.coef.data() + run.scratch.coef_offset[add.node], pair) == 1 &&
         pair[0] == 1.0f && pair[1] == 0.5f;
}

class ByteFilter {
 public:
  explicit ByteFilter(SampleRun& r)
      : run(r),
        s(r.scratch),
        sums(byte_sums(r.stage.target)),
        dims(s.geometry),
        z(make_axis(r, dims.dim[2], 2)),
        y(make_axis(r, dims.dim[1], 1)),
        x(make_axis(r, dims.dim[0], 0)),
        program(r, tile_length(std::max(r.in_planes, r.out_planes))),
        channels(r.in_planes),
        skip(r.stage.rounds_up) {
    const SampleGeometry& g = s.geometry;
    if (g.has_plane) stride_c = g.plane.in_stride[0], out_plane = g.plane.out_stride;
    if (run.rows) stride_c = 1, x.stride = channels;  // as if they were in memory
    interleaved = channels == 1 ? x.stride == 1 : stride_c == 1 && x.stride == channels;
  }

  // False: the sample is not of a form that this class knows. Else the rows have been prepared.
  bool begin() {
    if (x.dim < 0 || x.step != 1 || x.count <= 0 || y.count <= 0 || z.count <= 0 || channels > kMost) return false;
    if (!z.plain || x.plain == y.plain || s.geometry.plane_pick >= 0 || (!interleaved && x.stride != 1)) return false;
    along_x = !x.plain;
    const DimFilter& f = s.geometry.filters[s.geometry.dims[(along_x ? x : y).dim].filter];
    if (!f.filter.int16_weights) return false;
    const int bits = axis_taps(f.filter, f.in).bits;
    // Only whole rows of interleaved bytes come from a decoder.
    if (run.rows && (!along_x || z.dim >= 0 || run.plane_dim < 0)) return false;
    return along_x ? plan_rows(bits) : plan_columns(bits);
  }
  int64_t rows() const { return y.count; }

  void run_rows(int64_t from, int64_t to) {
    for_each_outer(run, z, y, x, [&](const char* in, char* out) {
      for (int64_t k = 0; k < z.count; ++k)
        for (int64_t j = from; j < to; ++j) {
          char* const row = out + ((z.lo + k) * z.out_stride + (y.lo + j) * y.out_stride + x.lo * x.out_stride) *
                                      static_cast<int64_t>(size_of(run.output.dtype));
          const auto* const bytes = reinterpret_cast<const uint8_t*>(in) + z.source(z.taps->first[k]) * z.stride;
          if (along_x) filter_along_x(bytes, j, row);
          else filter_along_y(bytes, j, row);
        }
    });
  }

 private:
  static constexpr int kMost = 4;
  SampleRun& run;
  CpuScratch::State& s;
  const ByteSumLoops& sums;
  FilterDims dims;
  FilterAxis z, y, x;
  TileProgram program;
  int channels, skip;
  int64_t stride_c = 0, out_plane = 0;
  bool interleaved = true, along_x = true;
  SumRounding rounding;
  int64_t column = 0, columns = 0;  // that are read
  int64_t word_plane = 0, byte_plane = 0;
  std::vector<int16_t> weight;  // of each row
  std::vector<int32_t> pairs;
  std::vector<const uint8_t*> from;
  std::vector<uint8_t> result;

  bool plan_rows(int bits) {
    column = x.source(x.taps->lowest);
    columns = x.taps->highest - x.taps->lowest;
    if (!plan_words(*x.taps, bits, x.taps->lowest, sums.lanes, s.words, rounding)) return false;
    word_plane = (columns + 15) / 16 * 16 + ByteSumLoops::kSlack;
    byte_plane = x.count + ByteSumLoops::kSlack;
    if (static_cast<int64_t>(s.word_rows.size()) < word_plane * channels)
      s.word_rows.resize(static_cast<size_t>(word_plane * channels));
    if (run.rows && static_cast<int64_t>(s.bytes.size()) < decoded_plane() * channels)
      s.bytes.resize(static_cast<size_t>(decoded_plane() * channels));
    result.resize(static_cast<size_t>(byte_plane * channels));
    return true;
  }
  int64_t decoded_plane() const { return run.inputs[0].shape[1] + RegionRows::kSlack; }

  bool plan_columns(int bits) {
    column = x.source(x.taps->first[0]);
    for (int64_t i = 1; i < x.count; ++i)
      if (x.taps->first[i] != x.taps->first[i - 1] + 1) return false;
    columns = x.count;
    const int n = (y.taps->taps + 1) / 2;
    if (!integer_weights(*y.taps, bits, 2 * n, weight, rounding)) return false;
    pairs.resize(weight.size() / 2);
    std::memcpy(pairs.data(), weight.data(), weight.size() * sizeof(int16_t));
    from.resize(static_cast<size_t>(2 * n));
    byte_plane = interleaved ? columns * channels : columns;
    result.resize(static_cast<size_t>(columns * channels));
    return true;
  }

  // Row sy as words, each channel in its own plane.
  void read_words(const uint8_t* in, int64_t sy) {
    uint16_t* to[kMost];
    for (int c = 0; c < channels; ++c) to[c] = s.word_rows.data() + c * word_plane;
    if (run.rows) {
      uint8_t* planes[kMost];
      for (int c = 0; c < channels; ++c) planes[c] = s.bytes.data() + c * decoded_plane();
      run.rows->read_planes(sy, planes);
      for (int c = 0; c < channels; ++c) sums.widen(planes[c] + column, to[c], columns);
      return;
    }
    const uint8_t* const row = in + sy * y.stride + column * x.stride;
    if (channels == 3 && interleaved) return sums.split_rgb(row, to, columns);
    for (int c = 0; c < channels; ++c) {
      const uint8_t* const plane = row + c * stride_c;
      if (x.stride == 1) sums.widen(plane, to[c], columns);
      else
        for (int64_t i = 0; i < columns; ++i) to[c][i] = plane[i * x.stride];
    }
  }

  void filter_along_x(const uint8_t* in, int64_t j, char* out) {
    read_words(in, y.source(y.taps->first[j]));
    const uint16_t* words[kMost];
    uint8_t* planes[kMost];
    for (int c = 0; c < channels; ++c)
      words[c] = s.word_rows.data() + c * word_plane, planes[c] = result.data() + c * byte_plane;
    sums.horizontal(words, channels, s.words, rounding, planes);
    auto* const to = reinterpret_cast<uint8_t*>(out);
    if (stores_bytes() && channels == 3 && x.out_stride == 3 && out_plane == 1)
      return sums.join_rgb(planes, to, x.count);
    if (stores_bytes() && x.out_stride == 1) {
      for (int c = 0; c < channels; ++c) std::memcpy(to + c * out_plane, planes[c], static_cast<size_t>(x.count));
      return;
    }
    go_on(1, byte_plane, out);
  }

  void filter_along_y(const uint8_t* in, int64_t j, char* out) {
    const int taps = y.taps->taps, n = static_cast<int>(from.size()) / 2;
    const uint8_t* const first = in + column * x.stride;
    for (int k = 0; k < 2 * n; ++k)
      from[static_cast<size_t>(k)] = first + y.source(y.taps->first[j] + std::min(k, taps - 1)) * y.stride;
    const int32_t* const w = pairs.data() + j * n;
    const bool direct = stores_bytes() && interleaved && x.out_stride == channels && (channels == 1 || out_plane == 1);
    if (interleaved) {
      uint8_t* const to = direct ? reinterpret_cast<uint8_t*>(out) : result.data();
      sums.vertical(from.data(), w, n, rounding, to, columns * channels);
      return direct ? void() : go_on(channels, 1, out);
    }
    for (int c = 0; c < channels; ++c) {
      sums.vertical(from.data(), w, n, rounding, result.data() + c * columns, columns);
      for (const uint8_t*& p : from) p += stride_c;
    }
    go_on(1, columns, out);
  }

  bool stores_bytes() const {
    return skip == static_cast<int>(run.stage.code.size()) && run.output.dtype == DType::uint8;
  }

  // The rest of the stage, with the bytes of the row as its operands.
  void go_on(int64_t step, int64_t plane, char* out) {
    const Instruction& last = run.stage.code[static_cast<size_t>(skip) - 1];
    const auto load = run.convert.load[static_cast<int>(DType::uint8)][static_cast<int>(last.lane)];
    for (int64_t i = 0; i < x.count; i += program.tile_n()) {
      const int64_t n = std::min(program.tile_n(), x.count - i);
      load(result.data() + i * step, step, plane, program.planes_after(skip), channels, n);
      TilePlace place{};
      place.out_step = x.out_stride;
      place.out = out + i * place.out_step * static_cast<int64_t>(size_of(run.output.dtype));
      place.out_plane = out_plane;
      place.n = n;
      place.x = i;
      place.skip = skip;
      program.execute(place);
    }
  }
};

}  // namespace

bool run_byte_sums(SampleRun& run) {
  if (!run.stage.rounds_up || run.inputs[0].dtype != DType::uint8 || run.luma_chroma || !adds_half(run)) return false;
  ByteFilter all(run);
  if (!all.begin()) return false;
  run_bands(run, all.rows(), [&](SampleRun& band, int64_t from, int64_t to) {
    if (&band == &run) return all.run_rows(from, to);
    ByteFilter filter(band);
    filter.begin();
    filter.run_rows(from, to);
  });
  return true;
}

}  // namespace penstock
