// SPDX-License-Identifier: Apache-2.0
#include "families/window/box_rows.h"

#include <cstring>
#include <vector>

#include "base/crew.h"
#include "base/intrinsics.h"
#include "base/memory.h"
#include "families/window/row_ends.h"

namespace penstock::window {
namespace {

#define PENSTOCK_LOOPS box_loops
#define PENSTOCK_LOOPS_TEXT "families/window/box_loops.inc.h"
#include "base/foreach_target.h"

// Bytes of rows that caches keep beside the input and the output.
constexpr int64_t kCached = 512 * 1024;
constexpr int64_t kShortest = 4096;  // bytes of a strip's row: memory is read in long runs

// A window as windows of 1, 4, 16, ... elements, the largest first.
struct Level {
  int64_t size, count, begin;  // of its windows: elements, how many (0 to 3), where the first one begins
};
std::vector<Level> levels_of(int64_t n) {
  std::vector<Level> levels;
  int64_t size = 1, end = n;
  for (; size <= n; size *= 4) {
    const int64_t count = n / size % 4;
    end -= count * size;
    levels.push_back({size, count, end});
  }
  return levels;
}

// A strip of columns of one image after the other: its rows, summed across, stay in cache until they are summed down.
class BoxStrips {
 public:
  BoxStrips(const BoxLoops& loops, const Window& w);
  // Rows [first, end) of all planes.
  void run(const std::byte* in, std::byte* out, int64_t first, int64_t end);

 private:
  enum class Down { at_once, sliding, levels };
  void layout();
  void strip(int64_t top, int64_t bottom);
  void level_rows(int64_t arrived);
  void across(int64_t y, std::byte* to);
  // The row of a level that arrived as the i-th one.
  std::byte* row(size_t level, int64_t i) const { return rows_ + (first_[level] + i % kept_[level]) * row_bytes_; }
  std::byte* output(int64_t y) const { return out_ + (y * length_ + at_) * size_; }

