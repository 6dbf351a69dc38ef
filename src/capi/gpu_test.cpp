// SPDX-License-Identifier: Apache-2.0
// GPUs as C and C++ programs see them; on the GPU that PENSTOCK_GPU_LIBRARY names (the build's tests: an emulated one).
#include <cstdlib>
#include <map>

#include "capi/capi_test.h"
#include "codecs/png_write.h"
#include "dlpack/dlpack.h"
#include "penstock/fn.h"

using namespace capi_test;
using penstock::Batch;
using penstock::CallOptions;
using penstock::Device;
namespace fn = penstock::fn;

namespace {

#define NEEDS_GPU() \
  if (penstock_gpu_count() == 0) GTEST_SKIP() << "machine: " << penstock_gpu_why_not()

// An invalid CUDA stream handle: only for the emulated GPU.
void* some_stream() {
  return std::getenv("PENSTOCK_GPU_LIBRARY") ? reinterpret_cast<void*>(uintptr_t{0x4440}) : nullptr;
}

std::vector<uint8_t> values(const Batch& b) {
  std::vector<uint8_t> v;
  for (int i = 0; i < b.size(); ++i) {
    const auto t = b[i];
    v.insert(v.end(), t.as<uint8_t>(), t.as<uint8_t>() + t.size());
  }
  return v;
}

}  // namespace

TEST(CapiGpu, SaysWhatThereIs) {
  EXPECT_EQ(penstock_gpu_count() == 0, penstock_gpu_why_not()[0] != 0);
  auto d = Images({{2, 3}}).description();
  Images images({{2, 3}});
  d = images.description();
  d.device_kind = 7;
  penstock_batch* b = nullptr;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "not a kind of device", penstock_batch_create(&d, &b));
  d.device_kind = PENSTOCK_GPU, d.device_id = 99;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "GPU", penstock_batch_create(&d, &b));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "GPU", penstock_set_device_allocator(99, nullptr));
  EXPECT_EQ(b, nullptr);
}

TEST(CapiGpu, AProgramOfTheOlderStructsRunsAsBefore) {
  Images images({{2, 3}, {4, 1}});
  auto d = images.description();
  d.struct_size = offsetof(penstock_batch_description, device_kind);
  d.device_kind = 99;  // fields after the known ones are not the library's
  penstock_batch* b = nullptr;
  EXPECT_OK(penstock_batch_create(&d, &b));
  auto info = zeroed<penstock_batch_info>();
  info.struct_size = offsetof(penstock_batch_info, device_kind);
  info.device_kind = 55;
  EXPECT_OK(penstock_batch_get_info(b, &info));
  EXPECT_EQ(info.device_kind, 55);
  penstock_batch_destroy(b);
}

TEST(CapiGpu, BatchesMove) {
  NEEDS_GPU();
  Images images({{2, 3}, {4, 1}, {9, 7}});
  penstock_batch* b = images.batch();
  penstock_batch *there = nullptr, *back = nullptr, *again = nullptr;
  EXPECT_OK(penstock_batch_copy_to(b, PENSTOCK_GPU, 0, nullptr, &there));
  auto info = zeroed<penstock_batch_info>();
  EXPECT_OK(penstock_batch_get_info(there, &info));
  EXPECT_EQ(info.device_kind, PENSTOCK_GPU);
  EXPECT_EQ(info.device_id, 0);
  EXPECT_OK(penstock_batch_wait(there));
  EXPECT_OK(penstock_batch_order_before(there, nullptr));
  EXPECT_OK(penstock_batch_used_on(there, nullptr));
  EXPECT_OK(penstock_batch_copy_to(there, PENSTOCK_CPU, 0, nullptr, &back));
  penstock_batch_destroy(there);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bytes_of(back, i), images.bytes[i]);
  EXPECT_OK(penstock_batch_copy_to(back, PENSTOCK_CPU, 0, nullptr, &again));
  EXPECT_EQ(sample(back, 0).data, sample(again, 0).data);
  for (auto* x : {b, back, again}) penstock_batch_destroy(x);
}

