// SPDX-License-Identifier: Apache-2.0
// The loops of random maps, carried out number by number, against the maps applied one after the other.
#include "stage/geometry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "stage/frames.h"

namespace penstock {
namespace {

using Map = std::function<void(const SampleContext&, Placement&)>;

// An operator that is a map, or a pixel function that is not looked at.
class TestOp final : public BoundOp {
 public:
  TestOp(StageTraits traits, ValueType out, Map map) : traits_(traits), out_(out), map_(std::move(map)) {
    static const OpInfo about = [] {
      OpInfo i;
      i.name = "test";
      return i;
    }();
    info = &about;
  }
  void* members() override { return nullptr; }
  void infer(std::span<const ValueType>, std::span<ValueType> out) override { out[0] = out_; }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    if (!traits_.maps) {
      out[0] = in[0];
      for (const Shape& other : in)
        for (int d = 1; d <= other.size(); ++d)
          if (out[0][out[0].size() - d] == 1) out[0][out[0].size() - d] = other[other.size() - d];
      return;
    }
    Placement p(in[0], types[0].layout);
    map_(s, p);
    out[0] = p.shape();
    for (int d = 0; d < p.ndim(); ++d)
      if (const int k = out_.layout.find(p.layout()[d]); k >= 0) out[0][k] = p.extent(d);
  }
  StageTraits traits() const override { return traits_; }
  void map(const SampleContext& s, Placement& p) const override { map_(s, p); }
  TileFn tile(Target, Lane) const override {
    return [](const TileCall&) {};
  }

