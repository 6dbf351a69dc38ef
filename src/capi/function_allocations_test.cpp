// SPDX-License-Identifier: Apache-2.0
// How often a repeated call allocates: malloc is interposed for this test program.
#include "capi/capi_test.h"
#include "codecs/test_images.h"
#include "penstock/fn.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {
thread_local int allocations = 0;
}

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* data, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) { return ++allocations, __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return ++allocations, __libc_calloc(count, bytes); }
void* realloc(void* data, size_t bytes) { return ++allocations, __libc_realloc(data, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return ++allocations, __libc_memalign(alignment, bytes); }
int posix_memalign(void** data, size_t alignment, size_t bytes) {
  ++allocations;
  *data = __libc_memalign(alignment, bytes);
  return *data ? 0 : 12;  // ENOMEM
}
}

namespace {

using namespace penstock::api;

constexpr int kMostAllocations = 10;
constexpr int kEdge = 64;

int allocations_of(const Function& f, const std::vector<Batch>& inputs, const std::vector<Batch>& into) {
  for (int i = 0; i < 3; ++i) f(inputs, into);  // what is kept from call to call
  allocations = 0;
  f(inputs, into);
  return allocations;
}

TEST(FunctionAllocations, OfAJpegToATensor) {
  penstock::test::JpegRecipe r;
  r.height = 200, r.width = 300;
  const auto made = penstock::test::make_jpeg(r);
  std::vector<uint8_t> file(made.begin(), made.end());
  Graph g;
  auto x = g.add("external_source", {}, fn::ExternalSourceArguments{.dtype = 0, .ndim = 1}.list(), "jpegs");
  x = g.add("decoders.image", x);
  x = g.add("resize", x, fn::ResizeArguments{.size = {kEdge, kEdge}}.list());
  x = g.add(
      "crop_mirror_normalize", x,
      fn::CropMirrorNormalizeArguments{.dtype = DType::float32, .mean = {1, 2, 3}, .output_layout = "CHW"}.list());
  const Function f(g, x);
  std::vector<float> out(2 * 3 * kEdge * kEdge);
  const auto bytes = static_cast<int64_t>(file.size());
  EXPECT_LE(allocations_of(f, {Batch::wrap(file.data(), {1, bytes})}, {Batch::wrap(out.data(), {1, 3, kEdge, kEdge})}),
            kMostAllocations);
  EXPECT_LE(allocations_of(f, {Batch::wrap(std::vector<uint8_t*>(2, file.data()), std::vector<Shape>(2, {bytes}))},
                           {Batch::wrap(out.data(), {2, 3, kEdge, kEdge})}),
            kMostAllocations);
}

TEST(FunctionAllocations, OfFramesToALetterbox) {
  Graph g;
  auto x = g.add("external_source", {}, fn::ExternalSourceArguments{.dtype = 0, .layout = {"HWC"}}.list(), "frames");
  x = g.add("resize", x, fn::ResizeArguments{.size = {kEdge, kEdge}, .mode = ResizeMode::not_larger}.list());
  x = g.add("crop", x,
            fn::CropArguments{
                .crop = {kEdge, kEdge}, .fill_values = 114.0, .out_of_bounds_policy = OutOfBoundsPolicy::constant}
                .list());
  x = g.add(
      "crop_mirror_normalize", x,
      fn::CropMirrorNormalizeArguments{.dtype = DType::float32, .output_layout = "CHW", .scale = 1 / 255.0}.list());
  const Function f(g, x);
  std::vector<uint8_t> frames(8 * 90 * 120 * 3, 7);
  std::vector<float> out(8 * 3 * kEdge * kEdge);
  EXPECT_LE(
      allocations_of(f, {Batch::wrap(frames.data(), {8, 90, 120, 3})}, {Batch::wrap(out.data(), {8, 3, kEdge, kEdge})}),
      kMostAllocations);
}

}  // namespace

#endif
