// SPDX-License-Identifier: Apache-2.0
// The text of every pixel function, with only the vocabulary, gives the bits of the function that was compiled with the
// library; and it compiles for GPUs if NVRTC is found.
#include "cuda/kernels/type_names.h"
#include "cuda/kernels/vocabulary.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>

#include "cuda/runtime/nvrtc.h"
#include "emulated_gpu/compile.h"
#include "operator/bound_op.h"
#include "pixel/filter.h"

namespace penstock {
namespace {

// One pixel function in one lane; the interface of the text's kernel and the test.
struct Use {
  const OpInfo* info;
  Lane lane;
  std::shared_ptr<BoundOp> op;
};
struct Call {
  int32_t use = 0;
  int32_t n = 0;
  const void* in[3] = {};
  void* out[3] = {};
  const std::byte* coef = nullptr;
  uint8_t refused = 0;
};
constexpr const char* kCall = R"(
struct Call { int32_t use, n; const void* in[3]; void* out[3]; const void* coef; uint8_t refused; };
)";

DType dtype_in(Lane l) {
  constexpr DType types[] = {DType::float32, DType::float64, DType::int32, DType::int64, DType::uint64};
  return types[static_cast<int>(l)];
}

// With what the operator cannot be without.
std::shared_ptr<BoundOp> bound(const OpInfo& info) {
  if (info.name != "color_matrix") return info.make();
  std::vector<Argument> args(info.args.size());
  for (size_t i = 0; i < args.size(); ++i)
    if (info.args[i].name == "coefficients") args[i].value = std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9};
  return bind_op(info, args);
}

std::vector<Use> all_uses() {
  std::vector<Use> uses;
  for (const OpInfo* info : all_ops()) {
    const std::shared_ptr<BoundOp> op = info->make();
    if (!op->traits().pixels) continue;
    EXPECT_NE(op->device_text(), "") << info->name;
    for (int l = 0; l < kLanes; ++l)
      if (op->coef_bytes(static_cast<Lane>(l)) > 0) uses.push_back({info, static_cast<Lane>(l), bound(*info)});
  }
  return uses;
}

std::string text_of(const std::vector<Use>& uses) {
  std::string structs, cases;
  for (size_t i = 0; i < uses.size(); ++i) {
    const Use& u = uses[i];
    const StageTraits t = u.op->traits();
    const std::string v = number(u.lane), name = fmt::format("Op{}", i);
    structs += fmt::format("struct {0} {{\n{1}}};\nstatic_assert(sizeof({0}::Coef<{2}>) == {3});\n", name,
                           u.op->device_text(), v, u.op->coef_bytes(u.lane));
    auto in = [&](int k) { return fmt::format("static_cast<const {}*>(c.in[{}])[i]", v, k); };
    auto out = [&](int k) { return fmt::format("static_cast<{}*>(c.out[{}])[i]", v, k); };
    std::string body;
    if (t.mixes_channels) {
      body = fmt::format(
          "const Rgb<{0}> p = {1}::pixel(Rgb<{0}>{{{2}, {3}, {4}}}, coef);\n{5} = p.r, {6} = p.g, {7} = p.b;\n", v,
          name, in(0), in(1), in(2), out(0), out(1), out(2));
    } else {
      std::string values = in(0);
      for (int k = 1; k < t.operands; ++k) values += ", " + in(k);
      body = fmt::format("{} = {}::pixel({}, coef);\n", out(0), name, values);
      if (t.faults) body += fmt::format("c.refused |= {}::refuses({}, coef);\n", name, values);
    }
    cases += fmt::format(
        "case {}: {{\nconst auto coef = *static_cast<const {}::Coef<{}>*>(c.coef);\n"
        "for (int i = 0; i < c.n; ++i) {{\n{}}}\n}} break;\n",
        i, name, v, body);
  }
  return vocabulary() + "namespace penstock {\n" + kCall + structs +
         "extern \"C\" __global__ void use(const char* table) {\nCall& c = *(Call*)table;\nswitch (c.use) {\n" + cases +
         "}\n}\n}\n";
}

// Values of all sizes, including limits.
template <class V> std::vector<V> values(int n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<V> v(n);
  for (V& x : v) {
    const uint64_t r = random();
    if constexpr (std::is_floating_point_v<V>) {
      x = static_cast<V>(
          std::ldexp(static_cast<double>(static_cast<int64_t>(random())) / 0x1p63, static_cast<int>(r % 24) - 8));
      if (r % 31 == 0) x = static_cast<V>(std::round(static_cast<double>(x)));
      if (r % 37 == 0) x = std::numeric_limits<V>::infinity();
      if (r % 41 == 0) x = V(-0.0);
    } else {
      x = static_cast<V>(r >> (random() % 64));
      if (r % 31 == 0) x = std::numeric_limits<V>::lowest();
      if (r % 37 == 0) x = V(-1);
    }
  }
  return v;
}

