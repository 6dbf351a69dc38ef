// SPDX-License-Identifier: Apache-2.0
// The family's kernels as ordinary C++, with fibers for threads, give what the twin gives, aligned or not.
#include "emulated_gpu/launch_rows.h"
//
#include <array>
#include <sstream>

#include "cuda/kernels/emit.h"
#include "cuda/runtime/nvrtc.h"
#include "cuda/whole/launches.h"
#include "families/field/kernels/noise.h"
#include "families/field/test_fields.h"

namespace penstock::field {
namespace {

// Two samples of a batch, whose memory begins `shift` elements after an aligned address.
template <class T> struct Samples {
  explicit Samples(std::mt19937& random) : n(1 + random() % 1500), shift(random() % 3 * (random() % 2)) {
    for (int k = 0; k < 2; ++k) {
      ins.push_back(random_elements<T>(random, n + 2 + shift)), outs.emplace_back(n + 3 + shift);
      streams.push_back(random_stream(random));
    }
  }
  const T* in(size_t k) const { return ins[k].data() + shift; }
  T* out(size_t k) const { return outs[k].data() + shift; }
  template <class Expected> void check(const Expected& expected) const {
    for (size_t k = 0; k < 2; ++k) {
      expect_each<T>(outs[k], shift, n, fmt::format("{} of {} from {}", name_of(dtype_of<T>), n, shift),
                     [&](size_t i) { return expected(k, i); });
      ASSERT_TRUE(same<T>(outs[k][shift + n], T(1)));
    }
  }
  size_t n, shift;
  std::vector<Memory<T>> ins, outs;
  std::vector<RandomStream> streams;
};

template <class T> void compare(std::mt19937& random) {
  const Samples<T> s(random);
  const int64_t n = static_cast<int64_t>(s.n);
  const SumRule::Coef sum{static_cast<float>(random() % 9), static_cast<float>(random() % 90)};
  const auto rows = [&]<class C>(const C& coef) {
    std::vector<Row<C>> all;
    for (size_t k = 0; k < 2; ++k) all.push_back({s.in(k), s.out(k), n, s.streams[k], coef});
    return all;
  };
  const int64_t normal_units = units_of(n, group_at_once<T>), units = units_of(n, false);
  whole::launch<Row<SumRule::Coef>>(rows(sum), {normal_units, normal_units}, whole::kThreads, add_normals<T, SumRule>);
  s.check([&](size_t k, size_t i) { return with_normal<T, SumRule>(s.in(k)[i], s.streams[k], i, sum); });
  const CountRule::Coef count{std::array{0.5f, 20.0f, 3000.0f}[random() % 3]};
  whole::launch<Row<CountRule::Coef>>(rows(count), {units, units}, whole::kThreads, add_counts<T, CountRule>);
  s.check([&](size_t k, size_t i) {
    return with_count<T, CountRule>(s.in(k)[i], word_at(s.streams[k], i), s.streams[k], i, count);
  });
}
TEST(FieldKernels, EqualTheTwin) {
  std::mt19937 random(1);
  for (int k = 0; k < 8 && !HasFatalFailure(); ++k) {
    compare<uint8_t>(random), compare<int8_t>(random), compare<bool>(random), compare<Half>(random);
    compare<float>(random), compare<int16_t>(random), compare<int32_t>(random), compare<double>(random);
  }
}

template <class T, int known> void compare_replaced(int64_t channels, int64_t inner, std::mt19937& random) {
  Samples<T> s(random);
  const int64_t each = channels * inner, count = static_cast<int64_t>(s.n) / each * inner;
  if (count == 0) return;
  s.n = static_cast<size_t>(count * channels);
  const Positions p{count, channels, inner};
  const uint32_t last = std::array{0u, 0x10000000u, 0x80000000u, 0xFFFFFFFFu}[random() % 4];
  const TwoValuesRule::Coef coef{-3, 1000};
  std::vector<ReplaceRow<TwoValuesRule::Coef>> rows;
  std::vector<Memory<T>> expected;
  for (size_t k = 0; k < 2; ++k) {
    s.out(k)[s.n] = T(1);
    rows.push_back({s.in(k), s.out(k), p, s.streams[k], last, coef});
    expected.emplace_back(s.n);
    for (int64_t i = 0; i < count; ++i)
      replace_position<T, TwoValuesRule>(s.in(k), expected[k].data(), p, i,
                                         word_at(s.streams[k], static_cast<uint64_t>(i)), last, coef);
  }
  const int64_t units = units_of(count, known != 0);
  whole::launch<ReplaceRow<TwoValuesRule::Coef>>(rows, {units, units}, whole::kThreads,
                                                 replace<T, known, TwoValuesRule>);
  s.check([&](size_t k, size_t i) { return expected[k][i]; });
}
TEST(FieldKernels, ReplacementEqualsTheTwin) {
  std::mt19937 random(2);
  for (int k = 0; k < 20 && !HasFatalFailure(); ++k) {
    compare_replaced<uint8_t, 1>(1, 1, random), compare_replaced<uint8_t, 3>(3, 1, random);
    compare_replaced<int8_t, 3>(3, 1, random), compare_replaced<uint8_t, 0>(4, 1, random);
    compare_replaced<uint8_t, 0>(3, 40, random), compare_replaced<float, 0>(3, 1, random);
    compare_replaced<double, 0>(2, 7, random);
  }
}

// GPUs that most people own have one unit for float64 where they have 32 or 64 for float32.
TEST(FieldKernels, TypesThatFloat32HoldsNeedNoFloat64) {
  std::string why;
  const Nvrtc* compiler = Nvrtc::find(why);
  if (!compiler) GTEST_SKIP() << "NVRTC is not installed";
  const char* rule = R"(
struct Coef { float mean; };
template <class V> PENSTOCK_HD static V mean(V in, const Coef& c) { return in; }
template <class V> PENSTOCK_HD static V noisy(V in, V z, const Coef& c) { return in + z * static_cast<V>(c.mean); }
PENSTOCK_HD static float value(uint32_t, const Coef& c) { return c.mean; }
)";
  const auto options = compiler->options(999, why);  // text, of the newest GPU that the compiler knows
  ASSERT_FALSE(options.empty()) << why;
  // Instructions: the constants of headers are in every text.
  const auto computes_in_float64 = [&](const char* instance) {
    const WholeKernel kernel{"families/field/kernels/noise.h", instance, rule, ""};
    std::istringstream text(compiler->compile(kernel_text(kernel), kStageEntry, options).bytes);
    for (std::string line; std::getline(text, line);)
      if (line.find("f64") != std::string::npos && !line.starts_with(".global")) return true;
    return false;
  };
  for (const char* instance :
       {"field::add_normals<uint8_t, Rule>", "field::add_normals<Half, Rule>", "field::add_counts<uint8_t, Rule>",
        "field::add_counts<float, Rule>", "field::replace<uint8_t, 3, Rule>", "field::replace<Half, 0, Rule>"})
    EXPECT_FALSE(computes_in_float64(instance)) << instance;
  EXPECT_TRUE(computes_in_float64("field::add_normals<int32_t, Rule>"));
}

}  // namespace
}  // namespace penstock::field
