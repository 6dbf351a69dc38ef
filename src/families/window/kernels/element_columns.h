// SPDX-License-Identifier: Apache-2.0
// Small windows over rows of any elements: a thread makes four elements of kElementRows rows, one below the other, and
// reads them as vectors with those beside them.
#pragma once
#include <cstdint>

#include "launch/entry.h"
#include "launch/global_memory.h"

namespace penstock::window {

using namespace whole;

constexpr int kElementRows = 16;
constexpr int kFour = 4;  // elements that a thread makes of a row

struct ElementRows {
  const void* in;
  void* out;
  int64_t height, length;  // rows, and the elements of a row
  int32_t fours, strips;   // of a row, whose last two may overlap, and of an image
  int64_t border;
};
static_assert(sizeof(ElementRows) == 48);

template <class T> struct alignas(kFour * sizeof(T)) Four {
  T v[kFour];
};

// Of a row, so that no thread sees what is beside both of its ends.
PENSTOCK_HD constexpr int least_elements(int channels, int reach) {
  return kFour + 2 * kFour * ((reach * channels + kFour - 1) / kFour);
}

// The elements of a row that a thread sees: four, and as many on each side as `reach` pixels take. `aligned`: fours
// begin at multiples of their size. Rule: bordered() of ImageRule.
template <class T, int channels, int reach, bool aligned, class Rule> struct ElementColumns {
  static constexpr int kSide = reach * channels, kSeen = kFour + 2 * kSide, kVectors = (kSide + kFour - 1) / kFour;

  const T* in;
  int64_t image;  // where the image begins, in elements
  int length, height, border, x;
  int begin, end;         // the rows to make
  int edge;               // 1: the row's begin is beside, 2: its end, 0: none
  int beside[kSide + 1];  // the elements that are seen at that side; -1: none

  PENSTOCK_KERNEL ElementColumns(const ElementRows& r, uint32_t item)
      : length(static_cast<int>(r.length)), height(static_cast<int>(r.height)), border(static_cast<int>(r.border)) {
    const uint32_t fours = static_cast<uint32_t>(r.fours), strips = static_cast<uint32_t>(r.strips);
    const uint32_t strip = item / fours, number = strip / strips;
    x = static_cast<int>(item - strip * fours) * kFour;
    if (x > length - kFour) x = length - kFour;
    begin = static_cast<int>(strip - number * strips) * kElementRows;
    end = begin + kElementRows < height ? begin + kElementRows : height;
    image = static_cast<int64_t>(number) * r.height * r.length;
    in = static_cast<const T*>(r.in) + image;
    edge = x < kFour * kVectors ? 1 : x + kFour + kFour * kVectors > length ? 2 : 0;
    if (edge == 0) return;
    PENSTOCK_UNROLL
    for (int k = 0; k < kSide; ++k) beside[k] = place(edge == 1 ? x - kSide + k : x + kFour + k, length, border);
  }

  // The element of a row that is seen at `at`, or -1. Not inlined: few are outside.
  __attribute__((noinline)) PENSTOCK_HD static int place(int at, int length, int border) {
    if (static_cast<unsigned>(at) < static_cast<unsigned>(length)) return at;
    // As many pixels as a window reaches to the left keep the division positive.
    const int pixel = (at + kSide) / channels - reach;
    const int from = static_cast<int>(Rule::bordered(pixel, length / channels, border));
    return from < 0 ? -1 : at + (from - pixel) * channels;
  }
  // The row of the image that is seen at y, or -1.
  PENSTOCK_KERNEL int row_at(int y) const {
    if (static_cast<unsigned>(y) < static_cast<unsigned>(height)) return y;
    return bordered_row(y, height, border);
  }
  __attribute__((noinline)) PENSTOCK_HD static int bordered_row(int y, int height, int border) {
    return static_cast<int>(Rule::bordered(y, height, border));
  }

  PENSTOCK_KERNEL static Four<T> four(const T* from) {
    if constexpr (aligned) {
      return *reinterpret_cast<const Four<T>*>(from);
    } else {
      Four<T> f;
      PENSTOCK_UNROLL
      for (int k = 0; k < kFour; ++k) f.v[k] = from[k];
      return f;
    }
  }

  // The elements of a row as they are in memory. Several rows are read before the first is used.
  struct Read {
    int y;  // of the image; -1: none
    Four<T> part[1 + 2 * kVectors];
    T beside[kSide];
  };
  // `inner`: there is no edge.
  template <bool inner> PENSTOCK_KERNEL Read read(int y) const {
    Read r;
    r.y = y;
    const T* const row = in_global_memory(in + static_cast<int64_t>(y < 0 ? 0 : y) * length);
    PENSTOCK_UNROLL
    for (int n = 0; n < 1 + 2 * kVectors; ++n) {
      if (!inner && n != kVectors && edge == (n < kVectors ? 1 : 2)) continue;
      r.part[n] = four(row + x + kFour * (n - kVectors));
    }
    if constexpr (!inner) {
      PENSTOCK_UNROLL
      for (int k = 0; k < kSide; ++k) r.beside[k] = row[beside[k] < 0 ? 0 : beside[k]];
    }
    return r;
  }
  // As converted(element); `fill` outside of a constant border.
  template <bool inner, class L, class Convert>
  PENSTOCK_KERNEL void convert(const Read& r, L (&to)[kSeen], L fill, const Convert& converted) const {
    PENSTOCK_UNROLL
    for (int k = 0; k < kSeen; ++k) {
      const int at = k - kSide + kFour * kVectors, side = k < kSide ? 1 : k < kSide + kFour ? 0 : 2;
      if (inner || side == 0 || edge != side) {
        to[k] = converted(r.part[at / kFour].v[at % kFour]);
      } else {
        const int own = side == 1 ? k : k - kSide - kFour;
        to[k] = beside[own] < 0 ? fill : converted(r.beside[own]);
      }
    }
    if (r.y >= 0) return;
    PENSTOCK_UNROLL
    for (int k = 0; k < kSeen; ++k) to[k] = fill;
  }

  // Writes four elements of row y. They are not read again soon.
  template <class Out> PENSTOCK_KERNEL void store(void* out, int y, const Four<Out>& f) const {
    Out* const to = in_global_memory(static_cast<Out*>(out)) + (image + static_cast<int64_t>(y) * length + x);
    if constexpr (aligned) {
      *reinterpret_cast<Four<Out>*>(to) = f;
    } else {
      PENSTOCK_UNROLL
      for (int k = 0; k < kFour; ++k) to[k] = f.v[k];
    }
  }
};

}  // namespace penstock::window
