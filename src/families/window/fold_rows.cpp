// SPDX-License-Identifier: Apache-2.0
#include "families/window/fold_rows.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/crew.h"
#include "base/memory.h"

namespace penstock::window {
namespace {

// Bytes of rows that a second-level cache keeps beside the input and the output.
constexpr int64_t kCached = 512 * 1024;
constexpr int64_t kShortest = 4096;  // bytes of a strip's row: memory is read in long runs

// One pass across a row: windows at three places become one of `width` elements.
struct Join {
  int64_t second, third, width;
};

int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// A strip of columns of one image after the other: its rows, folded across, stay in cache until they are folded down.
class Strips {
 public:
  Strips(const FoldLoops& loops, const Window& w);
  // Rows [first, end) of all planes.
  void run(const std::byte* in, std::byte* out, int64_t first, int64_t end);

 private:
  void strip();
  void three_high();
  void any_height();
  void across(int64_t y, std::byte* to, const std::byte* ahead = nullptr);
  void pad(std::byte* to, const std::byte* row, int64_t begin, int64_t end);
  void finish(int64_t y, int slot);
  void keep_nan(int64_t y);

  std::byte* row(int64_t i) const { return rows_ + i * row_bytes_; }
  const std::byte* input(int64_t y) const { return in_ + y * length_ * size_; }
  std::byte* output(int64_t y) const { return out_ + (y * length_ + at_) * size_; }
  // Where the lanes of the output's row go: to the output itself, or to one of two rows that are stored from.
  std::byte* lanes_of(int64_t y, int slot) const { return loops_.store ? spare(slot) : output(y); }
  std::byte* spare(int slot) const { return row(kept_ + slot); }
  std::byte* identities() const { return row(kept_ + 2); }
  std::byte* prefix() const { return row(kept_ + 3); }
  std::byte* ends() const { return row(kept_ + 4); }
  int64_t from_row(int64_t y) const { return ImageRule::bordered(y, image_.height, border_); }