// Whether an operator takes samples of a type.
bool takes(BoundOp& op, DType type) {
  std::vector<ValueType> types(op.traits().operands, {type, 3, "HWC"}), result(1);
  try {
    op.infer(types, result);
  } catch (const Error&) {
    return false;
  }
  return true;
}

template <class V> void compare(const Use& u, int index, const HostKernel& kernel) {
  constexpr int n = 512;
  const StageTraits t = u.op->traits();
  const int planes = t.mixes_channels ? 3 : 1;
  u.op->ready();
  // Operators of codes take bytes alone, whose values are those of any lane.
  const bool bytes = !takes(*u.op, dtype_in(u.lane));
  ASSERT_TRUE(!bytes || takes(*u.op, DType::uint8)) << u.info->name;
  std::vector<std::byte> coef(u.op->coef_bytes(u.lane) * 3);
  u.op->coef({}, u.lane, 1, coef.data());

  std::vector<V> in[3], want[3], got[3];
  Call call;
  TileCall tile;
  const void* from[3][3] = {};
  void* to[3] = {};
  bool fault = false;
  for (int k = 0; k < 3; ++k) {
    in[k] = values<V>(n, static_cast<uint64_t>(index * 3 + k));
    for (int i = 0; bytes && i < n; ++i) in[k][i] = static_cast<V>(i % 256);
    want[k].resize(n), got[k].resize(n);
    call.in[k] = in[k].data(), call.out[k] = got[k].data();
    if (t.mixes_channels) from[0][k] = in[k].data();
    else from[k][0] = in[k].data();
    tile.in[k] = from[k];
    to[k] = want[k].data();
  }
  call.use = index, call.n = n, call.coef = coef.data();
  tile.out = to, tile.planes = tile.in_planes = planes, tile.n = n, tile.coef = coef.data(), tile.fault = &fault;
  u.op->tile(Target::scalar, u.lane)(tile);
  kernel.run({}, reinterpret_cast<const char*>(&call));
  EXPECT_EQ(call.refused != 0, fault) << u.info->name;
  for (int p = 0; p < planes; ++p)
    for (int i = 0; i < n; ++i) {
      if (want[p][i] != want[p][i] && got[p][i] != got[p][i]) continue;  // NaN
      ASSERT_EQ(std::memcmp(&want[p][i], &got[p][i], sizeof(V)), 0)
          << u.info->name << " " << number(u.lane) << " of " << in[0][i] << ", " << in[1][i] << ": " << got[p][i]
          << " instead of " << want[p][i];
    }
}

TEST(PixelText, GivesTheBitsOfTheCompiledFunction) {
  const std::vector<Use> uses = all_uses();
  ASSERT_GT(uses.size(), 100u);
  const auto kernel = compile_for_host(text_of(uses), "penstock::use");
  for (size_t i = 0; i < uses.size(); ++i) {
    const auto& host = static_cast<const HostKernel&>(*kernel);
    switch (uses[i].lane) {
      case Lane::f32: compare<float>(uses[i], static_cast<int>(i), host); break;
      case Lane::f64: compare<double>(uses[i], static_cast<int>(i), host); break;
      case Lane::i32: compare<int32_t>(uses[i], static_cast<int>(i), host); break;
      case Lane::i64: compare<int64_t>(uses[i], static_cast<int>(i), host); break;
      case Lane::u64: compare<uint64_t>(uses[i], static_cast<int>(i), host); break;
    }
  }
}