 private:
  StageTraits traits_;
  ValueType out_;
  Map map_;
};

StageCode code_of(const std::vector<ValueType>& inputs, std::shared_ptr<BoundOp> op) {
  StageProgram p;
  p.inputs = inputs;
  std::vector<int> operands;
  for (size_t k = 0; k < inputs.size(); ++k) operands.push_back(static_cast<int>(k));
  p.outputs = {append_node(p, std::move(op), operands, {})};
  StageCode code;
  compile_stage(std::move(p), code);
  return code;
}

struct Random {
  std::mt19937 bits;
  int64_t operator()(int64_t lo, int64_t hi) {
    return lo + static_cast<int64_t>(bits() % static_cast<uint64_t>(hi - lo + 1));
  }
  bool often() { return bits() % 4 != 0; }
};

// A tensor of doubles with any strides.
struct Tensor64 {
  std::vector<double> room;
  View view;
  Tensor64(const Shape& shape, const Layout& layout, Random& random) {
    Shape strides = dense_strides(shape);
    int64_t size = 0;
    for (int d = 0, widen = random.often() ? 1 : 2; d < shape.size(); ++d) strides[d] *= widen;
    for (int d = 0; d < shape.size(); ++d) size += (shape[d] - 1) * strides[d];
    room.resize(static_cast<size_t>(size + 1));
    for (double& v : room) v = static_cast<double>(random(-1000, 1000));
    view = {room.data(), DType::float64, layout, shape, strides};
  }
  double at(std::span<const int64_t> index) const {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * view.strides[static_cast<int>(d)];
    return room[static_cast<size_t>(offset)];
  }
};

// A dimension as its outputs: the samples of the source and their weights; empty: fill.
using Taps = std::vector<std::pair<int64_t, double>>;
using Line = std::vector<Taps>;

Line window(const Line& line, int64_t start, int64_t extent, int step) {
  Line out(static_cast<size_t>(extent));
  for (int64_t o = 0; o < extent; ++o)
    if (const int64_t at = start + step * o; at >= 0 && at < static_cast<int64_t>(line.size()))
      out[static_cast<size_t>(o)] = line[static_cast<size_t>(at)];
  return out;
}

Line filtered(const Line& line, const AxisFilter& f) {
  TapTable t;
  make_taps(f, static_cast<int64_t>(line.size()), 0, 1, f.out, t);
  Line out(static_cast<size_t>(f.out));
  for (size_t o = 0; o < out.size(); ++o)
    for (int k = 0; k < t.taps; ++k) {
      const double weight = t.weight[o * static_cast<size_t>(t.taps) + static_cast<size_t>(k)];
      out[o].emplace_back(line[static_cast<size_t>(t.first[o] + k)][0].first, weight);
    }
  return out;
}

AxisFilter random_filter(int64_t in, Random& random) {
  AxisFilter f;
  f.kind = static_cast<FilterKind>(random(0, 6));
  f.out = f.kind == FilterKind::window ? in : random(1, 6);
  f.hi = static_cast<double>(in);
  f.border = static_cast<FilterBorder>(random(0, 4));
  if (f.kind == FilterKind::window) f.window = {0.25f, 0.5f, 0.125f};
  else if (random.often()) f.lo = 0.5;
  return f;
}

// What a map does to one dimension, and the same done to a line.
struct Step {
  int dim;
  int64_t start, extent;
  int step;
  std::optional<AxisFilter> filter;
};
void carry_out(const Step& s, std::vector<Line>& lines) {
  Line& line = lines[static_cast<size_t>(s.dim)];
  line = s.filter ? filtered(line, *s.filter) : window(line, s.start, s.extent, s.step);
}

// Windows within the source, filters of up to three dimensions, windows that may leave what there is.
std::vector<Step> random_steps(const Shape& shape, const Layout& layout, bool filters, Random& random) {
  std::vector<Step> steps;
  int filtered = 0;
  for (int d = 0; d < shape.size(); ++d) {
    int64_t extent = shape[d];
    if (random.often()) {
      const int64_t size = random(1, extent), start = random(0, extent - size);
      const bool turned = random.often();
      steps.push_back({d, turned ? start + size - 1 : start, size, turned ? -1 : 1, {}});
      extent = size;
    }
    const bool channels = layout[d] == 'C';
    if (filters && random.often()) {
      AxisFilter f = random_filter(extent, random);
      if (channels || filtered == 3) f.kind = FilterKind::nearest, f.window.clear();
      filtered += f.kind != FilterKind::nearest;
      extent = f.out;
      steps.push_back({d, 0, 0, 1, f});
    }
    if (random.often()) {
      const int64_t size = random(1, extent + 2);
      steps.push_back({d, random(-2, extent), size, random.often() ? 1 : -1, {}});
    }
  }
  return steps;
}

// Runs the loops of `g` as a device does.
class Loops {
 public:
  Loops(const SampleGeometry& g, std::span<const View> in, std::vector<double>& out) : g_(g), in_(in), out_(out) {
    loops_.assign(g.dims.begin(), g.dims.end());
    if (g.has_plane) loops_.push_back(g.plane);
    tables_.resize(static_cast<size_t>(g.filters.size()));
    for (const LoopDim& d : loops_)
      if (d.filter >= 0) g.filters[d.filter].table(d.hi - d.lo, tables_[static_cast<size_t>(d.filter)]);
    index_.resize(loops_.size());
  }
  void run(size_t d = 0) {
    if (d == loops_.size()) return store();
    for (index_[d] = 0; index_[d] < loops_[d].extent; ++index_[d]) run(d + 1);
  }