  const BoxLoops& loops_;
  const Window w_;
  const BoxMean mean_;
  const Down down_;
  const int64_t size_, lane_, channels_;
  const int64_t length_;         // elements of a row
  const int64_t left_, beyond_;  // elements that a window reaches to the left, and from its first to its last
  const std::vector<Level> wide_, high_;
  const RowEnds ends_of_;
  std::vector<int64_t> kept_, first_;     // rows of each level
  int64_t width_ = 0;                     // elements of a strip
  int64_t row_bytes_ = 0, extended_ = 0;  // of a row, and of one with its ends
  std::shared_ptr<void> memory_;
  std::byte *rows_ = nullptr, *sums_ = nullptr, *ends_ = nullptr, *steps_ = nullptr;
  const std::byte* in_ = nullptr;
  std::byte* out_ = nullptr;
  int64_t at_ = 0, count_ = 0;  // this strip: its first element, its elements
};

BoxStrips::BoxStrips(const BoxLoops& loops, const Window& w)
    : loops_(loops),
      w_(w),
      mean_(box_mean_of(w, loops.integers)),
      down_(w.height <= kMostBoxAtOnce ? Down::at_once
            : loops.integers           ? Down::sliding
                                       : Down::levels),
      size_(static_cast<int64_t>(loops.element_bytes)),
      lane_(static_cast<int64_t>(loops.lane_bytes)),
      channels_(w.image.inner),
      length_(w.image.width * w.image.inner),
      left_(w.x * channels_),
      beyond_((w.width - 1) * channels_),
      wide_(levels_of(w.width)),
      high_(levels_of(w.height)),
      ends_of_(w, loops.element_bytes) {
  layout();
}

// The memory: rows of each level, sums, a row with its ends, levels of one row.
void BoxStrips::layout() {
  if (down_ == Down::levels)
    for (size_t j = 0; j < high_.size(); ++j)
      kept_.push_back(j + 1 < high_.size() ? 3 * high_[j].size + 1 : w_.height - high_[j].size + 1);
  else kept_.push_back(w_.height + 1);
  int64_t kept = 0;
  for (const int64_t n : kept_) {
    first_.push_back(kept);
    kept += n;
  }
  const int64_t most = std::max({kCached / kept, kShortest, 2 * beyond_ * lane_}) / lane_;
  const int64_t strips = (length_ + most - 1) / most;
  width_ = std::min(length_, ((length_ + strips - 1) / strips + 63) / 64 * 64);
  const auto rounded = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
  row_bytes_ = rounded(width_ * lane_);
  const int64_t steps = w_.width > kMostBoxAtOnce ? static_cast<int64_t>(wide_.size()) : 0;
  extended_ = rounded((width_ + beyond_) * std::max(size_, lane_));
  const int64_t sums = rounded(width_ * static_cast<int64_t>(loops_.sum_bytes));
  memory_ = allocate_shared(default_memory(), static_cast<size_t>(kept * row_bytes_ + sums + (steps + 1) * extended_));
  rows_ = static_cast<std::byte*>(memory_.get());
  sums_ = rows_ + kept * row_bytes_;
  ends_ = sums_ + sums;
  steps_ = ends_ + extended_;
}

void BoxStrips::run(const std::byte* in, std::byte* out, int64_t first, int64_t end) {
  const int64_t height = w_.image.height;
  for (int64_t y = first; y < end;) {
    const int64_t plane = y / height, top = y - plane * height, bottom = std::min(height, end - plane * height);
    const int64_t offset = plane * height * length_ * size_;
    in_ = in + offset, out_ = out + offset;
    for (at_ = 0; at_ < length_; at_ += width_) {
      count_ = std::min(width_, length_ - at_);
      strip(top, bottom);
    }
    y = plane * height + bottom;
  }
}

void BoxStrips::strip(int64_t top, int64_t bottom) {
  const int64_t n = w_.height;
  if (down_ == Down::sliding) std::memset(sums_, 0, static_cast<size_t>(count_) * loops_.sum_bytes);
  for (int64_t i = 0; i < bottom - top + n - 1; ++i) {
    if (i + 1 >= n) fetch_ahead(output(top + i + 1 - n), count_ * size_);
    across(top + i - w_.y, row(0, i));
    if (down_ == Down::levels) level_rows(i);
    if (i + 1 < n) {
      if (down_ == Down::sliding) loops_.add(sums_, row(0, i), count_);
      continue;
    }
    const int64_t first = i + 1 - n, y = top + first;
    if (down_ == Down::sliding) {
      loops_.slide(output(y), sums_, row(0, i), row(0, first), mean_, count_);
    } else if (down_ == Down::at_once) {
      const void* rows[kMostBoxAtOnce];
      for (int64_t k = 0; k < n; ++k) rows[k] = row(0, first + k);
      loops_.down[n - 1](output(y), rows, mean_, count_);
    } else {
      bool more = false;
      for (size_t j = 0; j < high_.size(); ++j) {
        const Level& level = high_[j];
        if (level.count == 0) continue;
        const int64_t begin = first + level.begin;
        const std::byte* from[3];
        for (int64_t k = 0; k < 3; ++k) from[k] = row(j, begin + std::min(k, level.count - 1) * level.size);
        loops_.some[level.count - 1][more](sums_, from[0], from[1], from[2], count_);
        more = true;
      }
      loops_.store(output(y), sums_, mean_, count_);
    }
  }
}

// The windows of each level that end at the row that has arrived.
void BoxStrips::level_rows(int64_t arrived) {
  for (size_t j = 1; j < high_.size(); ++j) {
    const int64_t size = high_[j - 1].size, begin = arrived + 1 - 4 * size;
    if (begin < 0) return;
    loops_.four(row(j, begin), row(j - 1, begin), row(j - 1, begin + size), row(j - 1, begin + 2 * size),
                row(j - 1, begin + 3 * size), count_);
  }
}

// The windows of one row.
void BoxStrips::across(int64_t y, std::byte* to) {
  const std::byte* const source = ends_of_.row(in_, y);
  const int64_t begin = at_ - left_, total = count_ + beyond_;
  if (w_.width <= kMostBoxAtOnce) {  // the row in place, and its ends from copies with what is seen beside it
    const auto at_once = loops_.at_once[w_.width - 1];
    if (size_ < 4) {  // a copy of all takes less time than the ends of vectors
      ends_of_.extend(ends_, source, begin, begin + total);
      return at_once(to, ends_, channels_, count_);
    }
    const int64_t inside = std::clamp<int64_t>(-begin, 0, count_);
    const int64_t after = std::clamp(length_ - begin - beyond_, inside, count_);
    if (inside > 0) {
      ends_of_.extend(ends_, source, begin, begin + inside + beyond_);
      at_once(to, ends_, channels_, inside);
    }
    at_once(to + inside * lane_, source + (begin + inside) * size_, channels_, after - inside);
    if (after < count_) {
      ends_of_.extend(ends_, source, begin + after, begin + total);
      at_once(to + after * lane_, ends_, channels_, count_ - after);
    }
    return;
  }
  const auto step = [&](size_t j) { return j || loops_.load ? steps_ + static_cast<int64_t>(j) * extended_ : ends_; };
  ends_of_.extend(ends_, source, begin, begin + total);
  if (loops_.load) loops_.load(step(0), ends_, total);
  for (size_t j = 1; j < wide_.size(); ++j) {
    const int64_t apart = wide_[j - 1].size * channels_ * lane_;
    const std::byte* const from = step(j - 1);
    loops_.four(step(j), from, from + apart, from + 2 * apart, from + 3 * apart,
                total - (wide_[j].size - 1) * channels_);
  }
  bool more = false;
  for (size_t j = 0; j < wide_.size(); ++j) {
    const Level& level = wide_[j];
    if (level.count == 0) continue;
    const std::byte* const from = step(j) + level.begin * channels_ * lane_;
    const int64_t apart = level.count > 1 ? level.size * channels_ * lane_ : 0;
    const int64_t third = level.count > 2 ? 2 * apart : 0;
    loops_.some[level.count - 1][more](to, from, from + apart, from + third, count_);
    more = true;
  }
}

template <class T, class A, class L> const BoxLoops& loops_for(Target target) {
  return PENSTOCK_FOR_TARGET(target, box_loops, kLoops<T, A, L>);
}
// Sums are as narrow as they fit.
template <class T> const BoxLoops& loops_for(Target target, const Window& w) {
  if constexpr (!std::is_integral_v<T>) {
    return loops_for<T, float, float>(target);
  } else {
    if (!box_fits(w, sizeof(T))) return box_loops_scalar::kLoops<T, int64_t, int64_t>;
    if constexpr (sizeof(T) == 1) {
      if (box_fits_words(w)) return loops_for<T, uint16_t, uint16_t>(target);
      if (w.width <= 257) return loops_for<T, uint16_t, int32_t>(target);
    }
    return loops_for<T, int32_t, int32_t>(target);
  }
}

}  // namespace

void box_rows(Target target, DType dtype, const void* in, void* out, const Window& window) {
  const BoxLoops& loops =
      dispatch_boxed(dtype, [&]<class T>(TypeTag<T>) -> const BoxLoops& { return loops_for<T>(target, window); });
  const int64_t rows = window.image.outer * window.image.height;
  const int64_t bytes = rows * window.image.width * window.image.inner * static_cast<int64_t>(loops.element_bytes);
  Crew::share(rows, bytes, [&](int64_t first, int64_t end) {
    BoxStrips(loops, window).run(static_cast<const std::byte*>(in), static_cast<std::byte*>(out), first, end);
  });
}

}  // namespace penstock::window
