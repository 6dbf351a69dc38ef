// SPDX-License-Identifier: Apache-2.0
#include "batch/copy_boxes.h"

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "batch/copy_kernels.h"
#include "batch/copy_transposed.h"

namespace penstock {
namespace {

// A copy of this many bytes leaves the second-level cache before anything reads it.
constexpr int64_t kLargeCopy = int64_t{1} << 20;

void run(const CopyPlan& p, const char* from, char* to, int d) {
  if (d == p.n - p.inner) return p.kernel(p, from, to);
  const CopyDim& dim = p.dims[d];
  for (int64_t i = 0; i < dim.extent; ++i) run(p, from + i * dim.from, to + i * dim.to, d + 1);
}

// Calls f(the size as a constant) for a size that elements have.
template <class F> void with_size(int64_t e, F&& f) {
  switch (e) {
    case 1: return f(std::integral_constant<size_t, 1>());
    case 2: return f(std::integral_constant<size_t, 2>());
    case 3: return f(std::integral_constant<size_t, 3>());
    case 4: return f(std::integral_constant<size_t, 4>());
    case 6: return f(std::integral_constant<size_t, 6>());
    case 8: return f(std::integral_constant<size_t, 8>());
    case 12: return f(std::integral_constant<size_t, 12>());
    case 16: return f(std::integral_constant<size_t, 16>());
    default: fail(ErrorKind::internal, "copy of elements of {} bytes", e);
  }
}

// Dimensions in the order of the target, without those of one element; neighbors are merged where both memories
// allow it.
void set_dims(CopyPlan& p, std::span<const CopyDim> dims, const char*& from, char*& to) {
  CopyDim sorted[kMostCopyDims];
  int n = 0;
  for (CopyDim d : dims) {
    if (d.extent == 1) continue;
    if (d.to < 0) {
      from += (d.extent - 1) * d.from, to += (d.extent - 1) * d.to;
      d.from = -d.from, d.to = -d.to;
    }
    int at = n++;
    for (; at > 0 && sorted[at - 1].to < d.to; --at) sorted[at] = sorted[at - 1];
    sorted[at] = d;
  }
  for (int d = 0; d < n; ++d) {
    const CopyDim& next = sorted[d];
    CopyDim* before = p.n > 0 ? &p.dims[p.n - 1] : nullptr;
    if (before && before->from == next.from * next.extent && before->to == next.to * next.extent)
      *before = {before->extent * next.extent, next.from, next.to};
    else p.dims[p.n++] = next;
  }
  if (p.n == 0) p.dims[p.n++] = {1, p.e, p.e};
  // A short run at the end, such as the channels of a pixel, becomes one wide element.
  if (p.n > 1 && p.last().from == p.e && p.last().to == p.e) {
    const int64_t wide = p.last().extent * p.e;
    if (wide == 2 || wide == 3 || wide == 4 || wide == 6 || wide == 8 || wide == 12 || wide == 16) p.e = wide, --p.n;
  }
}

bool is_few(int64_t n) { return n >= 2 && n <= 4; }

// The dimension, other than the last, that is contiguous in the source, comes next to the last; -1: there is none.
bool set_rows(CopyPlan& p, const char*& from, char*& to) {
  for (int d = p.n - 2; d >= 0; --d) {
    if (p.dims[d].from != p.e && p.dims[d].from != -p.e) continue;
    std::rotate(p.dims + d, p.dims + d + 1, p.dims + p.n - 1);
    CopyDim& rows = p.dims[p.n - 2];
    if (rows.from < 0) {
      from += (rows.extent - 1) * rows.from, to += (rows.extent - 1) * rows.to;
      rows.from = -rows.from, rows.to = -rows.to;
    }
    return true;
  }
  return false;
}

void set_kernel(CopyPlan& p, const char*& from, char*& to) {
  const CopyDim last = p.last();
  p.inner = 1;
  if (last.from == p.e && last.to == p.e) {
    p.kernel = &copy_run;
    return;
  }
  with_size(p.e, [&]<size_t kBytes>(std::integral_constant<size_t, kBytes>) {
    p.kernel = &copy_line<kBytes>;
    if (last.to != p.e) return;
    const CopyDim next = p.n > 1 ? p.next() : CopyDim{};
    const int64_t pixel = last.extent * p.e;
    if (p.n > 1 && last.from == -p.e && next.from == pixel && next.to == pixel && 48 % pixel == 0) {
      p.kernel = &copy_swapped<kBytes>, p.inner = 2;
      const int e = static_cast<int>(p.e), pixel_bytes = static_cast<int>(pixel);
      p.order = order_of(pixel_bytes, e % 2 == 0, false, [=](int i, int) {
        return i / pixel_bytes * pixel_bytes + (pixel_bytes - e - i % pixel_bytes / e * e) + i % e;
      });
    } else if (last.from == -p.e) {
      p.kernel = &copy_mirrored<kBytes>;
      const int e = static_cast<int>(p.e);
      p.order = order_of(e, e % 2 == 0, true, [=](int i, int piece) { return piece - e - i / e * e + i % e; });
    } else if (last.from == 0 && pixel >= kLongRun) {
      p.kernel = &copy_repeated;
    } else if (last.from == 0 && pixel >= kGrownRun) {
      p.kernel = &copy_grown;
    } else if (p.n > 1 && is_few(last.extent) && next.to == pixel) {
      p.kernel = &copy_joined<kBytes>, p.inner = 2;
    } else if (set_rows(p, from, to)) {
      p.inner = 2;
      p.kernel = is_few(p.next().extent) ? &copy_split<kBytes> : &copy_transposed<kBytes>;
    }
  });
}

}  // namespace

void copy_boxes(const void* from, void* to, std::span<const CopyDim> dims, int64_t bytes, Target target) {
  if (dims.size() > kMostCopyDims) fail(ErrorKind::internal, "a copy of {} dimensions", dims.size());
  for (const CopyDim& d : dims)
    if (d.extent <= 0) return;
  CopyPlan p;
  p.e = bytes, p.rows = &copy_rows(target);
  int64_t all = bytes;
  for (const CopyDim& d : dims) all *= d.extent;
  p.large = all >= kLargeCopy;
  const auto* f = static_cast<const char*>(from);
  auto* t = static_cast<char*>(to);
  set_dims(p, dims, f, t);
  set_kernel(p, f, t);
  run(p, f, t, 0);
  // Nothing else orders stores that bypass the caches. Once: a fence after each row waits for each row.
  if (p.large) std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace penstock