 private:
  void store() {
    int64_t to = g_.out / 8;
    bool fill = false;
    for (size_t d = 0; d < loops_.size(); ++d) {
      to += index_[d] * loops_[d].out_stride;
      fill |= index_[d] < loops_[d].lo || index_[d] >= loops_[d].hi;
    }
    const size_t plane = g_.has_plane && g_.fill_values.size() > 1 ? static_cast<size_t>(index_.back()) : 0;
    EXPECT_TRUE(g_.fills || !fill);
    double sum = 0;
    for (size_t k = 0; k < in_.size() && !fill; ++k) sum += read(k, 0, g_.in[k] / 8, 1);
    out_.at(static_cast<size_t>(to)) = fill ? static_cast<double>(g_.fill_values.at(plane)) : sum;
  }
  double read(size_t k, size_t d, int64_t from, double weight) const {
    if (d == loops_.size()) return in_[k].as<double>()[from] * weight;
    const LoopDim& l = loops_[d];
    if (l.filter < 0) return read(k, d + 1, from + index_[d] * l.in_stride[k], weight);
    const TapTable& t = tables_[static_cast<size_t>(l.filter)];
    double sum = 0;
    for (int tap = 0; tap < t.taps; ++tap) {
      const auto o = static_cast<size_t>(index_[d] - l.lo);
      const int64_t at = (t.first[o] + tap) * l.step * l.in_stride[k];
      sum += read(k, d + 1, from + at, weight * t.weight[o * static_cast<size_t>(t.taps) + static_cast<size_t>(tap)]);
    }
    return sum;
  }
  const SampleGeometry& g_;
  std::span<const View> in_;
  std::vector<double>& out_;
  std::vector<LoopDim> loops_;
  std::vector<TapTable> tables_;
  std::vector<int64_t> index_;
};

template <class F> void for_each_index(const Shape& shape, F&& f) {
  std::vector<int64_t> index(static_cast<size_t>(shape.size()));
  for (int64_t i = 0; i < shape.volume(); ++i) {
    int64_t rest = i;
    for (int d = shape.size() - 1; d >= 0; --d) index[static_cast<size_t>(d)] = rest % shape[d], rest /= shape[d];
    f(i, index);
  }
}

double sum_of(const Tensor64& in, const std::vector<const Taps*>& taps, size_t d, std::vector<int64_t>& at) {
  if (d == taps.size()) return in.at(at);
  double sum = 0;
  for (const auto& [index, weight] : *taps[d]) at[d] = index, sum += weight * sum_of(in, taps, d + 1, at);
  return sum;
}

// The whole output, each dimension by its own line. `to`: the output's layout.
std::vector<double> plain(const Tensor64& in, const std::vector<Line>& lines, const Layout& from, const Layout& to,
                          const std::vector<float>& fills, const Shape& shape) {
  std::vector<double> out(static_cast<size_t>(shape.volume()));
  for_each_index(shape, [&](int64_t i, const std::vector<int64_t>& index) {
    std::vector<const Taps*> taps(lines.size());
    bool fill = false;
    size_t channel = 0;
    for (size_t d = 0; d < lines.size(); ++d) {
      const int64_t o = index[static_cast<size_t>(to.find(from[static_cast<int>(d)]))];
      taps[d] = &lines[d][static_cast<size_t>(o)];
      fill |= taps[d]->empty();
      if (from[static_cast<int>(d)] == 'C' && fills.size() > 1) channel = static_cast<size_t>(o);
    }
    std::vector<int64_t> at(lines.size());
    out[static_cast<size_t>(i)] = fill ? static_cast<double>(fills[channel]) : sum_of(in, taps, 0, at);
  });
  return out;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6) << what << " at " << i;
}

constexpr PlaneRule kHost{kMostPlanes, 16, false};
constexpr double kUnwritten = std::numeric_limits<double>::infinity();

