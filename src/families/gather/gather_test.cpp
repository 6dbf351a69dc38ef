// SPDX-License-Identifier: Apache-2.0
// The family on the CPU equals its twin, in every type, filter, border and target, wherever a map leads.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "base/intrinsics.h"
#include "families/gather/rows.h"

namespace penstock::gather {
namespace {

struct MapRule {
  struct Coef {
    const float *x, *y;
    int32_t width;
    float rest;
  };
  template <class V> static Position<V> at(int64_t, int32_t y, int32_t x, const Coef& c) {
    const int64_t i = int64_t{y} * c.width + x;
    return {V(c.x[i]), V(c.y[i]), V(c.rest), V(c.rest)};
  }
};
const std::vector<Target>& targets() {
  static const auto* all = new std::vector<Target>([] {
    std::vector<Target> found;
    for (const Target t : {Target::scalar, Target::avx2, Target::avx512})
      if (t <= best_target()) found.push_back(t);
    return found;
  }());
  return *all;
}

// Memory that ends with a page that cannot be read: a read past it is a fault.
class GuardedMemory {
 public:
  GuardedMemory() : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    all_ = static_cast<char*>(
        mmap(nullptr, kPages * page_ + 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(all_, page_, PROT_NONE);
    mprotect(all_ + (kPages + 1) * page_, page_, PROT_NONE);
  }
  ~GuardedMemory() { munmap(all_, (kPages + 2) * page_); }
  char* last(size_t bytes) const { return all_ + (kPages + 1) * page_ - bytes; }
  char* first() const { return all_ + page_; }
  size_t size() const { return kPages * page_; }

 private:
  static constexpr size_t kPages = 16;
  size_t page_;
  char* all_;
};

// Positions around the image, some of them halfway, far outside or no numbers.
std::vector<float> random_map(std::mt19937& random, size_t n, int extent) {
  std::uniform_real_distribution<float> near(-2.5f, static_cast<float>(extent) + 1.5f);
  std::vector<float> map(n);
  const float special[] = {NAN,        INFINITY, -INFINITY,   1e30f,      -1e30f,
                           1e9f,       -1e9f,    12345678.5f, -87654.25f, -0.0f,
                           -1e-20f,    1e-20f,   0.49999997f, -0.5f,      static_cast<float>(extent),
                           0.99999994f};
  const bool inside = random() % 3 == 0;
  for (float& v : map) {
    const auto kind = random() % 32;
    v = inside ? std::uniform_real_distribution<float>(1, std::max(static_cast<float>(extent) - 2.5f, 1.5f))(random)
        : kind == 0 ? special[random() % std::size(special)]
        : kind < 8  ? std::round(near(random) * 4) / 4
                    : near(random);
  }
  return map;
}

struct Call {
  Source source;
  int32_t height, width;
  MapRule::Coef coef;
};
template <class T, class V> void expect_twin(const T* in, const T* got, const Call& c, const std::string& where) {
  for (int32_t y = 0; y < c.height; ++y)
    for (int32_t x = 0; x < c.width; ++x) {
      Neighbor<V> ny, nx;
      neighbors<MapRule>(0, y, x, c.coef, ny, nx);
      for (int32_t k = 0; k < c.source.channels; ++k, ++got) {
        const T expected = sampled(in, c.source, ny, nx, k);
        if constexpr (!std::is_same_v<T, Half>)
          if (expected != expected && *got != *got) continue;  // NaN has many spellings
        ASSERT_EQ(0, std::memcmp(&expected, got, sizeof(T))) << where << " y " << y << " x " << x << " channel " << k;
      }
    }
}
template <class T> T random_element(std::mt19937& random) {
  if constexpr (std::is_same_v<T, bool>) return random() % 2;
  else if constexpr (std::is_integral_v<T>) return static_cast<T>((uint64_t{random()} << 32) | random());
  else if constexpr (std::is_same_v<T, Half>) return Half(static_cast<float>(random() % 2001) - 1000.0f);
  else return random() % 50 ? static_cast<T>(random() % 100003) / T(7) : std::numeric_limits<T>::infinity();
}

template <class T> void compare(std::mt19937& random, const GuardedMemory& memory) {
  const auto pick = [&](int n) { return static_cast<int32_t>(random() % n); };
  Call c{};
  c.source.channels = std::array{1, 3, 4, 3, 1, 2, 5}[pick(7)];
  c.source.height = 1 + pick(12), c.source.width = 1 + pick(40);
  c.source.filter = static_cast<Filter>(pick(3)), c.source.border = static_cast<Border>(pick(5));
  c.source.fill = std::array{0.0, 77.0, 3.7, -5.0, 300.0, 2.5}[pick(6)];
  c.height = 1 + pick(6), c.width = 1 + pick(70);
  if (pick(8) == 0) c.width += 2 * kBlock;
  const auto outputs = static_cast<size_t>(c.height) * static_cast<size_t>(c.width);
  const auto xs = random_map(random, outputs, c.source.width), ys = random_map(random, outputs, c.source.height);
  c.coef = {xs.data(), ys.data(), c.width, pick(2) ? -0.5f : 0.0f};
  const size_t elements = static_cast<size_t>(c.source.height) * c.source.width * c.source.channels;
  ASSERT_LE(elements * sizeof(T), memory.size());
  for (const bool at_the_end : {true, false}) {
    T* in = reinterpret_cast<T*>(at_the_end ? memory.last(elements * sizeof(T)) : memory.first());
    for (size_t i = 0; i < elements; ++i) in[i] = random_element<T>(random);
    for (const Target target : targets()) {
      std::vector<char> room((outputs * c.source.channels + 1) * sizeof(T), 'E');
      sample_image(target, dtype_of<T>, in, c.source, position_loops<MapRule>(c.coef, target), {0, c.height, c.width},
                   room.data());
      const auto where =
          fmt::format("target {} type {} filter {} border {} fill {} source {} x {} x {}", static_cast<int>(target),
                      name_of(dtype_of<T>), static_cast<int>(c.source.filter), static_cast<int>(c.source.border),
                      c.source.fill, c.source.height, c.source.width, c.source.channels);
      const T* got = reinterpret_cast<const T*>(room.data());
      if (c.source.filter == kNearest) expect_twin<T, float>(in, got, c, where);
      else expect_twin<T, Number<T>>(in, got, c, where);
      if (testing::Test::HasFatalFailure()) return;
      ASSERT_EQ(std::string(sizeof(T), 'E'), std::string(room.end() - sizeof(T), room.end())) << where;
    }
  }
}

TEST(Gather, EveryTargetEqualsTheTwinAndReadsTheImageAlone) {
  const GuardedMemory memory;
  std::mt19937 random(5);
  for (const DType type : {DType::uint8, DType::float32, DType::bool_, DType::int8, DType::float16, DType::uint16,
                           DType::int16, DType::uint32, DType::int32, DType::uint64, DType::int64, DType::float64}) {
    const int rounds = type == DType::uint8 || type == DType::float32 ? 300 : 40;
    for (int k = 0; k < rounds && !HasFatalFailure(); ++k)
      dispatch(type, [&]<class T>(TypeTag<T>) { compare<T>(random, memory); });
  }
}

// What float32 gives differs from float64 by less than the conversion to bytes does.
TEST(Gather, BytesAreWithinAHalfOfFloat64) {
  std::mt19937 random(6);
  std::vector<uint8_t> in(40 * 50 * 3);
  for (auto& v : in) v = static_cast<uint8_t>(random() % 2 ? 255 : random());
  const std::vector<double> exact(in.begin(), in.end());
  double worst = 0;
  for (const Filter filter : {kLinear, kCubic})
    for (const float rest : {0.0f, -0.5f}) {
      const Source s{40, 50, 3, filter, kReflect101, 0, 0};
      for (int k = 0; k < 20000; ++k) {
        const auto at = [&](int n) { return std::uniform_real_distribution<float>(0, static_cast<float>(n))(random); };
        const float y = at(40), x = at(50);
        const int32_t c = static_cast<int32_t>(random() % 3);
        const double expected = std::clamp(sampled<double, double>(exact.data(), s, neighbor(double{y}, double{rest}),
                                                                   neighbor(double{x}, double{rest}), c),
                                           0.0, 255.0);
        const uint8_t got = sampled<uint8_t, float>(in.data(), s, neighbor(y, rest), neighbor(x, rest), c);
        worst = std::max(worst, std::abs(got - expected));
      }
    }
  EXPECT_LE(worst, 0.5 + 1e-4);
}

TEST(Gather, PositionsFarFromZeroKeepTheirFractions) {
  const Neighbor<float> n = neighbor(20000.25f, 0.0001f);  // a float there is a multiple of 1/512
  EXPECT_EQ(n.at, 20000);
  EXPECT_NEAR(n.weight, 0.2501, 1e-7);
  const Neighbor<float> low = neighbor(3.0f, -0.25f);
  EXPECT_EQ(low.at, 2);
  EXPECT_EQ(low.weight, 0.75f);
}

}  // namespace
}  // namespace penstock::gather
