// SPDX-License-Identifier: Apache-2.0
#include "capi/capi_test.h"

#include <atomic>
#include <cmath>
#include <thread>

using namespace capi_test;

namespace {

class CapiCall : public testing::Test {
 protected:
  Images images{{{4, 5}, {9, 7}}};
  penstock_batch* in = images.batch();
  penstock_arguments* args = nullptr;
  penstock_batch* out = nullptr;

  void SetUp() override { ASSERT_EQ(penstock_arguments_create(&args), PENSTOCK_OK); }
  void TearDown() override {
    penstock_batch_destroy(out);
    penstock_arguments_destroy(args);
    penstock_batch_destroy(in);
  }
  penstock_status call(const char* op, const penstock_call_options* options = nullptr) {
    penstock_batch_destroy(out);
    out = nullptr;
    return penstock_call(op, &in, 1, args, options, &out, 1);
  }
};

uint8_t scaled(uint8_t v, float by) { return static_cast<uint8_t>(std::nearbyint(std::min(255.0f, v * by))); }

TEST_F(CapiCall, EveryKindOfArgument) {
  EXPECT_OK(penstock_set_float(args, "brightness", 1.5));
  EXPECT_OK(penstock_set_dtype(args, "dtype", PENSTOCK_INT16));
  ASSERT_EQ(call("brightness_contrast"), PENSTOCK_OK) << penstock_last_error();
  auto info = zeroed<penstock_batch_info>();
  EXPECT_OK(penstock_batch_get_info(out, &info));
  EXPECT_EQ(info.dtype, PENSTOCK_INT16);
  const auto s = sample(out, 1);
  for (int i = 0; i < 9 * 7 * 3; ++i)
    ASSERT_EQ(static_cast<int16_t*>(s.data)[i], std::nearbyint(images.bytes[1][i] * 1.5f));

  EXPECT_OK(penstock_arguments_clear(args));
  const double size[] = {3, 2};
  EXPECT_OK(penstock_set_floats(args, "size", size, 2));
  EXPECT_OK(penstock_set_string(args, "mode", "stretch"));
  EXPECT_OK(penstock_set_bool(args, "antialias", 0));
  EXPECT_OK(penstock_set_int(args, "interp_type", 0));
  ASSERT_EQ(call("resize"), PENSTOCK_OK) << penstock_last_error();
  EXPECT_EQ(sample(out, 1).shape[0], 3);
  EXPECT_EQ(sample(out, 1).shape[1], 2);
}

TEST_F(CapiCall, OneValueASample) {
  float brightness[] = {0.5f, 2.0f};
  void* data[] = {&brightness[0], &brightness[1]};
  auto d = zeroed<penstock_batch_description>();
  d.dtype = PENSTOCK_FLOAT32, d.num_samples = 2, d.data = data;
  penstock_batch* values = nullptr;
  ASSERT_EQ(penstock_batch_create(&d, &values), PENSTOCK_OK) << penstock_last_error();
  EXPECT_OK(penstock_set_per_sample(args, "brightness", values));
  penstock_batch_destroy(values);  // the list has its own reference
  ASSERT_EQ(call("brightness_contrast"), PENSTOCK_OK) << penstock_last_error();
  for (int i = 0; i < 2; ++i) {
    const auto got = bytes_of(out, i);
    for (size_t k = 0; k < got.size(); ++k) ASSERT_EQ(got[k], scaled(images.bytes[i][k], brightness[i]));
  }
}

TEST_F(CapiCall, IntoTheCallersMemory) {
  Images target({{4, 5}, {9, 7}});
  penstock_batch* into = target.batch();
  auto o = zeroed<penstock_call_options>();
  o.into = &into;
  ASSERT_EQ(call("flip", &o), PENSTOCK_OK) << penstock_last_error();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(sample(out, i).data, target.data[i]);
  const auto written = target.bytes;
  ASSERT_EQ(call("flip"), PENSTOCK_OK);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(bytes_of(out, i), written[i]);

  const auto refused = [&](penstock_status status, const char* text, Images&& other) {
    penstock_batch* b = other.batch();
    o.into = &b;
    EXPECT_FAILS(status, text, call("flip", &o));
    EXPECT_EQ(out, nullptr);
    penstock_batch_destroy(b);
  };
  refused(PENSTOCK_ERROR_ARGUMENT, "sample 1 has the shape (9, 6, 3)", Images({{4, 5}, {9, 6}}));
  refused(PENSTOCK_ERROR_ARGUMENT, "1 samples, but the result has 2", Images({{4, 5}}));
  o.into = &in;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "overlaps", call("flip", &o));
  o.into = &into;
  EXPECT_OK(penstock_set_dtype(args, "dtype", PENSTOCK_FLOAT32));
  EXPECT_FAILS(PENSTOCK_ERROR_TYPE, "has the type uint8, but the result is float32", call("brightness_contrast", &o));
  penstock_batch_destroy(into);
}