TEST(StageGeometry, RandomMaps) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Random random{std::mt19937(seed)};
    const char* layouts[] = {"HW", "HWC", "CHW", "DHWC", "FHWC", "W"};
    const Layout from = layouts[random(0, 5)];
    Layout to = from;
    if (from == Layout("HWC") && random.often()) to = "CHW";
    Shape shape;
    for (int d = 0; d < from.size(); ++d) shape.push_back(random(1, 6));
    const bool filters = random.often();
    const std::vector<Step> steps = random_steps(shape, from, filters, random);
    std::vector<Line> lines;
    for (int64_t extent : shape) {
      Line& line = lines.emplace_back();
      for (int64_t i = 0; i < extent; ++i) line.push_back({{i, 1.0}});
    }
    for (const Step& s : steps) carry_out(s, lines);
    const int c = from.find('C');
    std::vector<float> fills{static_cast<float>(random(-9, 9))};
    const PlaneRule rule = random.often() ? PlaneRule() : kHost;
    if (c >= 0 && rule.filled_apart && random.often())
      for (size_t k = 1; k < lines[static_cast<size_t>(c)].size(); ++k) fills.push_back(static_cast<float>(k) + 0.5f);

    const auto map = [&](const SampleContext&, Placement& p) {
      for (const Step& s : steps)
        if (s.filter) p.filter(s.dim, *s.filter);
        else p.window(s.dim, s.start, s.extent, s.step);
      p.fill(fills);
    };
    StageTraits traits;
    traits.maps = true, traits.filters = filters, traits.fills = true;
    const StageCode code = code_of({{DType::float64, from.size(), from}},
                                   std::make_shared<TestOp>(traits, ValueType{DType::float64, to.size(), to}, map));
    const Tensor64 in(shape, from, random);
    const StageGeometry geometry(code, rule);
    GeometryList<SampleGeometry> list;
    Shape out_shape;
    geometry.add({}, std::span(&in.view, 1), out_shape, list);
    const std::string what = "seed " + std::to_string(seed);
    ASSERT_EQ(list.size(), 1u) << what;
    const std::vector<double> expected = plain(in, lines, from, to, fills, out_shape);
    std::vector<double> out(expected.size(), kUnwritten);
    Loops(list[0], std::span(&in.view, 1), out).run();
    expect_near(out, expected, what);
    if (filters) continue;
    // The same loops, joined; then without what is fill.
    SampleGeometry joined = list[0];
    merge_dims(joined, 1, rule.innermost);
    std::fill(out.begin(), out.end(), kUnwritten);
    if (fills.size() == 1) Loops(joined, std::span(&in.view, 1), out).run(), expect_near(out, expected, what);
    SampleGeometry rest = list[0];
    const int64_t bytes[] = {8};
    leave_out_fills(rest, bytes, 8);
    merge_dims(rest, 1, rule.innermost, random.often());
    std::fill(out.begin(), out.end(), kUnwritten);
    rest.fills = false;
    Loops(rest, std::span(&in.view, 1), out).run();
    std::vector<double> read = expected;
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i] == kUnwritten) read[i] = kUnwritten;
    for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], read[i]) << what;
    int64_t filled = 0;
    const Coverage coverage = [&] {
      std::optional<Placement> p;
      geometry.place({}, shape, p);
      return coverage_of(*p);
    }();
    for (double v : out) filled += v == kUnwritten;
    EXPECT_EQ(coverage == Coverage::all, filled == 0) << what;
    EXPECT_EQ(coverage == Coverage::none, filled == static_cast<int64_t>(out.size())) << what;
  }
}

TEST(StageGeometry, InputsBroadcast) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Random random{std::mt19937(seed)};
    const bool channels = random.often();
    Shape shape;
    for (int d = static_cast<int>(random(1, 4)); d > 0; --d) shape.push_back(random(1, 5));
    std::vector<Tensor64> tensors;
    std::vector<ValueType> types;
    tensors.emplace_back(shape, Layout(), random);
    types.push_back({DType::float64, shape.size(), {}});
    for (int k = 0; k < 2; ++k) {
      Shape other;
      for (int d = static_cast<int>(random(0, shape.size() - 1)); d < shape.size(); ++d)
        other.push_back(random.often() ? shape[d] : 1);
      tensors.emplace_back(other, Layout(), random);
      types.push_back({DType::float64, other.size(), {}});
    }
    StageTraits traits;
    traits.pixels = true, traits.operands = 3, traits.mixes_channels = channels;
    const StageCode code =
        code_of(types, std::make_shared<TestOp>(traits, ValueType{DType::float64, shape.size(), {}}, Map()));
    std::vector<View> views;
    for (const Tensor64& t : tensors) views.push_back(t.view);
    GeometryList<SampleGeometry> list;
    Shape out_shape;
    StageGeometry(code, random.often() ? PlaneRule() : kHost).add({}, views, out_shape, list);
    ASSERT_TRUE(out_shape == shape);
    EXPECT_EQ(list[0].has_plane, channels);
    std::vector<double> expected(static_cast<size_t>(shape.volume())), out(expected.size(), kUnwritten);
    for_each_index(shape, [&](int64_t i, const std::vector<int64_t>& index) {
      for (const Tensor64& t : tensors) {
        std::vector<int64_t> at(index.end() - t.view.shape.size(), index.end());
        for (size_t d = 0; d < at.size(); ++d) at[d] = t.view.shape[static_cast<int>(d)] == 1 ? 0 : at[d];
        expected[static_cast<size_t>(i)] += t.at(at);
      }
    });
    Loops(list[0], views, out).run();
    EXPECT_EQ(out, expected) << seed;
    merge_dims(list[0], 3);
    std::fill(out.begin(), out.end(), kUnwritten);
    Loops(list[0], views, out).run();
    EXPECT_EQ(out, expected) << seed;
  }
}

