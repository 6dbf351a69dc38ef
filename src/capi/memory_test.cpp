// SPDX-License-Identifier: Apache-2.0
// Allocations that fail, one after the other: the program's allocator, and every operator new of the library.
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "capi/capi_test.h"

namespace {
std::atomic<long> live{0};
std::atomic<long> countdown{-1};  // allocations until one fails, once; negative: none
std::atomic<bool> failed{false}, lasting{false};

bool fails_now() {
  if (lasting && failed) return true;
  if (countdown < 0 || countdown-- != 0) return false;
  failed = true;
  return true;
}
}  // namespace

// This program's operators new, which the library uses too. The compiler sees free() only.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(size_t bytes) {
  if (fails_now()) throw std::bad_alloc();
  void* p = std::malloc(bytes ? bytes : 1);
  if (!p) throw std::bad_alloc();
  ++live;
  return p;
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept try {
  return operator new(bytes);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void operator delete(void* p) noexcept {
  if (p) --live;
  std::free(p);
}
void operator delete(void* p, size_t) noexcept { operator delete(p); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  if (fails_now()) throw std::bad_alloc();
  const auto a = static_cast<size_t>(alignment);
  void* p = std::aligned_alloc(a, (bytes + a - 1) / a * a);
  if (!p) throw std::bad_alloc();
  ++live;
  return p;
}
void operator delete(void* p, std::align_val_t) noexcept { operator delete(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { operator delete(p); }

namespace {

using namespace capi_test;

struct Counted {
  long blocks = 0, calls = 0, fail_at = -1;
  int released = 0;
  size_t bytes = 0;
  bool crooked = false;
  penstock_allocator* allocator = nullptr;

  Counted() {
    auto f = zeroed<penstock_allocator_functions>();
    f.user = this;
    f.allocate = [](void* u, size_t bytes, size_t alignment) -> void* {
      auto& c = *static_cast<Counted*>(u);
      EXPECT_EQ(alignment, 64u);
      if (c.calls++ == c.fail_at) return nullptr;
      ++c.blocks, c.bytes += bytes;
      auto* p = static_cast<char*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64));
      return c.crooked ? p + 8 : p;
    };
    f.deallocate = [](void* u, void* p, size_t bytes, size_t) {
      auto& c = *static_cast<Counted*>(u);
      --c.blocks, c.bytes -= bytes;
      std::free(c.crooked ? static_cast<char*>(p) - 8 : p);
    };
    f.release = [](void* u) { ++static_cast<Counted*>(u)->released; };
    EXPECT_OK(penstock_allocator_create(&f, &allocator));
  }
};

// Calls `body` with the first, second, third ... allocation behind arm() failing until it succeeds. Each failure must
// say that there was no memory and leave nothing behind. `last`: all allocations behind the failing one fail too.
using Arm = std::function<void()>;
void fail_each_new(const std::function<penstock_status(const Arm&)>& body, bool last = false) {
  for (int round = 0; round < 4; ++round) EXPECT_OK(body([] {}));  // what is made once and kept is made now
  for (long k = 0; k < 100000; ++k) {
    const long before = live;
    failed = false;
    lasting = last;
    const penstock_status status = body([k] { countdown = k; });
    lasting = false;
    countdown = -1;
    ASSERT_EQ(live, before) << "allocation " << k << " of the call fails";
    if (!failed) {
      EXPECT_OK(status);
      EXPECT_GT(k, 1);
      return;
    }
    // Some failures are survived: memory that would only be kept for later.
    ASSERT_TRUE(status == PENSTOCK_OK || status == PENSTOCK_ERROR_OUT_OF_MEMORY) << k << ": " << penstock_last_error();
  }
  FAIL() << "never succeeds";
}

}  // namespace

TEST(CapiMemory, ResultsComeFromTheProgramsAllocator) {
  Counted memory;
  Images images({{4, 5}, {9, 7}});
  penstock_batch *in = images.batch(), *out = nullptr;
  auto o = zeroed<penstock_call_options>();
  o.allocator = memory.allocator;
  EXPECT_OK(penstock_call("flip", &in, 1, nullptr, &o, &out, 1));
  EXPECT_EQ(memory.blocks, 1);
  EXPECT_GE(memory.bytes, size_t{4 * 5 * 3 + 9 * 7 * 3});
  penstock_allocator_destroy(memory.allocator);  // the batch still holds its memory
  EXPECT_EQ(memory.released, 0);
  EXPECT_EQ(bytes_of(out, 0).size(), 60u);
  penstock_batch_destroy(out);
  EXPECT_EQ(memory.blocks, 0);
  EXPECT_EQ(memory.released, 1);
  penstock_batch_destroy(in);
}

TEST(CapiMemory, TheDefaultMayBeReplaced) {
  Counted memory;
  Images images({{4, 5}});
  penstock_batch *in = images.batch(), *out = nullptr;
  EXPECT_OK(penstock_set_default_allocator(memory.allocator));
  penstock_allocator_destroy(memory.allocator);
  EXPECT_OK(penstock_call("flip", &in, 1, nullptr, nullptr, &out, 1));
  EXPECT_EQ(memory.blocks, 1);
  EXPECT_OK(penstock_set_default_allocator(nullptr));
  penstock_batch_destroy(out);
  EXPECT_EQ(memory.blocks, 0);
  EXPECT_EQ(memory.released, 1);
  EXPECT_OK(penstock_call("flip", &in, 1, nullptr, nullptr, &out, 1));
  EXPECT_EQ(memory.calls, 1);
  penstock_batch_destroy(out);
  penstock_batch_destroy(in);
}

TEST(CapiMemory, AProgramsAllocatorThatFailsOrIsCrooked) {
  Images images({{4, 5}, {9, 7}});
  penstock_batch *in = images.batch(), *out = nullptr;
  for (const char* op : {"flip", "brightness_contrast", "crop_mirror_normalize"}) {
    Counted memory;
    auto o = zeroed<penstock_call_options>();
    o.allocator = memory.allocator;
    for (memory.fail_at = 0;; ++memory.fail_at) {
      memory.calls = 0;
      const penstock_status status = penstock_call(op, &in, 1, nullptr, &o, &out, 1);
      if (status == PENSTOCK_OK) break;
      ASSERT_EQ(status, PENSTOCK_ERROR_OUT_OF_MEMORY) << penstock_last_error();
      EXPECT_NE(std::string(penstock_last_error()).find("allocator gave no"), std::string::npos);
      EXPECT_EQ(out, nullptr);
      EXPECT_EQ(memory.blocks, 0);
    }
    EXPECT_GT(memory.fail_at, 0);
    penstock_batch_destroy(out);
    out = nullptr;
    memory.fail_at = -1;
    memory.crooked = true;
    EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "aligned to 64", penstock_call(op, &in, 1, nullptr, &o, &out, 1));
    EXPECT_EQ(memory.blocks, 0);
    penstock_allocator_destroy(memory.allocator);
    EXPECT_EQ(memory.released, 1);
  }
  penstock_batch_destroy(in);
  auto f = zeroed<penstock_allocator_functions>();
  penstock_allocator* a = nullptr;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "allocate and deallocate", penstock_allocator_create(&f, &a));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "NULL", penstock_allocator_create(nullptr, &a));
}