TEST_F(CapiCall, MisuseHasAStatusAndAMessage) {
  EXPECT_FAILS(PENSTOCK_ERROR_KEY, "there is no operator 'fli', did you mean 'flip'?", call("fli"));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "name of the operator is NULL", call(nullptr));
  EXPECT_OK(penstock_set_int(args, "horizonal", 1));
  EXPECT_FAILS(PENSTOCK_ERROR_KEY, "[flip] there is no argument 'horizonal', did you mean 'horizontal'?", call("flip"));
  EXPECT_OK(penstock_arguments_clear(args));
  EXPECT_OK(penstock_set_string(args, "horizontal", "yes"));
  EXPECT_FAILS(PENSTOCK_ERROR_TYPE, "[flip] horizontal: expected", call("flip"));
  EXPECT_OK(penstock_set_int(args, "horizontal", 1));  // replaces the string
  EXPECT_OK(call("flip"));
  EXPECT_OK(penstock_set_dtype(args, "dtype", static_cast<penstock_dtype>(40)));
  EXPECT_STATUS(PENSTOCK_ERROR_KEY, call("flip"));
  EXPECT_OK(penstock_arguments_clear(args));
  EXPECT_OK(penstock_set_per_sample(args, "dtype", in));
  EXPECT_FAILS(PENSTOCK_ERROR_TYPE, "same for all samples", call("brightness_contrast"));
  EXPECT_OK(penstock_arguments_clear(args));

  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "has 1 outputs", penstock_call("flip", &in, 1, args, nullptr, &out, 2));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "outputs is NULL", penstock_call("flip", &in, 1, args, nullptr, nullptr, 1));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "takes 1 input", penstock_call("flip", &in, 0, args, nullptr, &out, 1));
  penstock_batch* two[] = {in, nullptr};
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "inputs[1] is NULL", penstock_call("flip", two, 2, args, nullptr, &out, 1));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "inputs is NULL", penstock_call("flip", nullptr, 1, args, nullptr, &out, 1));
  two[1] = in;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "got 2", penstock_call("flip", two, 2, args, nullptr, &out, 1));
  penstock_batch* results[2] = {};
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "only inside a pipeline",
               penstock_call("readers.file", nullptr, 0, args, nullptr, results, 2));
  auto o = zeroed<penstock_call_options>();
  o.batch_size = -1;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "batch_size is -1", call("flip", &o));

  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "arguments is NULL", penstock_set_int(nullptr, "a", 1));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "name is NULL", penstock_set_int(args, nullptr, 1));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "value is NULL", penstock_set_string(args, "a", nullptr));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "values is NULL", penstock_set_floats(args, "a", nullptr, 1));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "values is NULL", penstock_set_per_sample(args, "a", nullptr));
  const char* texts[] = {"a", nullptr};
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "is NULL", penstock_set_strings(args, "a", texts, 2));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "too many", penstock_set_ints(args, "a", nullptr, SIZE_MAX));
}

TEST_F(CapiCall, MessagesBelongToTheirThread) {
  EXPECT_STATUS(PENSTOCK_ERROR_KEY, call("fli"));
  std::thread([] { EXPECT_STREQ(penstock_last_error(), ""); }).join();
  EXPECT_STRNE(penstock_last_error(), "");
  EXPECT_STREQ(penstock_status_text(PENSTOCK_ERROR_OUT_OF_MEMORY), "out of memory");
  EXPECT_STREQ(penstock_status_text(static_cast<penstock_status>(99)), "unknown status");
  EXPECT_STREQ(penstock_version(), "0.1.0");
}