// Each frame moves by its own number.
TEST(StageGeometry, FramesHaveTheirOwnLoops) {
  const Shape shape{4, 3, 5};
  Random random;
  Batch shifts = Batch::uniform(DType::int32, Shape{4}, {}, 1);
  for (int k = 0; k < 4; ++k) shifts.view(0).as<int32_t>()[k] = k - 1;
  const auto map = [&](const SampleContext& s, Placement& p) {
    p.window(2, shifts.view(0).as<int32_t>()[s.frame], 4);
    p.fill(7);
  };
  StageTraits traits;
  traits.maps = traits.fills = true;
  auto op = std::make_shared<TestOp>(traits, ValueType{DType::float64, 3, "FHW"}, map);
  ArgInfo argument;
  argument.name = "shift";
  Batch frames(DType::int32, 1, "F", 1);
  frames.sample(0).shape = Shape{4};
  frames.allocate();
  op->frame_arguments.emplace_back(&argument, &frames);
  const StageCode code = code_of({{DType::float64, 3, "FHW"}}, op);
  const Tensor64 in(shape, "FHW", random);
  const StageGeometry geometry(code, PlaneRule());
  GeometryList<SampleGeometry> list;
  Shape out_shape;
  geometry.add({}, std::span(&in.view, 1), out_shape, list);
  ASSERT_EQ(list.size(), 4u);
  std::vector<double> out(static_cast<size_t>(out_shape.volume()), kUnwritten);
  for (size_t k = 0; k < list.size(); ++k) Loops(list[k], std::span(&in.view, 1), out).run();
  for_each_index(out_shape, [&](int64_t i, const std::vector<int64_t>& index) {
    const int64_t from[] = {index[0], index[1], index[2] + index[0] - 1};
    EXPECT_EQ(out[static_cast<size_t>(i)], from[2] < 0 || from[2] > 4 ? 7 : in.at(from));
  });
  const Shape shapes[] = {Shape{3, 3, 5}, Shape{3, 3, 4}};
  EXPECT_TRUE(keeps_frames(code, {}, shapes));
  try {
    differing_frames(code, 0, shapes);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "shift has 4 values per frame for sample 0, which has 3 frames");
    EXPECT_EQ(e.op, "test");
  }
}

