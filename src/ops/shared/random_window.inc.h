// SPDX-License-Identifier: Apache-2.0
// The loop of RandomWindow::draw_all, included once per target; the compiler vectorizes it. Makes the first attempts of
// all samples, by the steps of window_of(). `found`: the attempt gave a window, and all numbers were in their usual
// range.
__attribute__((flatten)) inline void first_attempts(const FirstAttempts& rule, const AttemptColumns& in, size_t n,
                                                    WindowColumns& out) {
  constexpr float kMost = 0x1p30f;
  for (size_t i = 0; i < n; ++i) {
    const int32_t height = in.height[i], width = in.width[i];
    const auto h = static_cast<float>(height), w = static_cast<float>(width);
    const float area = w * h, min_area = area * rule.area_lo;
    const float widest = h * rule.ratio_hi, highest = w / rule.ratio_lo;
    const bool plain = (height > 0) & (width > 0) & (widest < kMost) & (highest < kMost);
    const int32_t max_w = max(1, static_cast<int32_t>(min(widest, kMost)));
    const int32_t max_h = max(1, static_cast<int32_t>(min(highest, kMost)));
    const bool roomy = !(h * static_cast<float>(max_w) < min_area) & !(w * static_cast<float>(max_h) < min_area);
    const float part = static_cast<float>(static_cast<int32_t>(in.area[i] >> 8)) * 0x1p-24f;
    const float a = (rule.area_lo + rule.area_extent * part) * area, ratio = in.ratio[i];
    const float across = sqrt(a * ratio), down = sqrt(a / ratio);
    const bool small = (across < kMost) & (down < kMost);
    const int32_t whole_w = static_cast<int32_t>(min(across, kMost)), whole_h = static_cast<int32_t>(min(down, kMost));
    const int32_t ww = max(1, whole_w + (across - static_cast<float>(whole_w) >= 0.5f ? 1 : 0));
    const int32_t wh = max(1, whole_h + (down - static_cast<float>(whole_h) >= 0.5f ? 1 : 0));
    const float got = static_cast<float>(ww) / static_cast<float>(wh);
    const bool fits = (ww <= width) & (wh <= height) & (got >= rule.ratio_lo) & (got <= rule.ratio_hi);
    out.width[i] = ww, out.height[i] = wh;
    out.found[i] = (plain & roomy & small & fits) ? 1 : 0;
  }
}
