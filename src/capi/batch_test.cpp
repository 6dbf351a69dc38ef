// SPDX-License-Identifier: Apache-2.0
#include "capi/capi_test.h"

using namespace capi_test;

TEST(CapiBatch, LiesOverTheCallersMemory) {
  Images images({{4, 5}, {2, 7}});
  penstock_batch* b = images.batch();
  auto info = zeroed<penstock_batch_info>();
  ASSERT_EQ(penstock_batch_get_info(b, &info), PENSTOCK_OK);
  EXPECT_EQ(info.num_samples, 2);
  EXPECT_EQ(info.ndim, 3);
  EXPECT_EQ(info.dtype, PENSTOCK_UINT8);
  EXPECT_STREQ(info.layout, "HWC");
  EXPECT_EQ(info.is_dense, 0);
  const auto s = sample(b, 1);
  EXPECT_EQ(s.data, images.data[1]);
  EXPECT_EQ(s.bytes, 2u * 7 * 3);
  EXPECT_EQ(s.shape[1], 7);
  EXPECT_EQ(s.strides[0], 21);
  EXPECT_EQ(s.strides[2], 1);
  EXPECT_STREQ(s.source, "");
  penstock_batch_destroy(b);
}

TEST(CapiBatch, AllocatesDenseMemoryAndReadsStrides) {
  const int64_t shapes[] = {2, 3, 2, 3};
  auto d = zeroed<penstock_batch_description>();
  d.dtype = PENSTOCK_FLOAT32, d.ndim = 2, d.num_samples = 2, d.shapes = shapes;
  penstock_batch* b = nullptr;
  ASSERT_EQ(penstock_batch_create(&d, &b), PENSTOCK_OK);
  auto info = zeroed<penstock_batch_info>();
  EXPECT_OK(penstock_batch_get_info(b, &info));
  EXPECT_EQ(info.is_dense, 1);
  EXPECT_EQ(static_cast<char*>(sample(b, 1).data) - static_cast<char*>(sample(b, 0).data), 24);
  penstock_batch_destroy(b);

  // Every other column, rows from bottom to top: flip follows the strides.
  const uint8_t v[] = {1, 0, 2, 0, 3, 0, 4, 0};
  void* data[] = {const_cast<uint8_t*>(v) + 4};
  const int64_t shape[] = {2, 2, 1}, strides[] = {-4, 2, 1};
  auto e = zeroed<penstock_batch_description>();
  e.dtype = PENSTOCK_UINT8, e.ndim = 3, e.layout = "HWC", e.num_samples = 1, e.shapes = shape, e.data = data;
  e.strides = strides;
  ASSERT_EQ(penstock_batch_create(&e, &b), PENSTOCK_OK);
  penstock_batch* out = nullptr;
  ASSERT_EQ(penstock_call("flip", &b, 1, nullptr, nullptr, &out, 1), PENSTOCK_OK) << penstock_last_error();
  EXPECT_EQ(bytes_of(out, 0), (std::vector<uint8_t>{4, 3, 2, 1}));
  penstock_batch_destroy(out);
  penstock_batch_destroy(b);
}

TEST(CapiBatch, ReleaseIsCalledWhenTheLastReferenceGoes) {
  Images images({{4, 5}});
  int released = 0;
  auto d = images.description();
  d.release = [](void* n) { ++*static_cast<int*>(n); };
  d.release_user = &released;
  penstock_batch* b = nullptr;
  ASSERT_EQ(penstock_batch_create(&d, &b), PENSTOCK_OK);
  penstock_arguments* a = nullptr;
  ASSERT_EQ(penstock_arguments_create(&a), PENSTOCK_OK);
  EXPECT_OK(penstock_set_per_sample(a, "x", b));
  penstock_batch_destroy(b);
  EXPECT_EQ(released, 0);
  penstock_arguments_destroy(a);
  EXPECT_EQ(released, 1);

  d.ndim = 2;  // does not match the layout: creation fails and the memory stays the caller's
  EXPECT_STATUS(PENSTOCK_ERROR_ARGUMENT, penstock_batch_create(&d, &b));
  EXPECT_EQ(released, 1);
}

