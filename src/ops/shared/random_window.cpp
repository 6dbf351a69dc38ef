// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/random_window.h"

#include <algorithm>
#include <cmath>

#include "base/target.h"
#include "pixel/math.h"

namespace penstock {

namespace {
struct FirstAttempts {
  float area_lo, area_extent, ratio_lo, ratio_hi;
};
struct AttemptColumns {
  int32_t height[kStreamsTogether], width[kStreamsTogether];
  uint32_t area[kStreamsTogether];  // drawn
  float ratio[kStreamsTogether];
};
struct WindowColumns {
  int32_t height[kStreamsTogether], width[kStreamsTogether], found[kStreamsTogether];
};

#define PENSTOCK_LOOPS attempts
#define PENSTOCK_LOOPS_TEXT "ops/shared/random_window.inc.h"
#include "base/foreach_target.h"

void first_attempts(const FirstAttempts& rule, const AttemptColumns& in, size_t n, WindowColumns& out) {
  const Target t = best_target();
  PENSTOCK_FOR_TARGET(t, attempts, first_attempts(rule, in, n, out));
}
}  // namespace

// Rounds half away from zero, as llround, a number that is not negative.
static int64_t rounded(float v) {
  if (!(v < 0x1p62f)) return 0;
  const auto whole = static_cast<int64_t>(v);
  return whole + (v - static_cast<float>(whole) >= 0.5f);
}

void RandomWindow::check_random_window() {
  auto check = [](const char* name, const std::vector<float>& v, float highest) {
    if (v.size() != 2 || !(v[0] > 0) || !(v[1] >= v[0]) || !(v[1] <= highest))
      bad_argument("{} must be a range of two increasing positive numbers, got {}", name,
                   to_text(Value{std::vector<double>(v.begin(), v.end())}));
  };
  check("random_area", random_area, 1e9f);
  check("random_aspect_ratio", random_aspect_ratio, 1e9f);
  for (int k = 0; k < 2; ++k) log_ratio_[k] = std::log(random_aspect_ratio[k]);
}

// Samples of a batch share their stream's key.
static RandomStream kept_stream_of(const SampleContext& s) {
  struct Last {
    uint64_t seed = 0, epoch = 0;
    DrawKey draws;
    RandomStream stream = random_stream({});
  };
  static thread_local Last last;
  if (s.seed != last.seed || s.epoch != last.epoch || !(s.draws == last.draws))
    last = {s.seed, s.epoch, s.draws, stream_of(s)};
  return {last.stream.key0, last.stream.key1, s.sample};
}

RandomWindow::Window RandomWindow::draw(const SampleContext& s, int64_t height, int64_t width) const {
  const RandomStream random = kept_stream_of(s);
  return window_of(random, random.block(0), random.block(position_block()), height, width);
}

RandomWindow::Window RandomWindow::window_of(const RandomStream& random, const PhiloxBlock& first,
                                             const PhiloxBlock& position, int64_t height, int64_t width) const {
  if (height <= 0 || width <= 0) return {0, 0, height, width};
  const auto h = static_cast<float>(height), w = static_cast<float>(width);
  const float area = w * h, ratio_lo = random_aspect_ratio[0], ratio_hi = random_aspect_ratio[1];
  const float min_area = area * random_area[0];
  const auto max_w = std::max<int64_t>(1, static_cast<int64_t>(h * ratio_hi));
  const auto max_h = std::max<int64_t>(1, static_cast<int64_t>(w / ratio_lo));
  int64_t wh = height, ww = width;
  bool found = false;
  if (h * static_cast<float>(max_w) < min_area) {  // too flat or too high for any window of the wanted ratio
    ww = max_w, found = true;
  } else if (w * static_cast<float>(max_h) < min_area) {
    wh = max_h, found = true;
  }
  PhiloxBlock draws = first;  // of two attempts
  const float log_lo = log_ratio_[0], log_extent = log_ratio_[1] - log_lo;
  for (int i = 0; i < num_attempts && !found; ++i) {
    const int k = i % 2 * 2;
    if (i > 0 && k == 0) draws = random.block(static_cast<uint64_t>(i) / 2);
    const float a = (random_area[0] + (random_area[1] - random_area[0]) * uniform01(draws.word[k])) * area;
    const float ratio = std::exp(log_lo + log_extent * uniform01(draws.word[k + 1]));
    ww = std::max<int64_t>(1, rounded(std::sqrt(a * ratio)));
    wh = std::max<int64_t>(1, rounded(std::sqrt(a / ratio)));
    const float got = static_cast<float>(ww) / static_cast<float>(wh);
    found = ww <= width && wh <= height && got >= ratio_lo && got <= ratio_hi;
  }
  if (!found) {
    wh = height, ww = width;
    if (w / h > ratio_hi) ww = max_w;
    else if (w / h < ratio_lo) wh = max_h;
    const float cut =
        std::sqrt(std::min(1.0f, random_area[1] * area / (static_cast<float>(wh) * static_cast<float>(ww))));
    wh = std::max<int64_t>(1, static_cast<int64_t>(static_cast<float>(wh) * cut));
    ww = std::max<int64_t>(1, static_cast<int64_t>(static_cast<float>(ww) * cut));
  }
  ww = std::min(ww, width), wh = std::min(wh, height);
  const int last = num_attempts % 2 * 2;  // draws after those of all attempts
  return {below(position.word[last], height - wh + 1), below(position.word[last + 1], width - ww + 1), wh, ww};
}

// The first attempt gives a window for most samples: all first attempts together, then the remaining samples one by
// one.
void RandomWindow::draw_all(std::span<const SampleContext> samples, std::span<const ImageExtent> images,
                            std::span<Window> windows) const {
  const float log_lo = log_ratio_[0], log_extent = log_ratio_[1] - log_lo;
  const FirstAttempts rule{random_area[0], random_area[1] - random_area[0], random_aspect_ratio[0],
                           random_aspect_ratio[1]};
  const int last = num_attempts % 2 * 2;
  for_streams(samples, [&](size_t first, RandomStream stream, std::span<const uint64_t> numbers) {
    PhiloxColumns begin, end;
    philox_blocks(stream, numbers, 0, begin);
    philox_blocks(stream, numbers, position_block(), end);
    const size_t n = numbers.size();
    AttemptColumns in;
    WindowColumns out;
    for (size_t i = 0; i < n; ++i) {
      const ImageExtent& image = images[first + i];
      const bool small = std::max(image.height, image.width) < int64_t{1} << 30;  // else: none of these
      in.height[i] = small ? static_cast<int32_t>(image.height) : 0;
      in.width[i] = small ? static_cast<int32_t>(image.width) : 0;
      in.area[i] = begin.word[0][i];
      in.ratio[i] = std::exp(log_lo + log_extent * uniform01(begin.word[1][i]));
    }
    first_attempts(rule, in, n, out);
    for (size_t i = 0; i < n; ++i) {
      const ImageExtent& image = images[first + i];
      if (out.found[i]) {
        const int64_t height = out.height[i], width = out.width[i];
        windows[first + i] = {below(end.word[last][i], image.height - height + 1),
                              below(end.word[last + 1][i], image.width - width + 1), height, width};
        continue;
      }
      stream.sample = numbers[i];
      windows[first + i] = window_of(stream, begin.block(i), end.block(i), image.height, image.width);
    }
  });
}

}  // namespace penstock
