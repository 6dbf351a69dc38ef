// SPDX-License-Identifier: Apache-2.0
#include "families/window/stencil_rows.h"

#include <atomic>
#include <memory>

#include "base/crew.h"
#include "base/intrinsics.h"
#include "base/memory.h"
#include "base/target.h"

namespace penstock::window {
namespace {

struct Conversions {
  void (*load)(float* to, const void* elements, int64_t n);
  void (*store)(void* elements, const float* from, int64_t n);
};

#define PENSTOCK_LOOPS stencil_convert
#define PENSTOCK_LOOPS_TEXT "families/window/stencil_convert.inc.h"
#include "base/foreach_target.h"

constexpr int64_t kCached = 256 * 1024;    // bytes of rows
constexpr int64_t kLargeOutput = 1 << 20;  // bytes
constexpr int64_t kShortest = 1024;        // elements of a strip's row

const Conversions* conversions(DType dtype, Target target) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) -> const Conversions* {
    if constexpr (sizeof(T) > 2) return nullptr;  // float32
    else return &PENSTOCK_FOR_TARGET(target, stencil_convert, kConversions<T>);
  });
}

// Strips of columns of one image after the other.
class StencilStrips {
 public:
  StencilStrips(StencilRun run, const void* coef, const View& in, const View& out, const Window& w, Target target,
                const ImageRule::Extents& made, const void* fill)
      : run_(run),
        coef_(coef),
        w_(w),
        load_(conversions(in.dtype, target)),
        store_(conversions(out.dtype, target)),
        in_(static_cast<const std::byte*>(in.data)),
        out_(static_cast<std::byte*>(out.data)),
        in_bytes_(static_cast<int64_t>(size_of(in.dtype))),
        out_bytes_(static_cast<int64_t>(size_of(out.dtype))),
        length_(made.width * made.inner),
        height_(made.height),
        plane_(w.image.height * w.image.width * w.image.inner),
        past_caches_(!store_ && out.volume() * out_bytes_ >= kLargeOutput),
        ends_(w, size_of(in.dtype), fill),
        rows_(static_cast<size_t>(w.height)) {
    const int64_t beyond = (w.width - 1) * w.image.inner;
    const int64_t most = std::max({kCached / (static_cast<int64_t>(sizeof(float)) * w.height), kShortest, 2 * beyond});
    const int64_t strips = (length_ + most - 1) / most;
    width_ = std::min(length_, ((length_ + strips - 1) / strips + 63) / 64 * 64);
    row_ = (width_ + beyond + kStencilSpare + 15) / 16 * 16;
    memory_ = allocate_shared(default_memory(), checked_bytes(w.height + 2, static_cast<size_t>(row_) * sizeof(float)));
    std::memset(memory_.get(), 0, static_cast<size_t>((w.height + 2) * row_) * sizeof(float));  // the spare elements
  }
  // Rows [first, end) of all planes.
  void run(int64_t first, int64_t end) {
    for (int64_t y = first; y < end;) {
      const int64_t plane = y / height_, top = y - plane * height_, bottom = std::min(height_, end - plane * height_);
      for (at_ = 0; at_ < length_; at_ += width_) strip(plane, top, bottom);
      y = plane * height_ + bottom;
    }
    if (past_caches_) std::atomic_thread_fence(std::memory_order_seq_cst);  // nothing else orders such stores
  }

 private:
  // The strip's part of a row that the next step copies: while it comes, this step is computed.
  void fetch_row(const std::byte* row, int64_t count) const {
    const int64_t end = std::min((at_ + count) * in_bytes_, w_.image.width * w_.image.inner * in_bytes_);
    for (int64_t i = at_ * in_bytes_; i < end; i += 64) __builtin_prefetch(row + i, 0, 2);
  }
  float* slot(int64_t i) const { return static_cast<float*>(memory_.get()) + i * row_; }

  void strip(int64_t plane, int64_t top, int64_t bottom) {
    const int64_t count = std::min(width_, length_ - at_), left = w_.x * w_.image.inner;
    const int64_t begin = at_ - left, end = begin + count + (w_.width - 1) * w_.image.inner;
    const std::byte* const image = in_ + plane * plane_ * in_bytes_;
    for (int64_t i = 0; i < bottom - top + w_.height - 1; ++i) {
      float* const row = slot(i % w_.height);
      auto* const raw = reinterpret_cast<std::byte*>(load_ ? slot(w_.height) : row);
      ends_.extend(raw, ends_.row(image, top + i - w_.y), begin, end);
      if (load_) load_->load(row, raw, end - begin);
      const int64_t first = i + 1 - w_.height;
      if (first < 0) continue;
      const std::byte* const next = ends_.row(image, top + i + 1 - w_.y);
      RowMemory memory{past_caches_};
      if (load_) fetch_row(next, count);
      else memory.next = reinterpret_cast<const float*>(next) + at_;
      for (int64_t k = 0; k < w_.height; ++k) rows_[static_cast<size_t>(k)] = slot((first + k) % w_.height) + left;
      std::byte* const to = out_ + ((plane * height_ + top + first) * length_ + at_) * out_bytes_;
      float* const results = store_ ? slot(w_.height + 1) : reinterpret_cast<float*>(to);
      if (!past_caches_) fetch_ahead(to, count * out_bytes_);
      run_(results, rows_.data() + w_.y, count, w_.image.inner, coef_, memory);
      if (store_) store_->store(to, results, count);
    }
  }

  const StencilRun run_;
  const void* const coef_;
  const Window w_;
  const Conversions *const load_, *const store_;  // null: float32
  const std::byte* const in_;
  std::byte* const out_;
  const int64_t in_bytes_, out_bytes_;     // of elements
  const int64_t length_, height_, plane_;  // elements of an output's row, its rows, elements of an image
  const bool past_caches_;
  const RowEnds ends_;
  std::vector<const float*> rows_;  // those that the window sees
  int64_t width_ = 0, row_ = 0;     // elements of a strip, and of a row with its ends
  std::shared_ptr<void> memory_;
  int64_t at_ = 0;  // this strip's first element
};

}  // namespace

void stencil_rows(StencilRun run, const void* coef, const View& in, const View& out, const Window& window,
                  Target target, const ImageRule::Extents& made, const void* fill) {
  const int64_t rows = made.outer * made.height;
  Crew::share(rows, out.volume() * static_cast<int64_t>(size_of(out.dtype)), [&](int64_t first, int64_t end) {
    StencilStrips(run, coef, in, out, window, target, made, fill).run(first, end);
  });
}

}  // namespace penstock::window