TEST(CapiBatch, RefusesWhatCannotBe) {
  Images images({{4, 5}, {2, 7}});
  penstock_batch* b = nullptr;
  const auto refused = [&](penstock_status status, const char* text, auto change) {
    auto d = images.description();
    change(d);
    EXPECT_FAILS(status, text, penstock_batch_create(&d, &b));
    EXPECT_EQ(b, nullptr);
  };
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "description is NULL", penstock_batch_create(nullptr, &b));
  const auto d = images.description();
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "batch is NULL", penstock_batch_create(&d, nullptr));
  refused(PENSTOCK_ERROR_ARGUMENT, "struct_size", [](auto& x) { x.struct_size = 0; });
  refused(PENSTOCK_ERROR_TYPE, "12 is not an element type", [](auto& x) { x.dtype = static_cast<penstock_dtype>(12); });
  refused(PENSTOCK_ERROR_TYPE, "-1 is not", [](auto& x) { x.dtype = PENSTOCK_NONE; });
  refused(PENSTOCK_ERROR_ARGUMENT, "ndim", [](auto& x) { x.ndim = 9; });
  refused(PENSTOCK_ERROR_ARGUMENT, "ndim", [](auto& x) { x.ndim = -1; });
  refused(PENSTOCK_ERROR_ARGUMENT, "layout", [](auto& x) { x.layout = "HW"; });
  refused(PENSTOCK_ERROR_ARGUMENT, "at most 8", [](auto& x) { x.layout = "ABCDEFGHI"; });
  refused(PENSTOCK_ERROR_ARGUMENT, "at least one sample", [](auto& x) { x.num_samples = 0; });
  refused(PENSTOCK_ERROR_ARGUMENT, "shapes is NULL", [](auto& x) { x.shapes = nullptr; });
  images.data[1] = nullptr;
  refused(PENSTOCK_ERROR_ARGUMENT, "data of sample 1 is NULL", [](auto&) {});
  images.shapes[1] = -5;
  refused(PENSTOCK_ERROR_ARGUMENT, "extent -5", [](auto&) {});
  images.shapes[0] = images.shapes[1] = images.shapes[2] = int64_t{1} << 40;
  refused(PENSTOCK_ERROR_ARGUMENT, "2^63", [](auto&) {});
  images.shapes[0] = int64_t{1} << 50, images.shapes[1] = images.shapes[2] = 1;
  refused(PENSTOCK_ERROR_OUT_OF_MEMORY, "too many", [](auto& x) { x.data = nullptr; });
  images.shapes[0] = 4;
  const int64_t strides[] = {INT64_MAX, 1, 1, INT64_MIN, 1, 1};
  refused(PENSTOCK_ERROR_ARGUMENT, "exceed the address space", [&](auto& x) { x.strides = strides; });
  refused(PENSTOCK_ERROR_ARGUMENT, "strides", [&](auto& x) { x.strides = strides, x.data = nullptr; });

  Images good({{4, 5}});
  b = good.batch();
  auto s = zeroed<penstock_sample>();
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "no sample 1", penstock_batch_get_sample(b, 1, &s));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "no sample -1", penstock_batch_get_sample(b, -1, &s));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "NULL", penstock_batch_get_sample(b, 0, nullptr));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "NULL", penstock_batch_get_sample(nullptr, 0, &s));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "NULL", penstock_batch_get_info(b, nullptr));
  penstock_batch_destroy(b);
  penstock_batch_destroy(nullptr);
}

TEST(CapiBatch, SamplesAreInOneRow) {
  const int64_t shapes[] = {2, 0, 3};
  int32_t values[] = {7, 8, 4, 5, 6};
  void* data[] = {values, nullptr, values + 2};
  auto d = zeroed<penstock_batch_description>();
  d.dtype = PENSTOCK_INT32, d.ndim = 1, d.num_samples = 3, d.shapes = shapes, d.data = data;
  penstock_batch *b = nullptr, *row = nullptr, *offsets = nullptr, *positions = nullptr;
  ASSERT_EQ(penstock_batch_create(&d, &b), PENSTOCK_OK);
  int64_t longest = 0;
  ASSERT_EQ(penstock_batch_pack(b, &row, &offsets, &positions, &longest), PENSTOCK_OK) << penstock_last_error();
  const auto numbers = [](penstock_batch* of) {
    const auto s = sample(of, 0);
    const auto* first = static_cast<const int32_t*>(s.data);
    return std::vector<int32_t>(first, first + s.shape[0]);
  };
  EXPECT_EQ(numbers(row), (std::vector<int32_t>{7, 8, 4, 5, 6}));
  EXPECT_EQ(numbers(offsets), (std::vector<int32_t>{0, 2, 2, 5}));
  EXPECT_EQ(numbers(positions), (std::vector<int32_t>{0, 1, 0, 1, 2}));
  EXPECT_EQ(longest, 3);
  for (penstock_batch* made : {row, offsets, positions}) penstock_batch_destroy(made);
  longest = 0;
  EXPECT_OK(penstock_batch_pack(b, nullptr, nullptr, nullptr, &longest));
  EXPECT_EQ(longest, 3);
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "NULL", penstock_batch_pack(nullptr, &row, nullptr, nullptr, nullptr));
  penstock_batch_destroy(b);
  Images images({{4, 5}, {2, 7}});
  b = images.batch();
  EXPECT_FAILS(PENSTOCK_ERROR_TYPE, "first extent alone", penstock_batch_pack(b, &row, nullptr, nullptr, nullptr));
  penstock_batch_destroy(b);
}

TEST(CapiBatch, StructsMayGrow) {
  Images images({{4, 5}});
  struct Later {
    penstock_batch_description d;
    void* new_field;
  } later{images.description(), nullptr};
  later.d.struct_size = sizeof later;
  penstock_batch* b = nullptr;
  EXPECT_OK(penstock_batch_create(&later.d, &b));
  struct Newer {
    penstock_batch_info i;
    int64_t new_field;
  } newer{{}, 77};
  newer.i.struct_size = sizeof newer;
  EXPECT_OK(penstock_batch_get_info(b, &newer.i));
  EXPECT_EQ(newer.i.struct_size, sizeof newer);
  EXPECT_EQ(newer.new_field, 77);
  struct Older {
    size_t struct_size;
    void* data;
    int canary;
  } older{sizeof(size_t) + sizeof(void*), nullptr, 5};
  EXPECT_OK(penstock_batch_get_sample(b, 0, reinterpret_cast<penstock_sample*>(&older)));
  EXPECT_EQ(older.data, images.data[0]);
  EXPECT_EQ(older.canary, 5);
  penstock_batch_destroy(b);
  later.new_field = &later;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "newer version", penstock_batch_create(&later.d, &b));
}