TEST(CapiGpu, TheProgramsMemory) {
  NEEDS_GPU();
  auto bytes = ramp(2 * 6 * 8 * 3);
  const Batch host = Batch::wrap(bytes.data(), {2, 6, 8, 3}, "HWC");
  const Batch made = Batch::allocate(Device::gpu(), penstock::DType::uint8, {{6, 8, 3}, {6, 8, 3}}, "HWC");
  EXPECT_TRUE(made.on_gpu() && made.is_dense());
  // GPU memory that the library knows nothing about: here, another batch's.
  const Batch source = host.gpu();
  source.wait();
  int released = 0;
  {
    std::shared_ptr<void> owner(&released, [](void* n) { ++*static_cast<int*>(n); });
    const Batch wrapped = Batch::wrap(static_cast<uint8_t*>(source[0].data), {2, 6, 8, 3}, "HWC", owner, Device::gpu());
    owner = nullptr;
    EXPECT_TRUE(wrapped.on_gpu());
    EXPECT_EQ(values(fn::flip(wrapped).cpu()), values(fn::flip(host)));
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(CapiGpu, Calls) {
  NEEDS_GPU();
  auto bytes = ramp(2 * 6 * 8 * 3);
  const Batch host = Batch::wrap(bytes.data(), {2, 6, 8, 3}, "HWC");
  const Batch there = host.gpu();
  const Batch flipped = fn::flip(there);
  EXPECT_TRUE(flipped.on_gpu());
  EXPECT_EQ(values(flipped.cpu()), values(fn::flip(host)));

  CallOptions options;
  options.device = Device::gpu();
  const Batch resized = fn::resize(host, {.size = {4, 5}}, options);
  EXPECT_TRUE(resized.on_gpu());
  EXPECT_EQ(values(resized.cpu()), values(fn::resize(host, {.size = {4, 5}})));
  EXPECT_THROW(flipped[0].as<float>(), penstock::Error);

  const Batch mine = Batch::allocate(Device::gpu(), penstock::DType::uint8, {{6, 8, 3}, {6, 8, 3}});
  options.into = {mine};
  const Batch result = fn::flip(there, {}, options);
  EXPECT_EQ(result[0].data, mine[0].data);
  EXPECT_EQ(values(mine.cpu()), values(fn::flip(host)));
  options.into = {host};
  try {
    fn::flip(there, {}, options);
    ADD_FAILURE() << "memory of the host took a result on a GPU";
  } catch (const penstock::Error& e) {
    EXPECT_EQ(e.status(), PENSTOCK_ERROR_ARGUMENT);
  }
}

TEST(CapiGpu, AnAllocatorOfTheProgram) {
  NEEDS_GPU();
  if (!std::getenv("PENSTOCK_GPU_LIBRARY")) GTEST_SKIP() << "machine: the test's allocator gives memory of the host";
  struct State {
    std::map<void*, size_t> taken;
    void* last_stream = nullptr;
    bool empty = false;
    int released = 0;
  } state;
  auto f = zeroed<penstock_device_allocator_functions>();
  f.user = &state;
  f.allocate = [](void* u, size_t bytes, void* stream) -> void* {
    auto& s = *static_cast<State*>(u);
    if (s.empty) return nullptr;
    void* p = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    s.taken[p] = bytes, s.last_stream = stream;
    return p;
  };
  f.deallocate = [](void* u, void* p, size_t bytes, void*) {
    auto& s = *static_cast<State*>(u);
    EXPECT_EQ(s.taken.at(p), bytes);
    s.taken.erase(p);
    std::free(p);
  };
  f.release = [](void* u) { ++static_cast<State*>(u)->released; };
  EXPECT_OK(penstock_set_device_allocator(0, &f));
  auto bytes = ramp(48);
  const Batch host = Batch::wrap(bytes.data(), {1, 4, 4, 3}, "HWC");
  {
    const Batch there = host.gpu(0, some_stream());
    EXPECT_EQ(state.taken.count(there[0].data), 1u);
    EXPECT_EQ(state.last_stream, some_stream());
    state.empty = true;
    penstock_batch* none = nullptr;
    EXPECT_FAILS(PENSTOCK_ERROR_OUT_OF_MEMORY, "could not allocate 48 bytes on gpu:0",
                 penstock_batch_copy_to(host.handle(), PENSTOCK_GPU, 0, nullptr, &none));
    EXPECT_OK(penstock_set_device_allocator(0, nullptr));
    EXPECT_EQ(state.released, 0);
    EXPECT_EQ(values(host.gpu().cpu()), bytes);
  }
  EXPECT_TRUE(state.taken.empty());
  EXPECT_EQ(state.released, 1);
}

TEST(CapiGpu, DlpackSaysWhereTheMemoryIs) {
  NEEDS_GPU();
  auto bytes = ramp(2 * 6 * 8 * 3);
  const Batch there = Batch::wrap(bytes.data(), {2, 6, 8, 3}, "HWC").gpu();
  auto* t = there.to_dlpack(1, some_stream());
  EXPECT_EQ(t->dl_tensor.device.device_type, kDLCUDA);
  EXPECT_EQ(t->dl_tensor.device.device_id, 0);
  EXPECT_EQ(t->dl_tensor.data, there[1].data);
  const Batch back = Batch::from_dlpack({t}, "HWC", some_stream());
  EXPECT_TRUE(back.on_gpu());
  EXPECT_EQ(values(back.cpu()), std::vector<uint8_t>(bytes.begin() + 144, bytes.end()));
}

TEST(CapiGpu, FilesInMemoryAreDecodedThere) {
  NEEDS_GPU();
  Images images({{4, 5}, {9, 7}});
  std::vector<std::vector<uint8_t>> files;
  for (int i = 0; i < 2; ++i)
    files.push_back(penstock::encode_png(images.bytes[i].data(), images.shapes[i * 3], images.shapes[i * 3 + 1], 3));
  const auto encoded = Batch::wrap(std::vector<uint8_t*>{files[0].data(), files[1].data()},
                                   {{static_cast<int64_t>(files[0].size())}, {static_cast<int64_t>(files[1].size())}});
  CallOptions there;
  there.device = Device::gpu(0, some_stream());
  const Batch pictures = fn::decoders::image(encoded, {}, there);
  EXPECT_TRUE(pictures.on_gpu());
  const Batch here = pictures.cpu();
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(std::vector<uint8_t>(here[i].as<uint8_t>(), here[i].as<uint8_t>() + here[i].size()), images.bytes[i]);
  const Batch corner =
      fn::decoders::image_crop(encoded, {.crop_w = 2.0, .crop_h = 3.0, .decoder = penstock::Decoder::cpu}, there).cpu();
  EXPECT_EQ(corner[0].size(), 2 * 3 * 3);
  try {
    penstock::Arguments wrong;
    wrong.set("decoder", "none");
    penstock::call("decoders.image", {encoded}, wrong, there);
    ADD_FAILURE();
  } catch (const penstock::Error& e) {
    EXPECT_EQ(e.status(), PENSTOCK_ERROR_ARGUMENT);
  }
  files[1].resize(files[1].size() / 2);
  const auto cut = Batch::wrap(std::vector<uint8_t*>{files[0].data(), files[1].data()},
                               {{static_cast<int64_t>(files[0].size())}, {static_cast<int64_t>(files[1].size())}});
  try {
    fn::decoders::image(cut, {}, there);
    ADD_FAILURE();
  } catch (const penstock::Error& e) {
    EXPECT_EQ(e.status(), PENSTOCK_ERROR_DATA);
    EXPECT_NE(std::string(e.what()).find("[decoders.image]"), std::string::npos) << e.what();
  }
}
