// SPDX-License-Identifier: Apache-2.0
// What the host sends for samples of one shape.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "gpu_room/forwarding_driver.h"
#include "gpu_room/random_batch.h"
#include "gpu_room/stage_bytes.h"
#include "gpu_room/stage_program.h"

namespace penstock {
namespace {

// Counts what leaves the host.
class CountingDriver final : public ForwardingDriver {
 public:
  using ForwardingDriver::ForwardingDriver;
  void copy(int device, void* to, const void* from, size_t bytes, StreamHandle s) override {
    ++copies;
    d_->copy(device, to, from, bytes, s);
  }
  void launch(int device, const DeviceKernel& kernel, const Launch& how, const void* table, StreamHandle s) override {
    by_value += how.by_value;
    d_->launch(device, kernel, how, table, s);
  }
  int copies = 0, by_value = 0;
};

// A row for all of them, and their weights, fit into a kernel's parameter. Samples that do not lie evenly have rows of
// their own.
TEST(GpuStage, TablesOfSamplesAlike) {
  ::setenv("PENSTOCK_KERNELS", "compiled", 1);
  CountingDriver driver(make_driver());
  constexpr int kSamples = 200;
  const std::vector<Shape> shapes(kSamples, Shape{8, 8, 3});
  const Batch in = on_device(driver, random_batch(DType::uint8, shapes, "HWC", 3));
  Batch uneven = in;
  std::swap(uneven.sample(1).data, uneven.sample(5).data);
  Batch sigma = Batch::uniform(DType::float32, Shape{}, {}, kSamples);
  for (int i = 0; i < kSamples; ++i) *sigma.view(i).as<float>() = 0.5f + 0.002f * static_cast<float>(i);
  const StageProgram program = program_of(
      {{"gaussian_blur", {{"window_size", std::vector<int64_t>{3}}}, {{"sigma", &sigma}}}}, {{DType::uint8, 3, "HWC"}});
  const auto runner = make_gpu_stage(program, driver);
  const size_t each = 8 * 8 * 3;
  const std::vector<char> first = bytes_of(driver, *runner, in);
  driver.copies = driver.by_value = 0;
  EXPECT_EQ(bytes_of(driver, *runner, in), first);
  EXPECT_EQ(driver.copies, kSamples);  // those that fetch the results
  EXPECT_EQ(driver.by_value, 1);
  std::vector<char> swapped = bytes_of(driver, *runner, uneven);
  EXPECT_EQ(driver.by_value, 1);
  for (int i = 0; i < kSamples; ++i) {
    if (i == 1 || i == 5) continue;
    EXPECT_EQ(std::memcmp(swapped.data() + each * i, first.data() + each * i, each), 0) << i;
  }
  EXPECT_EQ(swapped, bytes_of(driver, *make_gpu_stage(program, driver), uneven));
}

}  // namespace
}  // namespace penstock