  const FoldLoops& loops_;
  const ImageRule::Extents image_;
  const int border_;
  const Reach x_, y_;
  const int64_t size_, lane_, channels_;
  const int64_t length_;         // elements of a row
  const int64_t left_, beyond_;  // lanes that a window reaches to the left, and from its first to its last
  std::vector<Join> joins_;
  std::vector<int64_t> outside_;          // the elements of a row that are seen left of it, then right of it; -1: none
  int64_t width_, kept_, row_bytes_ = 0;  // lanes of a strip; rows that it keeps
  std::shared_ptr<void> memory_;
  std::byte* rows_ = nullptr;
  const std::byte* in_ = nullptr;
  std::byte* out_ = nullptr;
  int64_t at_ = 0, count_ = 0;    // this strip: its first element, its lanes
  int64_t top_ = 0, bottom_ = 0;  // its rows
  bool nan_ = false;              // seen in it
  std::vector<int64_t> first_;    // then: the elements of a row that its windows see first
};

Strips::Strips(const FoldLoops& loops, const Window& w)
    : loops_(loops),
      image_(w.image),
      border_(w.border),
      x_(seen(w.image.width, w.width, w.x, w.border)),
      y_(seen(w.image.height, w.height, w.y, w.border)),
      size_(static_cast<int64_t>(loops.element_bytes)),
      lane_(static_cast<int64_t>(loops.lane_bytes)),
      channels_(w.image.inner),
      length_(w.image.width * w.image.inner),
      left_(x_.before * channels_),
      beyond_((x_.count - 1) * channels_),
      kept_(y_.count == 1   ? 1
            : y_.count == 3 ? 4
                            : 2 * y_.count) {
  for (int64_t n = 1; n < x_.count;) {
    const int64_t next = std::min(x_.count, 3 * n), last = next - n;
    joins_.push_back({(next <= 2 * n ? last : last / 2) * channels_, last * channels_, next});
    n = next;
  }
  outside_.reserve(static_cast<size_t>(beyond_));
  const auto add = [&](int64_t begin, int64_t end) {
    for (int64_t x = begin; x < end; ++x) {
      const int64_t from = ImageRule::bordered(x, image_.width, border_);
      for (int64_t c = 0; c < channels_; ++c) outside_.push_back(from < 0 ? -1 : from * channels_ + c);
    }
  };
  add(-x_.before, 0);
  add(image_.width, image_.width + x_.count - 1 - x_.before);
  const int64_t most = std::max({kCached / (kept_ + 4), kShortest, 2 * beyond_ * lane_}) / lane_;
  const int64_t strips = (length_ + most - 1) / most;
  width_ = std::min(length_, ((length_ + strips - 1) / strips + 63) / 64 * 64);
  row_bytes_ = rounded((width_ + beyond_) * lane_);
  memory_ = allocate_shared(default_memory(), checked_bytes(kept_ + 5, static_cast<size_t>(row_bytes_)));
  rows_ = static_cast<std::byte*>(memory_.get());
  const std::vector<int64_t> none(static_cast<size_t>(width_), -1);
  loops_.gather(identities(), nullptr, none.data(), width_);
}

void Strips::run(const std::byte* in, std::byte* out, int64_t first, int64_t end) {
  const int64_t height = image_.height;
  for (int64_t y = first; y < end;) {
    const int64_t plane = y / height, offset = plane * height * length_ * size_;
    in_ = in + offset, out_ = out + offset;
    top_ = y - plane * height, bottom_ = std::min(height, end - plane * height);
    for (at_ = 0; at_ < length_; at_ += width_) {
      count_ = std::min(width_, length_ - at_);
      nan_ = false;
      first_.clear();
      strip();
    }
    y = plane * height + bottom_;
  }
}

void Strips::strip() {
  if (y_.count == 3) return three_high();
  if (y_.count > 1) return any_height();
  for (int64_t y = top_; y < bottom_; ++y) {
    across(y - y_.before, row(0));
    std::memcpy(lanes_of(y, 0), row(0), static_cast<size_t>(count_ * lane_));
    finish(y, 0);
  }
}

void Strips::three_high() {
  std::byte* rows[4] = {row(0), row(1), row(2), row(3)};
  across(top_ - y_.before, rows[0]);
  across(top_ + 1 - y_.before, rows[1]);
  for (int64_t y = top_; y < bottom_; y += 2) {
    const bool two = y + 1 < bottom_;
    across(y + 2 - y_.before, rows[2], output(y));
    if (two) across(y + 3 - y_.before, rows[3], output(y + 1));
    void* const to[2] = {lanes_of(y, 0), two ? lanes_of(y + 1, 1) : spare(1)};
    const void* const from[4] = {rows[0], rows[1], rows[2], two ? rows[3] : identities()};
    loops_.two_rows(to, from, count_);
    finish(y, 0);
    if (two) finish(y + 1, 1);
    std::swap(rows[0], rows[2]), std::swap(rows[1], rows[3]);
  }
}

// Blocks as high as a window: row k of a block becomes the fold of all from it to the block's end. With the fold of the
// next block's first rows that is a window.
void Strips::any_height() {
  const int64_t n = y_.count;
  int64_t block = 0, next = n;  // their first rows
  for (int64_t k = 0; k < n; ++k) across(top_ + k - y_.before, row(k));
  for (int64_t y0 = top_; y0 < bottom_; y0 += n) {
    for (int64_t k = n - 2; k >= 0; --k) loops_.join(row(block + k), row(block + k), row(block + k + 1), count_);
    std::memcpy(lanes_of(y0, 0), row(block), static_cast<size_t>(count_ * lane_));
    finish(y0, 0);
    std::memcpy(prefix(), identities(), static_cast<size_t>(count_ * lane_));
    for (int64_t k = 1; k < std::min(n, bottom_ - y0); ++k) {
      std::byte* below = row(next + k - 1);
      across(y0 + n + k - 1 - y_.before, below, output(y0 + k));
      loops_.next_row(lanes_of(y0 + k, 0), prefix(), below, row(block + k), count_);
      finish(y0 + k, 0);
    }
    if (y0 + n < bottom_) across(y0 + 2 * n - 1 - y_.before, row(next + n - 1));
    std::swap(block, next);
  }
}

// The windows of one row. `ahead`: the row of the output that is written next.
void Strips::across(int64_t y, std::byte* to, const std::byte* ahead) {
  const int64_t from = from_row(y);
  if (from < 0) {
    std::memcpy(to, identities(), static_cast<size_t>(count_ * lane_));
    return;
  }
  const std::byte* source = input(from);
  const int64_t begin = at_ - left_, total = count_ + beyond_;
  const int64_t first = std::clamp<int64_t>(-begin, 0, total), last = std::clamp(length_ - begin, first, total);
  size_t done = 0;
  if (loops_.store || joins_.empty() ||
      (loops_.has_nan && loops_.has_nan(source + (begin + first) * size_, last - first))) {
    pad(to, source, begin, begin + total);
  } else {  // the first join reads the row in place, and its ends from copies with what is seen beside it
    const Join& join = joins_[done++];
    const int64_t n = total - join.third, inside = std::min(first, n), after = std::clamp(last - join.third, inside, n);
    if (inside > 0) {
      pad(ends(), source, begin, begin + inside + join.third);
      loops_.join_three(to, ends(), join.second, join.third, inside, nullptr);
    }
    loops_.join_three(to + inside * lane_, source + (begin + inside) * size_, join.second, join.third, after - inside,
                      ahead);
    if (after < n) {
      pad(ends(), source, begin + after, begin + total);
      loops_.join_three(to + after * lane_, ends(), join.second, join.third, n - after, nullptr);
    }
  }
  for (; done < joins_.size(); ++done)
    loops_.join_three(to, to, joins_[done].second, joins_[done].third, total - (joins_[done].width - 1) * channels_,
                      nullptr);
}

// Elements [begin, end) of a row, which may lie outside it.
void Strips::pad(std::byte* to, const std::byte* row, int64_t begin, int64_t end) {
  const int64_t first = std::clamp<int64_t>(0, begin, end), last = std::clamp(length_, first, end);
  if (begin < first) nan_ |= loops_.gather(to, row, &outside_[begin + left_], first - begin);
  if (first < last) nan_ |= loops_.load(to + (first - begin) * lane_, row + first * size_, last - first);
  if (last < end)
    nan_ |= loops_.gather(to + (last - begin) * lane_, row, &outside_[left_ + last - length_], end - last);
}

void Strips::finish(int64_t y, int slot) {
  if (loops_.store) loops_.store(output(y), spare(slot), count_);
  if (nan_) keep_nan(y);
}

// A NaN is the result where it is what a window sees first.
void Strips::keep_nan(int64_t y) {
  if (first_.empty())
    for (int64_t i = at_ - left_; i < at_ - left_ + count_; ++i) {
      const int64_t seen_at = i >= 0 ? i : outside_[i + left_];
      first_.push_back(seen_at >= 0 ? seen_at : (i + left_) % channels_);
    }
  loops_.keep_nan(output(y), input(std::max<int64_t>(from_row(y - y_.before), 0)), first_.data(), count_);
}

}  // namespace

void fold_rows(const FoldLoops& loops, const void* in, void* out, const Window& window) {
  const ImageRule::Extents& e = window.image;
  const int64_t rows = e.outer * e.height, bytes = rows * e.width * e.inner * static_cast<int64_t>(loops.element_bytes);
  Crew::share(rows, bytes, [&](int64_t first, int64_t end) {
    Strips(loops, window).run(static_cast<const std::byte*>(in), static_cast<std::byte*>(out), first, end);
  });
}

}  // namespace penstock::window
