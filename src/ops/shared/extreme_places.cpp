// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/extreme_places.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/half.h"
#include "base/target.h"
#include "batch/batch.h"

namespace penstock {
namespace {

constexpr int kApart = 64;
constexpr int64_t kSearched = 512;  // elements that are looked at together
constexpr int64_t kPart = 16384;    // elements whose extremes are known before one of them is looked for

#define PENSTOCK_LOOPS extreme_loops
#define PENSTOCK_LOOPS_TEXT "ops/shared/extreme_places.inc.h"
#include "base/foreach_target.h"

template <class T> T beyond(bool greatest) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) return greatest ? Limits::infinity() : -Limits::infinity();
  else return greatest ? Limits::max() : Limits::lowest();
}

// Parts of the array: a part with an extreme less than all before may have the place; it is searched at the end.
template <class T> ExtremePlaces places(const T* in, int64_t n) {
  const Target target = best_target();
  T least = beyond<T>(true), most = beyond<T>(false);
  int64_t low_part = 0, high_part = 0;
  for (int64_t i = 0; i < n; i += kPart) {
    T low = least, high = most;
    const int64_t end = std::min(n, i + kPart), whole = (end - i) / kApart * kApart;
    PENSTOCK_FOR_TARGET(target, extreme_loops, extremes<T>(in + i, whole, low, high));
    for (int64_t k = i + whole; k < end; ++k) low = in[k] < low ? in[k] : low, high = high < in[k] ? in[k] : high;
    if (low < least) least = low, low_part = i;
    if (most < high) most = high, high_part = i;
  }
  const auto first = [&](int64_t from, T value) {  // an extreme that no element passes may be in any part
    const int64_t found = from + PENSTOCK_FOR_TARGET(target, extreme_loops, first_of<T>(in + from, n - from, value));
    return found == n ? int64_t{-1} : found;
  };
  return {first(low_part, least), first(high_part, most)};
}

}  // namespace

ExtremePlaces extreme_places(DType dtype, const void* elements, int64_t n) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) -> ExtremePlaces {
    if constexpr (std::is_same_v<T, Half>) {
      std::vector<float> numbers(static_cast<size_t>(n));
      std::copy_n(static_cast<const Half*>(elements), n, numbers.begin());
      return places(numbers.data(), n);
    } else if constexpr (std::is_same_v<T, bool>) {
      return places(static_cast<const uint8_t*>(elements), n);
    } else {
      return places(static_cast<const T*>(elements), n);
    }
  });
}

}  // namespace penstock
