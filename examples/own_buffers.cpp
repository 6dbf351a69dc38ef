// SPDX-License-Identifier: Apache-2.0
// Calls operators on the program's own buffers: inputs are read in place, results are written where they are
// wanted, and what Penstock allocates comes from the program's allocator. Compares with a direct computation.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory_resource>

#include "penstock/fn.h"

namespace {

// Counts what passes through it.
class CountedMemory : public std::pmr::memory_resource {
 public:
  std::atomic<size_t> in_use{0}, most{0}, calls{0};

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    void* p = upstream_->allocate(bytes, alignment);
    ++calls;
    most = std::max<size_t>(most, in_use += bytes);
    return p;
  }
  void do_deallocate(void* p, size_t bytes, size_t alignment) override {
    in_use -= bytes;
    upstream_->deallocate(p, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
  std::pmr::memory_resource* upstream_ = std::pmr::new_delete_resource();
};

void expect(bool right, const char* what) {
  std::printf("%-58s %s\n", what, right ? "right" : "WRONG");
  if (!right) std::exit(1);
}

}  // namespace

int main() {
  using namespace penstock;
  constexpr int64_t n = 3, height = 48, width = 64, channels = 3, volume = height * width * channels;
  std::vector<uint8_t> pictures(n * volume);
  for (size_t i = 0; i < pictures.size(); ++i) pictures[i] = static_cast<uint8_t>(i * 37 + i / 251);

  const auto memory = std::make_shared<CountedMemory>();
  CallOptions options;
  options.allocator = Allocator(memory);
  {
    const Batch images = Batch::wrap(pictures.data(), {n, height, width, channels}, "HWC");
    expect(images[1].data == pictures.data() + volume, "the batch lies over the program's buffer");

    // A value of its own for each sample, from another buffer.
    std::vector<float> brightness{0.5f, 1.0f, 1.75f};
    const Batch result = fn::brightness_contrast(images, {.brightness = Batch::wrap(brightness.data(), {n})}, options);
    bool right = true;
    for (int i = 0; i < n; ++i)
      for (int64_t k = 0; k < volume; ++k) {
        const float value = std::min(255.0f, std::nearbyint(pictures[i * volume + k] * brightness[i]));
        right &= result[i].as<uint8_t>()[k] == static_cast<uint8_t>(value);
      }
    expect(right, "brightness of each sample");
    expect(memory->in_use >= n * volume, "the result came from the program's allocator");

    // Results in the program's buffer, in memory that is not one block.
    std::vector<std::vector<uint8_t>> rows(n, std::vector<uint8_t>(volume));
    options.into = {Batch::wrap(std::vector<uint8_t*>{rows[0].data(), rows[1].data(), rows[2].data()},
                                std::vector<Shape>(n, Shape{height, width, channels}))};
    fn::flip(images, {.horizontal = 0, .vertical = 1}, options);
    right = true;
    for (int i = 0; i < n; ++i)
      for (int64_t y = 0; y < height; ++y)
        right &= std::equal(rows[i].begin() + y * width * channels, rows[i].begin() + (y + 1) * width * channels,
                            pictures.begin() + i * volume + (height - 1 - y) * width * channels);
    expect(right, "flip into the program's buffers");
    options.into.clear();

    // Ragged batches: each sample has a shape of its own.
    std::vector<float> heights{16, 24, 48};
    const Batch ragged = fn::crop(images, {.crop_w = 32, .crop_h = Batch::wrap(heights.data(), {n})}, options);
    expect(ragged[0].shape == Shape{16, 32, 3} && ragged[2].shape == Shape{48, 32, 3}, "crops of different heights");
    expect(fn::resize(ragged, {.size = {20, 30}}, options).is_dense(), "resized to one shape");
  }
  try {
    call("fliip", {});
    expect(false, "an unknown name is refused");
  } catch (const Error& e) {
    std::printf("as it should: %s\n", e.what());
  }
  expect(memory->in_use == 0, "all memory is back");
  std::printf("%zu allocations, at most %zu bytes\n", memory->calls.load(), memory->most.load());
}
