// SPDX-License-Identifier: Apache-2.0
#include "readers/video_decoders.h"

#include <gtest/gtest.h>

#include <future>

namespace penstock {
namespace {

// Its position is after the last frame that was read; it seeks to any other.
class Standing final : public DeviceVideoDecoder {
 public:
  void read(std::span<const int64_t> frames, const std::function<void*(size_t)>&, StreamHandle) override {
    last_ = frames.back();
  }
  bool continues_to(int64_t frame) const override { return last_ >= 0 && frame > last_; }
  int64_t last() const override { return last_; }

 private:
  int64_t last_ = -1;
};

DecodeRun run_of(int32_t file, int64_t first, int64_t last, int64_t key) {
  DecodeRun run{file, key, last + 1, {}, {}};
  for (int64_t f = first; f <= last; ++f) run.frames.push_back(f);
  return run;
}

struct Opened {
  int count = 0;
  OpenDecoders<DeviceVideoDecoder> decoders{[this](int32_t, int) {
    ++count;
    return std::make_unique<Standing>();
  }};
  void decode(const DecodeRun& run, size_t enough, const std::function<void()>& during = [] {}) {
    decoders.with_decoder(
        run, 1, 8,
        [&](DeviceVideoDecoder* d) {
          during();
          d->read(run.frames, nullptr, nullptr);
        },
        enough);
  }
};

TEST(OpenDecoders, WaitsForABusyDecoderOfItsFileWhereEnoughAreOpen) {
  for (const auto& [enough, want] : {std::pair<size_t, int>(1, 1), std::pair<size_t, int>(2, 2)}) {
    Opened o;
    std::promise<void> inside, leave;
    std::future<void> left = leave.get_future();
    std::thread last([&] {
      o.decode(run_of(0, 90, 99, 60), 1, [&] {
        inside.set_value();
        left.wait();
      });
    });
    inside.get_future().wait();
    std::thread again([&] { o.decode(run_of(0, 0, 9, 0), enough); });  // of the next epoch
    if (want == 2) again.join();                                       // opens its own, and ends
    leave.set_value();
    last.join();
    if (want == 1) again.join();
    EXPECT_EQ(o.count, want);
  }
}

TEST(OpenDecoders, ContinuesWhereADecoderStands) {
  Opened o;
  for (int64_t first = 0; first < 100; first += 10) o.decode(run_of(0, first, first + 9, 0), 1);
  EXPECT_EQ(o.count, 1);
  o.decode(run_of(1, 0, 9, 0), 1);
  EXPECT_EQ(o.count, 2);
}

}  // namespace
}  // namespace penstock