TEST(CapiMemory, EveryFailingAllocationOfACallIsSurvived) {
  EXPECT_OK(penstock_set_threads(1));
  Images images({{4, 5}, {9, 7}});
  penstock_batch* in = images.batch();
  const double size[] = {3, 2};
  for (const bool last : {false, true})
    for (const char* op : {"flip", "brightness_contrast", "resize", "crop_mirror_normalize"})
      fail_each_new(
          [&](const Arm& arm) {
            arm();
            penstock_arguments* args = nullptr;
            penstock_batch* out = nullptr;
            penstock_status s = penstock_arguments_create(&args);
            if (!s && !std::string_view(op).compare("resize")) s = penstock_set_floats(args, "size", size, 2);
            if (!s) s = penstock_call(op, &in, 1, args, nullptr, &out, 1);
            penstock_batch_destroy(out);
            penstock_arguments_destroy(args);
            return s;
          },
          last);
  fail_each_new([&](const Arm& arm) {
    arm();
    const auto d = images.description();
    penstock_batch* b = nullptr;
    const penstock_status s = penstock_batch_create(&d, &b);
    penstock_batch_destroy(b);
    return s;
  });
  fail_each_new([&](const Arm& arm) {  // the message of another error may find no memory
    arm();
    penstock_batch* out = nullptr;
    const penstock_status s = penstock_call("flipp", &in, 1, nullptr, nullptr, &out, 1);
    return s == PENSTOCK_ERROR_KEY ? PENSTOCK_OK : s;
  });
  penstock_batch_destroy(in);
  EXPECT_OK(penstock_set_threads(0));
}

TEST(CapiMemory, EveryFailingAllocationOfAPipelineIsSurvived) {
  // external_source -> resize, run twice by one thread.
  const char* json = R"({"penstock_pipeline": 1, "batch_size": 2, "threads": 1, "prefetch": 1,
    "graph": {"penstock_graph": 2, "seed": 5, "outputs": [[1, 0]], "nodes": [
      {"op": "external_source", "name": "images", "outputs": 1, "constants": {"num_outputs": 1, "layout": ["HWC"]}},
      {"op": "resize", "name": "small", "outputs": 1, "inputs": [[0, 0]], "constants": {"size": [3, 2]}}]}})";
  Images images({{4, 5}, {9, 7}});
  penstock_batch* in = images.batch();
  for (const bool last : {false, true})
    fail_each_new(
        [&](const Arm& arm) {
          penstock_pipeline* p = nullptr;
          // Not while loading: the JSON library's destructors allocate, and a failure there ends the process.
          penstock_status s = penstock_pipeline_load(json, nullptr, &p);
          arm();
          for (int i = 0; i < 2 && !s; ++i) s = penstock_pipeline_feed(p, "images", &in, 1);
          for (int i = 0; i < 2 && !s; ++i) {
            penstock_batch* out = nullptr;
            s = penstock_pipeline_run(p, nullptr, &out, 1);
            penstock_batch_destroy(out);
          }
          penstock_pipeline_destroy(p);
          return s;
        },
        last);
  penstock_batch_destroy(in);
}