// Whatever kernels may call from the other headers, instantiated.
constexpr const char* kRest = R"(
namespace penstock {
template <class V, class T> __device__ void convert(const T* in, V* lane, T* out, int i) {
  lane[i] = round_to<T>(to_lane<T, V>(in[i]));
  out[i] = from_lane<V, T>(lane[i]);
}
template <class V> __device__ void convert_all(char* p, int i) {
  V* lane = (V*)p;
  convert<V>((bool*)p, lane, (bool*)p, i), convert<V>((Half*)p, lane, (Half*)p, i);
  convert<V>((BFloat16*)p, lane, (BFloat16*)p, i);
  convert<V>((int8_t*)p, lane, (int8_t*)p, i), convert<V>((uint8_t*)p, lane, (uint8_t*)p, i);
  convert<V>((int16_t*)p, lane, (int16_t*)p, i), convert<V>((uint16_t*)p, lane, (uint16_t*)p, i);
  convert<V>((int32_t*)p, lane, (int32_t*)p, i), convert<V>((uint32_t*)p, lane, (uint32_t*)p, i);
  convert<V>((int64_t*)p, lane, (int64_t*)p, i), convert<V>((uint64_t*)p, lane, (uint64_t*)p, i);
  convert<V>((float*)p, lane, (float*)p, i), convert<V>((double*)p, lane, (double*)p, i);
  ((float*)p)[i] = change_lane<V, float>(lane[i]), ((double*)p)[i] = change_lane<V, double>(lane[i]);
  ((int32_t*)p)[i] = change_lane<V, int32_t>(lane[i]), ((int64_t*)p)[i] = change_lane<V, int64_t>(lane[i]);
  ((uint64_t*)p)[i] = change_lane<V, uint64_t>(lane[i]) + static_cast<uint64_t>(fill_in_lane<V>(2.5f));
}
template <int dims> __device__ void warp(const double* m, const int64_t* extent, const char* in, double* out) {
  auto load = [=](int64_t i) { return to_lane<uint8_t, double>(in[i]); };
  const AffineChannel<dims, double, decltype(load)> c{extent, extent + 3, true, 1.0, load};
  out[0] = c.linear(affine_point<dims>(m, 1, 2, 3, false));
  out[1] = c.tap(affine_point<dims>(m, 1, 2, 3, true), 0);
}
extern "C" __global__ void rest(const char* table) {
  char* p = (char*)table;
  convert_all<float>(p, threadIdx.x), convert_all<double>(p, threadIdx.x), convert_all<int32_t>(p, threadIdx.x);
  convert_all<int64_t>(p, threadIdx.x), convert_all<uint64_t>(p, threadIdx.x);
  const AxisTaps a = axis_taps(FilterKind::cubic, true, 0, 9, 5, FilterBorder::clamp, nullptr, 0, 9);
  const OutputTaps t = make_output_taps(a, threadIdx.x, (double*)p, (float*)p);
  ((float*)p)[1] = tap_weight(a, t, kernel_scale(a, t), 1);
  warp<2>((double*)p, (int64_t*)p, p, (double*)p), warp<3>((double*)p, (int64_t*)p, p, (double*)p);
}
}
)";

TEST(PixelText, CompilesForGpus) {
  std::string why;
  const Nvrtc* nvrtc = Nvrtc::find(why);
  if (!nvrtc) GTEST_SKIP() << why;
  const std::string pixels = text_of(all_uses());
  for (const int architecture : {75, 90}) {
    const std::vector<std::string> options = nvrtc->options(architecture, why);
    ASSERT_FALSE(options.empty()) << why;
    EXPECT_FALSE(nvrtc->compile(pixels, "use", options).bytes.empty());
    EXPECT_FALSE(nvrtc->compile(vocabulary() + kRest, "rest", options).bytes.empty());
  }
}

TEST(Vocabulary, CompilesForTheHostWhole) { compile_for_host(vocabulary() + kRest, "penstock::rest"); }

TEST(Vocabulary, the_functions_of_its_longest_headers_are_known_by_name) {
  for (const char* text : {"return pow(a, b);", "V(2)*atan2(y, x)", "sin_of_any(x)", "log10(x)", "penstock::exp(-x)"})
    EXPECT_TRUE(calls_long_functions(text)) << text;
  for (const char* text : {"", "a + b", "sqrt(x)", "wrap<V>(expand(x), c)", "is_near(x)", "exp", "my_exp(x)"})
    EXPECT_FALSE(calls_long_functions(text)) << text;
}

TEST(Vocabulary, OneTapAloneIsTheTapOfTheTable) {
  for (const auto kind : {FilterKind::nearest, FilterKind::linear, FilterKind::cubic, FilterKind::triangular,
                          FilterKind::gaussian, FilterKind::lanczos3, FilterKind::window})
    for (const auto border : {FilterBorder::clamp, FilterBorder::reflect_101, FilterBorder::reflect_1001,
                              FilterBorder::wrap, FilterBorder::cut})
      for (const int64_t in : {1, 2, 7, 40})
        for (const int64_t out : {1, 5, 40, 93, -40}) {  // negative: weights of 16 bits
          AxisFilter f{.kind = kind,
                       .lo = -1.5,
                       .hi = static_cast<double>(in) + 0.25,
                       .out = std::abs(out),
                       .border = border,
                       .int16_weights = out < 0 && kind != FilterKind::window,
                       .window = {}};
          if (kind == FilterKind::window) f.window = {0.25f, 0.5f, -0.25f, 0.5f, 1.0f};
          TapTable table;
          make_taps(f, in, 0, 1, f.out, table);
          const AxisTaps a = axis_taps(f, in);
          for (int64_t o = 0; o < f.out; ++o) {
            const OutputTaps t = output_taps(a, o);
            ASSERT_EQ(t.first, table.first[o]);
            const double sum = kernel_scale(a, t);
            for (int k = 0; k < a.taps; ++k)
              ASSERT_EQ(std::bit_cast<uint32_t>(tap_weight(a, t, sum, k)),
                        std::bit_cast<uint32_t>(table.weight[o * a.taps + k]));
          }
        }
}

}  // namespace
}  // namespace penstock
