// SPDX-License-Identifier: Apache-2.0
// What penstock.hpp and fn.h take and give, as types. tests/test_cpp_package.py compiles it with warnings as errors.
#include <penstock/dlpack.h>
#include <penstock/fn.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#if __cplusplus >= 202002L
#include <ranges>
#endif

using namespace penstock;

#define REQUIRE(...)                                                                             \
  do {                                                                                           \
    if (!(__VA_ARGS__)) return std::fprintf(stderr, "line %d: %s\n", __LINE__, #__VA_ARGS__), 1; \
  } while (false)

namespace {

using Ints = Optional<std::vector<int64_t>>;
using Floats = PerSample<std::vector<double>>;
using Texts = Optional<std::vector<std::string>>;

// Lists come from any range of numbers, but integers not from fractions; text not from numbers, nor the other way.
static_assert(std::is_convertible_v<std::vector<float>, Floats>);
static_assert(std::is_convertible_v<std::vector<int>, Floats>);
static_assert(std::is_convertible_v<std::array<float, 3>, Floats>);
static_assert(std::is_convertible_v<const double (&)[2], Floats>);
static_assert(std::is_convertible_v<std::initializer_list<float>, Floats>);
static_assert(std::is_convertible_v<std::vector<size_t>, Ints>);
static_assert(std::is_convertible_v<std::array<int, 2>, Ints>);
static_assert(std::is_convertible_v<std::vector<bool>, Ints>);
static_assert(std::is_convertible_v<std::vector<const char*>, Texts>);
static_assert(std::is_convertible_v<std::array<std::string_view, 2>, Texts>);
static_assert(!std::is_constructible_v<Ints, std::vector<double>>);
static_assert(!std::is_constructible_v<Ints, std::array<float, 2>>);
static_assert(!std::is_constructible_v<Ints, std::vector<std::string>>);
static_assert(!std::is_constructible_v<Floats, std::vector<std::string>>);
static_assert(!std::is_constructible_v<Texts, std::vector<int>>);
static_assert(!std::is_constructible_v<Optional<double>, std::vector<float>>);
static_assert(!std::is_constructible_v<Ints, Batch>);
static_assert(std::is_constructible_v<Floats, Batch>);  // one a sample

// A pointer into a batch that ends with the expression does not compile; const memory is read as const.
template <class T, class = void> struct GivesPointer : std::false_type {};
template <class T>
struct GivesPointer<T, std::void_t<decltype(std::declval<T>().template as<float>())>> : std::true_type {};
static_assert(GivesPointer<Tensor>::value && GivesPointer<LastTensor&>::value && !GivesPointer<LastTensor>::value);
static_assert(std::is_same_v<decltype(std::declval<const Tensor&>().as<const float>()), const float*>);
static_assert(std::is_same_v<decltype(std::declval<const Batch&>()[0]), Tensor>);
static_assert(std::is_same_v<decltype(std::declval<Batch>()[0]), LastTensor>);
static_assert(std::is_same_v<std::iterator_traits<Batch::Iterator>::value_type, Tensor>);
#if __cplusplus >= 202002L
template <class T> concept GivesSpan = requires(T t) { std::forward<T>(t).template span<float>(); };
static_assert(GivesSpan<Tensor> && GivesSpan<LastTensor&> && !GivesSpan<LastTensor&&>);
static_assert(std::is_same_v<decltype(std::declval<const Tensor&>().span<const float>()), std::span<const float>>);
static_assert(std::is_convertible_v<std::span<const float>, Floats>);
static_assert(!std::is_constructible_v<Ints, std::span<float>>);
static_assert(std::ranges::input_range<Batch> && std::ranges::input_range<const Batch>);
#endif

template <class F> bool refuses(F&& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.status() == PENSTOCK_ERROR_TYPE;
  }
  return false;
}

int run() {
  std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const Batch images = Batch::wrap(values.data(), {2, 1, 2, 3}, "HWC");
  REQUIRE(std::distance(images.begin(), images.end()) == 2);
  const std::vector<Tensor> samples(images.begin(), images.end());
  REQUIRE(samples[1].as<const float>()[0] == 7);
  REQUIRE(std::all_of(images.begin(), images.end(), [](const Tensor& t) { return t.shape == Shape{1, 2, 3}; }));

  DLManagedTensorVersioned* const shared = images.to_dlpack(1);
  REQUIRE(shared->dl_tensor.ndim == 3 && shared->dl_tensor.shape[2] == 3 && shared->dl_tensor.dtype.bits == 32);
  shared->deleter(shared);

  const std::vector<float> mean{1, 2, 3};
  const std::array<float, 3> deviation{1, 2, 4};
  fn::CropMirrorNormalizeArguments arguments;
  arguments.mean = mean, arguments.std = deviation, arguments.output_layout = "HWC";
  const Batch normal = fn::crop_mirror_normalize(images, arguments);
  const Tensor first = normal[0];
  REQUIRE(first.as<float>()[0] == 0 && first.as<float>()[5] == 0.75f);
  arguments.mean = {1.f, 2.f, 3.f}, arguments.std = {1, 2, 4};
  const Batch again = fn::crop_mirror_normalize(images, arguments);
  REQUIRE(std::memcmp(again[0].data, first.data, first.bytes) == 0);
  Arguments list;
  list.set("mean", mean), list.set("std", deviation), list.set("output_layout", "HWC");
  const Batch by_name = call("crop_mirror_normalize", {images}, list)[0];
  REQUIRE(std::memcmp(by_name[0].data, first.data, first.bytes) == 0);
  list.set("mean", {1, 2, 3});
  REQUIRE(std::memcmp(call("crop_mirror_normalize", {images}, list)[0][0].data, first.data, first.bytes) == 0);

  const Batch constant = Batch::wrap(static_cast<const float*>(values.data()), {2, 6});
  const Tensor row = constant[1];
  REQUIRE(row.as<const float>()[5] == 12 && refuses([&] { row.as<float>(); }) && refuses([&] { row.as<const int>(); }));
#if __cplusplus >= 202002L
  REQUIRE(row.span<const float>().size() == 6 && row.span<const float>().back() == 12);
  REQUIRE(refuses([&] { row.span<float>(); }) && refuses([&] { row.span<const double>(); }));
  for (const Tensor& t : images) std::ranges::fill(t.span<float>(), 3.f);
  REQUIRE(std::ranges::all_of(values, [](float v) { return v == 3; }));
  Tensor turned = images[0];
  turned.strides = {6, 1, 2};
  REQUIRE(!turned.is_dense() && refuses([&] { turned.span<float>(); }));
#endif
  return 0;
}

}  // namespace

int main() { return run(); }
