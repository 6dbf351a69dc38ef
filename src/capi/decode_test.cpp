// SPDX-License-Identifier: Apache-2.0
// Decodes files in the program's memory into the program's memory.
#include "capi/capi_test.h"
#include "codecs/png_write.h"

using namespace capi_test;

TEST(CapiDecode, FromMemoryIntoMemory) {
  Images images({{4, 5}, {9, 7}});
  std::vector<std::vector<uint8_t>> files;
  std::vector<void*> data;
  std::vector<int64_t> sizes;
  for (int i = 0; i < 2; ++i)
    files.push_back(penstock::encode_png(images.bytes[i].data(), images.shapes[i * 3], images.shapes[i * 3 + 1], 3));
  for (auto& f : files) data.push_back(f.data()), sizes.push_back(static_cast<int64_t>(f.size()));
  auto d = zeroed<penstock_batch_description>();
  d.dtype = PENSTOCK_UINT8, d.ndim = 1, d.num_samples = 2, d.shapes = sizes.data(), d.data = data.data();
  penstock_batch *encoded = nullptr, *out = nullptr;
  ASSERT_EQ(penstock_batch_create(&d, &encoded), PENSTOCK_OK) << penstock_last_error();
  ASSERT_EQ(penstock_call("decoders.image", &encoded, 1, nullptr, nullptr, &out, 1), PENSTOCK_OK)
      << penstock_last_error();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(bytes_of(out, i), images.bytes[i]);
  penstock_batch_destroy(out);

  Images target({{4, 5}, {9, 7}}), wrong({{4, 5}, {7, 9}});
  penstock_batch *into = target.batch(), *small = wrong.batch();
  auto o = zeroed<penstock_call_options>();
  o.into = &into;
  ASSERT_EQ(penstock_call("decoders.image", &encoded, 1, nullptr, &o, &out, 1), PENSTOCK_OK) << penstock_last_error();
  EXPECT_EQ(target.bytes, images.bytes);
  penstock_batch_destroy(out);
  out = nullptr;
  o.into = &small;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "the result has (9, 7, 3)",
               penstock_call("decoders.image", &encoded, 1, nullptr, &o, &out, 1));
  EXPECT_EQ(out, nullptr);

  // Bytes that are not contiguous, and a file that ends early.
  const int64_t strides[] = {2, 2};
  for (auto& s : sizes) s /= 2;
  penstock_batch_destroy(encoded);
  d.strides = strides;
  ASSERT_EQ(penstock_batch_create(&d, &encoded), PENSTOCK_OK) << penstock_last_error();
  EXPECT_FAILS(PENSTOCK_ERROR_TYPE, "are not contiguous",
               penstock_call("decoders.image", &encoded, 1, nullptr, nullptr, &out, 1));
  penstock_batch_destroy(encoded);
  d.strides = nullptr;
  ASSERT_EQ(penstock_batch_create(&d, &encoded), PENSTOCK_OK) << penstock_last_error();
  EXPECT_FAILS(PENSTOCK_ERROR_DATA, "[decoders.image]",
               penstock_call("decoders.image", &encoded, 1, nullptr, nullptr, &out, 1));
  for (auto* b : {encoded, into, small}) penstock_batch_destroy(b);
}
