// SPDX-License-Identifier: Apache-2.0
// The family's kernel as ordinary C++, with fibers for threads, gives what its twin gives.
#include "emulated_gpu/launch_rows.h"
//
#include "base/error.h"
#include "cuda/kernels/emit.h"
#include "cuda/runtime/nvrtc.h"
#include "cuda/whole/launches.h"
#include "families/gather/kernels/sample.h"
#include "families/gather/test_maps.h"

namespace penstock::gather {
namespace {

template <class T, int channels, int filter, int samples>
void compare(const Call& c, std::mt19937& random, const GuardedMemory& memory) {
  constexpr int kImages = 2, kAll = kImages * samples;  // with the same map
  const size_t elements = c.elements(), made = c.xs.size() * static_cast<size_t>(c.source.channels);
  for (const bool at_the_end : {true, false}) {
    const size_t bytes = kAll * elements * sizeof(T);
    ASSERT_LE(bytes, memory.size());
    T* in = reinterpret_cast<T*>(at_the_end ? memory.last(bytes) : memory.first());
    for (size_t i = 0; i < kAll * elements; ++i) in[i] = random_element<T>(random);
    std::vector<T> out(kAll * made + 1, T(1));
    RowHead head{{},
                 {},
                 static_cast<int64_t>(elements * sizeof(T)),
                 static_cast<int64_t>(made * sizeof(T)),
                 c.source,
                 {},
                 c.height,
                 c.width};
    for (int k = 0; k < samples; ++k) head.in[k] = in + k * kImages * elements, head.out[k] = &out[k * kImages * made];
    if ((kImages * elements * sizeof(T)) % 4 != 0 && samples > 1) return;  // such samples are not joined
    head.plane = plane_of(c.source, kTaps<filter>, c.source.channels * static_cast<int64_t>(sizeof(T)),
                          reinterpret_cast<uint64_t>(in));
    const Row<MapRule::Coef> row{head, c.coef};
    const Tiles tiles(c.height, c.width, pixels_of_thread(sizeof(T), channels, filter, samples));
    whole::launch<Row<MapRule::Coef>>({row, row}, {units_of(kImages, tiles), whole::kThreads}, whole::kThreads,
                                      sample_pixels<T, channels, filter, samples, MapRule>);
    for (int i = 0; i < kAll; ++i)
      expect_twin<T, PositionNumber<T, filter>>(in + i * elements, out.data() + i * made, c, c.text(dtype_of<T>));
    const T untouched = T(1);
    ASSERT_EQ(0, std::memcmp(&out.back(), &untouched, sizeof(T)));
  }
}
template <class T, int channels, int filter>
void compare(const Call& c, std::mt19937& random, const GuardedMemory& memory) {
  compare<T, channels, filter, 1>(c, random, memory);
  if constexpr (channels != 0) compare<T, channels, filter, kTogether>(c, random, memory);
}
template <class T, int channels>
void compare(const Call& c, std::mt19937& random, const GuardedMemory& memory) {
  switch (c.source.filter) {
    case kNearest: return compare<T, channels, kNearest>(c, random, memory);
    case kLinear: return compare<T, channels, kLinear>(c, random, memory);
    case kCubic: return compare<T, channels, kCubic>(c, random, memory);
  }
}

TEST(GatherKernel, EqualsTheTwinAndReadsTheImageAlone) {
  const GuardedMemory memory;
  std::mt19937 random(8);
  for (int k = 0; k < 150 && !HasFatalFailure(); ++k) {
    const Call c(random);
    if (k % 8 == 7) compare<uint16_t, 0>(c, random, memory);
    else if (k % 8 == 6) compare<float, 0>(c, random, memory);
    else if (k % 8 == 5 && c.source.channels == 3) compare<float, 3>(c, random, memory);
    else if (k % 8 == 5 && c.source.channels == 4) compare<int32_t, 4>(c, random, memory);
    else if (c.source.channels == 1) compare<uint8_t, 1>(c, random, memory);
    else if (c.source.channels == 3) compare<uint8_t, 3>(c, random, memory);
    else if (c.source.channels == 4) compare<uint8_t, 4>(c, random, memory);
    else compare<uint8_t, 0>(c, random, memory);
  }
}

TEST(GatherKernel, FindsTheSameElementsBeyondAnEdgeAsTheTwin) {
  std::mt19937 random(9);
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  for (const int32_t n : {1, 2, 3, 7, 1920, 1 << 30, kMost - 1, kMost})
    for (const Border border : {kConstant, kReplicate, kReflect101, kReflect, kWrap}) {
      const auto same = [&](int64_t at) {
        if (at < -kReach - 1 || at > kReach + 2) return;
        const auto own = static_cast<int32_t>(at);
        ASSERT_EQ(bordered(own, n, border), soon_bordered(own, n, border))
            << own << " of " << n << " border " << border;
      };
      for (int64_t periods = -3; periods <= 3; ++periods)
        for (int64_t k = -3; k <= 3; ++k) same(periods * n + k);
      for (int k = 0; k < 100; ++k) same(static_cast<int32_t>(random()) % (kReach + 2));
    }
}

// GPUs that most people own have one unit for float64 where they have 32 or 64 for float32.
TEST(GatherKernel, TypesThatFloat32HoldsNeedNoFloat64) {
  std::string why;
  const Nvrtc* compiler = Nvrtc::find(why);
  if (!compiler) GTEST_SKIP() << "NVRTC is not installed";
  const char* rule = R"(
struct Coef { const float* x; };
template <class V> PENSTOCK_HD static gather::Position<V> at(int32_t, int32_t y, int32_t x, const Coef& c) {
  const auto sum = gather::from_unit_range(static_cast<V>(c.x[x]), static_cast<V>(3));
  return {sum.value, static_cast<V>(y), sum.rest, V(0)};
})";
  const auto options = compiler->options(999, why);  // text, of the newest GPU that the compiler knows
  ASSERT_FALSE(options.empty()) << why;
  const auto made = [&](const char* instance) {
    const WholeKernel kernel{"families/gather/kernels/sample.h", instance, rule, ""};
    return compiler->compile(kernel_text(kernel), kStageEntry, options).bytes;
  };
  for (const char* instance :
       {"gather::sample_pixels<uint8_t, 3, 1, 1, Rule>", "gather::sample_pixels<uint8_t, 4, 2, 4, Rule>",
        "gather::sample_pixels<Half, 0, 1, 1, Rule>", "gather::sample_pixels<float, 0, 2, 1, Rule>"})
    EXPECT_EQ(made(instance).find("f64"), std::string::npos) << instance;
  EXPECT_NE(made("gather::sample_pixels<int32_t, 0, 1, 1, Rule>").find("f64"), std::string::npos);
}

}  // namespace
}  // namespace penstock::gather
