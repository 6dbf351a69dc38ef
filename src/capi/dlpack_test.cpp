// SPDX-License-Identifier: Apache-2.0
#include "dlpack/dlpack.h"

#include "capi/capi_test.h"

using namespace capi_test;

namespace {

// A tensor of another library: 2 x 3 floats, column by column.
struct Foreign {
  std::vector<float> data{1, 4, 2, 5, 3, 6};
  int64_t shape[2] = {2, 3}, strides[2] = {1, 2};
  int* deleted;
  DLManagedTensorVersioned managed{};

  static DLManagedTensorVersioned* make(int* deleted) {
    auto* f = new Foreign;
    f->deleted = deleted;
    auto& m = f->managed;
    m.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    m.dl_tensor = {f->data.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, f->shape, f->strides, 0};
    m.manager_ctx = f;
    m.deleter = [](DLManagedTensorVersioned* t) {
      auto* self = static_cast<Foreign*>(t->manager_ctx);
      ++*self->deleted;
      delete self;
    };
    return &m;
  }
};

}  // namespace

TEST(CapiDlpack, ASampleKeepsTheMemory) {
  Images images({{2, 3}, {4, 1}});
  int released = 0;
  auto d = images.description();
  d.release = [](void* n) { ++*static_cast<int*>(n); }, d.release_user = &released;
  penstock_batch* b = nullptr;
  EXPECT_OK(penstock_batch_create(&d, &b));
  DLManagedTensorVersioned* t = nullptr;
  EXPECT_OK(penstock_batch_to_dlpack(b, 1, &t));
  penstock_batch_destroy(b);
  EXPECT_EQ(released, 0);
  EXPECT_EQ(t->version.major, static_cast<uint32_t>(DLPACK_MAJOR_VERSION));
  EXPECT_EQ(t->dl_tensor.data, images.data[1]);
  EXPECT_EQ(t->dl_tensor.ndim, 3);
  EXPECT_EQ(t->dl_tensor.dtype.code, kDLUInt);
  EXPECT_EQ(t->dl_tensor.dtype.bits, 8);
  EXPECT_EQ(std::vector<int64_t>(t->dl_tensor.shape, t->dl_tensor.shape + 3), (std::vector<int64_t>{4, 1, 3}));
  EXPECT_EQ(std::vector<int64_t>(t->dl_tensor.strides, t->dl_tensor.strides + 3), (std::vector<int64_t>{3, 3, 1}));
  t->deleter(t);
  EXPECT_EQ(released, 1);
}

TEST(CapiDlpack, TensorsBecomeABatchWithTheirStrides) {
  int deleted = 0;
  DLManagedTensorVersioned* in[] = {Foreign::make(&deleted), Foreign::make(&deleted)};
  penstock_batch* b = nullptr;
  ASSERT_EQ(penstock_batch_from_dlpack(in, 2, "HW", &b), PENSTOCK_OK) << penstock_last_error();
  EXPECT_EQ(sample(b, 0).data, in[0]->dl_tensor.data);
  EXPECT_EQ(sample(b, 0).strides[1], 2);
  auto info = zeroed<penstock_batch_info>();
  EXPECT_OK(penstock_batch_get_info(b, &info));
  EXPECT_STREQ(info.layout, "HW");
  penstock_batch* out = nullptr;
  EXPECT_OK(penstock_call("copy", &b, 1, nullptr, nullptr, &out, 1));
  penstock_batch_destroy(b);
  const auto s = sample(out, 1);
  EXPECT_EQ(std::vector<float>(static_cast<float*>(s.data), static_cast<float*>(s.data) + 6),
            (std::vector<float>{1, 2, 3, 4, 5, 6}));
  penstock_batch_destroy(out);
  EXPECT_EQ(deleted, 2);
}

TEST(CapiDlpack, WhatIsRefusedStaysTheCallers) {
  int deleted = 0;
  DLManagedTensorVersioned* in[] = {Foreign::make(&deleted), Foreign::make(&deleted)};
  penstock_batch* b = nullptr;
  const auto fails = [&](penstock_status status, const char* text) {
    EXPECT_FAILS(status, text, penstock_batch_from_dlpack(in, 2, nullptr, &b));
    EXPECT_EQ(b, nullptr);
  };
  in[1]->dl_tensor.dtype.bits = 64;
  fails(PENSTOCK_ERROR_TYPE, "tensors[1] is float64 with 2 dimensions, but the first is float32 with 2");
  in[1]->dl_tensor.dtype = {kDLComplex, 64, 1};
  fails(PENSTOCK_ERROR_TYPE, "is not supported");
  in[1]->dl_tensor.dtype = {kDLBfloat, 16, 1};
  fails(PENSTOCK_ERROR_TYPE, "tensors[1] is bfloat16 with 2 dimensions, but the first is float32 with 2");
  in[1]->dl_tensor.dtype = {kDLBfloat, 32, 1};
  fails(PENSTOCK_ERROR_TYPE, "is not supported");
  in[1]->dl_tensor.dtype = {kDLFloat, 32, 1};
  in[1]->dl_tensor.device.device_type = kDLCUDA;
  fails(PENSTOCK_ERROR_TYPE, "on another device");
  in[1]->dl_tensor.device.device_type = kDLCPU;
  in[1]->version.major = 7;
  fails(PENSTOCK_ERROR_ARGUMENT, "tensors[1] has the DLPack version 7");
  in[1]->version.major = DLPACK_MAJOR_VERSION;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "1 to", penstock_batch_from_dlpack(in, 0, nullptr, &b));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "layout", penstock_batch_from_dlpack(in, 2, "HWC", &b));
  EXPECT_EQ(deleted, 0);
  for (auto* t : in) t->deleter(t);
  Images images({{2, 3}});
  penstock_batch* of_bytes = images.batch();
  DLManagedTensorVersioned* t = nullptr;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "no sample 1", penstock_batch_to_dlpack(of_bytes, 1, &t));
  penstock_batch_destroy(of_bytes);
}
