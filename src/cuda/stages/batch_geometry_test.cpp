// SPDX-License-Identifier: Apache-2.0
// All ways of a batch give each sample the numbers that StageGeometry gives it alone.
#include "stage/batch_geometry.h"

#include <gtest/gtest.h>

#include <random>

#include "cuda/stages/stage_sample.h"
#include "gpu_room/stage_program.h"

namespace penstock {
namespace {

// Samples that nobody reads: the addresses count.
Batch batch_of(const std::vector<Shape>& shapes, const Layout& layout) {
  Batch b(DType::uint8, shapes[0].size(), layout, static_cast<int>(shapes.size()));
  for (int i = 0; i < b.size(); ++i) b.sample(i).shape = shapes[static_cast<size_t>(i)];
  b.allocate();
  return b;
}

// The numbers of one sample, or one frame of it.
struct Found {
  StageSample geometry;
  const char* in[kMaxStageInputs] = {};
  SampleContext context;
};

void put_axis(const AlikeAxis& a, AxisTaps& taps, LoopDim& d, DimFilter& f) {
  taps.lo = a.lo, taps.scale = a.scale, taps.in = a.in, taps.taps = a.taps;
  d.in_stride[0] = a.stride;
  f.in = a.in, f.begin = a.begin, f.step = a.step, d.step = a.hop / a.stride;
}

// What an entry says of its sample.
Found resolved(const StageEntry& e, const AlikeSample* alike, std::span<const float> weights,
               std::span<const SampleContext> contexts) {
  Found r;
  r.geometry = *e.geometry;
  StageSample& g = r.geometry;
  if (e.windows >= 0) {
    size_t at = static_cast<size_t>(e.windows);
    for (DimFilter& f : g.filters) {
      const size_t n = f.filter.window.size();
      f.filter.window.assign(weights.begin() + static_cast<ptrdiff_t>(at),
                             weights.begin() + static_cast<ptrdiff_t>(at + n));
      if (!e.same_windows) at += n;
    }
  }
  refer_to_own_windows(g);
  const int n = g.dims.size();
  if (alike) {
    put_axis(alike->x, g.tiling.x, g.dims[n - 1], g.filters[g.dims[n - 1].filter]);
    put_axis(alike->y, g.tiling.y, g.dims[n - 2], g.filters[g.dims[n - 2].filter]);
  }
  std::copy_n(e.in, kMaxStageInputs, r.in);
  r.context = e.packed ? SampleContext() : g.context;
  if (e.packed && !contexts.empty()) r.context = contexts[static_cast<size_t>(e.sample)];
  r.context.index = e.sample;
  return r;
}

void expect_same(const LoopDim& a, const LoopDim& b) {
  EXPECT_EQ(a.extent, b.extent);
  EXPECT_EQ(a.lo, b.lo);
  EXPECT_EQ(a.hi, b.hi);
  EXPECT_EQ(a.out_stride, b.out_stride);
  EXPECT_TRUE(std::equal(a.in_stride, a.in_stride + kMaxStageInputs, b.in_stride));
  EXPECT_EQ(a.filter, b.filter);
  EXPECT_TRUE(a.filter < 0 || a.step == b.step);
  EXPECT_EQ(a.axis, b.axis);
}

void expect_same(const AxisTaps& a, const AxisTaps& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.border, b.border);
  EXPECT_EQ(a.taps, b.taps);
  EXPECT_EQ(a.full, b.full);
  EXPECT_EQ(a.in, b.in);
  EXPECT_EQ(a.lo, b.lo);
  EXPECT_EQ(a.scale, b.scale);
  EXPECT_EQ(a.radius, b.radius);
  EXPECT_EQ(a.inverse_radius, b.inverse_radius);
}

void expect_same(const Found& a, const Found& b) {
  const StageSample &g = a.geometry, &h = b.geometry;
  EXPECT_TRUE(std::equal(a.in, a.in + kMaxStageInputs, b.in));
  EXPECT_EQ(g.out, h.out);
  ASSERT_EQ(g.dims.size(), h.dims.size());
  for (int d = 0; d < g.dims.size(); ++d) expect_same(g.dims[d], h.dims[d]);
  EXPECT_EQ(g.has_plane, h.has_plane);
  if (g.has_plane) expect_same(g.plane, h.plane);
  EXPECT_EQ(g.plane_pick, h.plane_pick);
  EXPECT_EQ(g.in_planes, h.in_planes);
  EXPECT_EQ(g.out_planes, h.out_planes);
  EXPECT_EQ(g.fills, h.fills);
  EXPECT_EQ(g.indexed, h.indexed);
  EXPECT_EQ(g.fill_values, h.fill_values);
  ASSERT_EQ(g.filters.size(), h.filters.size());
  const bool tiled = h.variant.kind == StageVariant::Kind::tiled;  // its kernels read the taps
  for (int f = 0; f < g.filters.size(); ++f) {
    const DimFilter &x = g.filters[f], &y = h.filters[f];
    EXPECT_TRUE(tiled || x.filter == y.filter);
    EXPECT_EQ(x.filter.window, y.filter.window);
    EXPECT_EQ(x.in, y.in);
    EXPECT_EQ(x.begin, y.begin);
    EXPECT_EQ(x.step, y.step);
  }
  if (tiled) expect_same(g.tiling.x, h.tiling.x), expect_same(g.tiling.y, h.tiling.y);
  EXPECT_EQ(g.affine.has_value(), h.affine.has_value());
  EXPECT_EQ(a.context.index, b.context.index);
  EXPECT_EQ(a.context.sample, b.context.sample);
  EXPECT_EQ(a.context.frame, b.context.frame);
  EXPECT_TRUE(g.variant == h.variant);
}

struct Ways {
  int uniform = 0, alike = 0, one_by_one = 0, entries_alike = 0, known = 0, failed = 0;
};

// Runs one batch with what the calls before it left, and each sample alone.
void compare(const StageProgram& program, const Batch& in, uint64_t epoch, BatchMemory<GpuGeometry>& memory,
             Ways& ways) {
  StageCode code;
  compile_stage(program, code);
  const BatchArguments arguments(code);
  const std::function<SampleContext(int)> context = [&](int i) {
    SampleContext c;
    c.index = i, c.sample = static_cast<uint64_t>(i), c.epoch = epoch, c.seed = 7;
    return c;
  };
  const BatchGeometryCall call{code, arguments, std::span(&in, 1), in.size(), context};
  BatchGeometry<GpuGeometry> geometry(call, memory);
  Batch out(DType::uint8, in.ndim(), {}, in.size());
  std::vector<std::string> errors(static_cast<size_t>(in.size()));
  int ndim = 0;
  std::vector<std::vector<Found>> found(static_cast<size_t>(in.size()));
  const Shape* const shape = geometry.add_together();
  for (int i = 0; shape && i < in.size(); ++i) {
    const StageRun& run = memory.run;
    out.sample(i).shape = *shape;
    StageEntry e = run.like;
    e.sample = i;
    if (run.window > 0) e.windows = i * run.window;
    const AlikeSample* const own = run.alike ? &run.alike[i] : nullptr;
    e.in[0] = static_cast<const char*>(in.sample(i).data) + e.geometry->in[0] + (own ? own->offset : 0);
    found[static_cast<size_t>(i)].push_back(resolved(e, own, memory.weights, memory.contexts));
    ++(own ? ways.alike : ways.uniform);
  }
  if (!shape) {
    for (auto& f : geometry.add_each(out, ndim)) errors[static_cast<size_t>(f.sample)] = f.error.what(), ++ways.failed;
    for (const StageEntry& e : memory.entries) {
      const AlikeSample* const own = e.alike >= 0 ? &memory.alike[static_cast<size_t>(e.alike)] : nullptr;
      found[static_cast<size_t>(e.sample)].push_back(resolved(e, own, memory.weights, memory.contexts));
      ++(own ? ways.entries_alike : e.packed ? ways.known : ways.one_by_one);
    }
  }
  const StageGeometry plain(code, PlaneRule());
  for (int i = 0; i < in.size(); ++i) {
    SCOPED_TRACE(fmt::format("sample {} of {}", i, program.nodes[0].op->info->name));
    GeometryList<StageSample> list;
    Shape own;
    const View view = in.view(i);
    const auto error = error_of([&] { plain.add(context(i), std::span(&view, 1), own, list); });
    EXPECT_EQ(errors[static_cast<size_t>(i)], error ? error->what() : std::string());
    if (error) continue;
    EXPECT_TRUE(own == out.shape(i));
    ASSERT_EQ(found[static_cast<size_t>(i)].size(), list.size());
    for (size_t k = 0; k < list.size(); ++k) {
      StageSample& g = list[k];
      if (code.source < 0) merge_dims(g, 1);
      GpuGeometry::finish(code, g);
      Found alone;
      alone.geometry = g;
      refer_to_own_windows(alone.geometry);
      alone.in[0] = view.as<char>() + g.in[0];
      alone.context = g.context;
      if (arguments.constant || !arguments.random)
        alone.context.sample = found[static_cast<size_t>(i)][k].context.sample;
      expect_same(found[static_cast<size_t>(i)][k], alone);
    }
  }
}

struct Case {
  std::vector<OpCall> steps;
  bool small_images = false;
};

TEST(BatchGeometry, AllWaysGiveTheSameNumbers) {
  constexpr int kSamples = 6;
  std::mt19937 random(1);
  const auto batch = [&](DType type, auto make) {
    Batch b = Batch::uniform(type, Shape{}, {}, kSamples);
    for (int i = 0; i < kSamples; ++i)
      if (type == DType::float32) *b.view(i).as<float>() = static_cast<float>(make());
      else *b.view(i).as<int32_t>() = static_cast<int32_t>(make());
    return b;
  };
  Ways ways;
  const std::vector<int64_t> size{16, 16}, flat{3, 3};
  for (int which = 0; which < 8; ++which) {
    BatchMemory<GpuGeometry> memory;
    for (int round = 0; round < 40; ++round) {
      const Batch mirror = batch(DType::int32, [&] { return random() % 2; });
      const Batch sigma = batch(DType::float32, [&] { return 0.4 + 0.1 * static_cast<double>(random() % 8); });
      const Batch hue = batch(DType::float32, [&] { return random() % 90; });
      const Batch extent = batch(DType::float32, [&] { return 5 + random() % 2; });
      const OpCall crop{"random_resized_crop", {{"size", size}, {"interp_type", int64_t{1}}, {"antialias", false}}};
      const std::vector<std::vector<OpCall>> cases{
          {crop, {"crop_mirror_normalize", {{"output_layout", "CHW"}}, {{"mirror", &mirror}}}},
          {crop,
           {"slice",
            {{"axes", std::vector<int64_t>{2}},
             {"start", std::vector<int64_t>{1}},
             {"shape", std::vector<int64_t>{2}}}}},
          {{"gaussian_blur", {{"window_size", flat}}, {{"sigma", &sigma}}}},
          {{"gaussian_blur", {}, {{"sigma", &sigma}}}},
          {{"hsv", {}, {{"hue", &hue}}}},
          {{"flip", {}, {{"horizontal", &mirror}}}},
          {{"resize", {{"resize_y", 9.0}}, {{"resize_x", &extent}}}},
          {{"resize", {{"size", std::vector<double>{9.0, 8.0}}}}},
      };
      std::vector<Shape> shapes;
      const int64_t height = 8 + static_cast<int64_t>(random() % 3), width = 9;
      const bool ragged = random() % 3 == 0, small = random() % 8 == 0;
      for (int i = 0; i < kSamples; ++i)
        shapes.push_back(ragged ? Shape{1 + static_cast<int64_t>(random() % (small ? 3 : 40)),
                                        1 + static_cast<int64_t>(random() % (small ? 3 : 40)), 3}
                                : Shape{height, width, 3});
      if (round % 13 == 12) shapes[2][0] = 0;
      if (round % 17 == 16) shapes[3][2] = 5;
      const Batch in = batch_of(shapes, "HWC");
      const StageProgram program = program_of(cases[static_cast<size_t>(which)], {{DType::uint8, 3, "HWC"}});
      compare(program, in, static_cast<uint64_t>(round), memory, ways);
      if (::testing::Test::HasFailure()) FAIL() << which << " " << round;
    }
  }
  EXPECT_GT(ways.uniform, 100);
  EXPECT_GT(ways.alike, 100);
  EXPECT_GT(ways.one_by_one, 100);
  EXPECT_GT(ways.entries_alike, 10);
  EXPECT_GT(ways.known, 100);
  EXPECT_GT(ways.failed, 1);
}

}  // namespace
}  // namespace penstock