TEST(CapiRegistry, AnswersForEveryOperator) {
  const size_t n = penstock_num_operators();
  ASSERT_GT(n, 3u);
  EXPECT_EQ(penstock_operator_name(n), nullptr);
  for (size_t i = 0; i < n; ++i) {
    const char* name = penstock_operator_name(i);
    auto info = zeroed<penstock_operator_info>();
    ASSERT_EQ(penstock_get_operator_info(name, &info), PENSTOCK_OK);
    EXPECT_STREQ(info.name, name);
    for (int k = 0; k < info.num_arguments; ++k) {
      auto a = zeroed<penstock_argument_info>();
      ASSERT_EQ(penstock_get_argument_info(name, static_cast<size_t>(k), &a), PENSTOCK_OK);
      EXPECT_STRNE(a.name, "");
      EXPECT_STRNE(a.default_value, "");
    }
    auto a = zeroed<penstock_argument_info>();
    EXPECT_STATUS(PENSTOCK_ERROR_ARGUMENT,
                  penstock_get_argument_info(name, static_cast<size_t>(info.num_arguments), &a));
  }
  auto a = zeroed<penstock_argument_info>();
  EXPECT_OK(penstock_get_argument_info("brightness_contrast", 0, &a));
  EXPECT_STREQ(a.name, "brightness");
  EXPECT_STREQ(a.default_value, "1.0");
  EXPECT_EQ(a.type, PENSTOCK_ARGUMENT_FLOAT);
  EXPECT_EQ(a.per_sample, 1);
}

struct OwnThreads {
  std::atomic<int> loops{0};
  static void run(void* user, int64_t count, void (*body)(void*, int64_t, int), void* context) {
    ++static_cast<OwnThreads*>(user)->loops;
    std::thread other([&] {
      for (int64_t i = 0; i < count / 2; ++i) body(context, i, 1);
    });
    for (int64_t i = count / 2; i < count; ++i) body(context, i, 0);
    other.join();
  }
};

TEST(CapiThreads, MayBeTheProgramsOwn) {
  Images large({{200, 200}, {200, 210}, {220, 200}});
  penstock_batch* in = large.batch();
  const auto run = [&](const penstock_arguments* args = nullptr) {
    penstock_batch* out = nullptr;
    EXPECT_OK(penstock_call("flip", &in, 1, args, nullptr, &out, 1));
    std::vector<std::vector<uint8_t>> bytes;
    for (int i = 0; out && i < 3; ++i) bytes.push_back(bytes_of(out, i));
    penstock_batch_destroy(out);
    return bytes;
  };
  EXPECT_OK(penstock_set_threads(1));
  const auto alone = run();
  EXPECT_OK(penstock_set_threads(3));
  EXPECT_EQ(run(), alone);
  OwnThreads threads;
  auto pool = zeroed<penstock_thread_pool>();
  pool.user = &threads, pool.threads = 2, pool.parallel_for = &OwnThreads::run;
  EXPECT_OK(penstock_set_thread_pool(&pool));
  EXPECT_EQ(run(), alone);
  EXPECT_EQ(threads.loops, 1);

  // A body that fails on the program's threads: the call returns the error.
  double bad = 1;
  void* data[] = {&bad, &bad, &bad};
  const int64_t shapes[] = {1, 1, 1};
  auto d = zeroed<penstock_batch_description>();
  d.dtype = PENSTOCK_FLOAT64, d.ndim = 1, d.num_samples = 3, d.shapes = shapes, d.data = data;
  penstock_batch *encoded = nullptr, *out = nullptr;
  EXPECT_OK(penstock_batch_create(&d, &encoded));
  EXPECT_STATUS(PENSTOCK_ERROR_TYPE, penstock_call("decoders.image", &encoded, 1, nullptr, nullptr, &out, 1));
  penstock_batch_destroy(encoded);
  d.dtype = PENSTOCK_UINT8;
  EXPECT_OK(penstock_batch_create(&d, &encoded));
  EXPECT_STATUS(PENSTOCK_ERROR_DATA, penstock_call("decoders.image", &encoded, 1, nullptr, nullptr, &out, 1));
  EXPECT_EQ(threads.loops, 3);
  penstock_batch_destroy(encoded);

  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "threads must be", penstock_set_threads(-1));
  pool.threads = 0;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "at least one thread", penstock_set_thread_pool(&pool));
  pool.parallel_for = nullptr;
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "parallel_for", penstock_set_thread_pool(&pool));
  EXPECT_OK(penstock_set_thread_pool(nullptr));
  EXPECT_EQ(run(), alone);
  penstock_batch_destroy(in);
}

}  // namespace