std::string error_with(const Shape& shape, const Layout& layout, StageTraits traits, const Map& map) {
  Random random;
  const StageCode code =
      code_of({{DType::float64, shape.size(), layout}},
              std::make_shared<TestOp>(traits, ValueType{DType::float64, shape.size(), layout}, map));
  const View in{nullptr, DType::float64, layout, shape, dense_strides(shape)};
  GeometryList<SampleGeometry> list;
  Shape out;
  try {
    StageGeometry(code, PlaneRule()).add({}, std::span(&in, 1), out, list);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(StageGeometry, RefusesWhatNoDeviceDoes) {
  StageTraits pixels;
  pixels.pixels = pixels.mixes_channels = true;
  EXPECT_EQ(error_with({2, 2, 257}, "HWC", pixels, {}), "at most 256 channels are supported here, got 257");
  EXPECT_EQ(error_with({2, 2, 256}, "HWC", pixels, {}), "");
  StageTraits filters;
  filters.maps = filters.filters = true;
  const auto resize = [](const std::vector<int>& dims) {
    return [dims](const SampleContext&, Placement& p) {
      for (int d : dims) {
        AxisFilter f;
        f.hi = static_cast<double>(p.extent(d)), f.out = 2;
        p.filter(d, f);
      }
    };
  };
  const char* const three = "at most three dimensions can be resampled, and not the channels";
  EXPECT_EQ(error_with({3, 3, 3, 3}, "FDHW", filters, resize({0, 1, 2, 3})), three);
  EXPECT_EQ(error_with({3, 3, 3, 3}, "FDHW", filters, resize({0, 1, 3})), "");
  EXPECT_EQ(error_with({3, 3, 3}, "HWC", filters, resize({2})), "");  // each channel is a row of its own then
  StageTraits both = filters;
  both.pixels = both.mixes_channels = true;
  EXPECT_EQ(error_with({3, 3, 3}, "HWC", both, resize({2})), three);
  StageTraits warps;
  warps.maps = warps.warps = true;
  for (const bool border_fill : {true, false}) {
    const auto warp = [&](const SampleContext&, Placement& p) {
      AffineMap m;
      m.m[0] = m.m[4] = 1, m.out[1] = m.out[2] = 2, m.border_fill = border_fill;
      p.affine(m);
    };
    EXPECT_EQ(error_with({0, 3}, "HW", warps, warp),
              border_fill ? "" : "an empty image cannot be warped without a fill_value");
  }
}

// A thread sees a pixel's channels together where they are few; the CPU does up to as many as it has registers for.
TEST(StageGeometry, PlanesFollowTheRule) {
  StageTraits filters;
  filters.maps = filters.filters = true;
  const auto map = [](const SampleContext&, Placement& p) {
    AxisFilter f;
    f.hi = static_cast<double>(p.extent(0)), f.out = 2;
    p.filter(0, f);
  };
  for (const int64_t channels : {3, 5, 256, 257}) {
    const Shape shape{3, 3, channels};
    const View in{nullptr, DType::uint8, "HWC", shape, dense_strides(shape)};
    const StageCode code =
        code_of({{DType::uint8, 3, "HWC"}}, std::make_shared<TestOp>(filters, ValueType{DType::uint8, 3, "HWC"}, map));
    for (const PlaneRule& rule : {PlaneRule(), kHost}) {
      const StageGeometry geometry(code, rule);
      std::optional<Placement> p;
      geometry.place({}, shape, p);
      const Planes planes = geometry.planes_of(std::span(&in, 1), &*p, 3);
      EXPECT_EQ(planes.dim, channels <= rule.filtered ? 2 : -1);
      EXPECT_EQ(planes.in, channels <= rule.filtered ? channels : 1);
    }
  }
}

TEST(StageGeometry, EmptyWarpsAreFill) {
  StageTraits warps;
  warps.maps = warps.warps = true;
  const auto warp = [](const SampleContext&, Placement& p) {
    AffineMap m;
    m.m[0] = m.m[4] = 1, m.out[1] = 2, m.out[2] = 4;
    p.affine(m);
    p.fill(5);
  };
  for (const int64_t height : {0, 3}) {
    const Shape shape{height, 3, 3};
    const View in{nullptr, DType::uint8, "HWC", shape, dense_strides(shape)};
    const StageCode code =
        code_of({{DType::uint8, 3, "HWC"}}, std::make_shared<TestOp>(warps, ValueType{DType::uint8, 3, "HWC"}, warp));
    GeometryList<SampleGeometry> list;
    Shape out;
    StageGeometry(code, PlaneRule()).add({}, std::span(&in, 1), out, list);
    const SampleGeometry& g = list[0];
    EXPECT_TRUE((out == Shape{2, 4, 3}));
    ASSERT_EQ(g.dims.size(), 2);
    EXPECT_EQ(g.dims[0].axis, 1);
    EXPECT_EQ(g.dims[1].axis, 0);
    EXPECT_EQ(g.dims[1].hi, height ? 4 : 0);
    EXPECT_EQ(g.fills, height == 0);
    EXPECT_EQ(g.source_extent[1], height);
    EXPECT_EQ(g.in_planes, 3);
  }
}

}  // namespace
}  // namespace penstock
