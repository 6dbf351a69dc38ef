// SPDX-License-Identifier: Apache-2.0
#include "families/field/rows.h"

#include "base/crew.h"
#include "base/error.h"
#include "base/intrinsics.h"

#if PENSTOCK_HAS_TARGETS
#pragma GCC diagnostic ignored "-Wuninitialized"  // as -Wmaybe-uninitialized in base/intrinsics.h
#endif

namespace penstock::field {
namespace {

#define PENSTOCK_LOOPS tiles
#define PENSTOCK_LOOPS_TEXT "families/field/tiles.inc.h"
#include "base/foreach_target.h"

using WidenLoop = void (*)(const void* in, int n, float* out);
using NarrowLoop = void (*)(const float* in, int n, void* out);
struct Conversions {
  WidenLoop widen;  // null: elements are float32
  NarrowLoop narrow;
};
Conversions conversions(DType dtype, Target target) {
  Conversions found{};
  dispatch(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_same_v<NumberOf<T>, float> && !std::is_same_v<T, float>)
      found = {PENSTOCK_FOR_TARGET(target, &tiles, widen<T>), PENSTOCK_FOR_TARGET(target, &tiles, narrow<T>)};
  });
  return found;
}

// each(first, n, in, out): n elements from `first` on, which is a multiple of kTile, as float32. Threads without work
// take some of the tiles.
template <class Each> void each_tile(Target target, const Elements& e, const Each& each) {
  const auto size = static_cast<int64_t>(size_of(e.dtype));
  const Conversions to = conversions(e.dtype, target);
  Crew::share((e.n + kTile - 1) / kTile, e.n * size, [&](int64_t tile, int64_t end) {
    Tile<float> converted;
    for (; tile < end; ++tile) {
      const int64_t first = tile * kTile;
      const int n = static_cast<int>(std::min<int64_t>(kTile, e.n - first));
      const char* from = static_cast<const char*>(e.in) + first * size;
      char* result = static_cast<char*>(e.out) + first * size;
      if (!to.widen) {
        each(first, n, reinterpret_cast<const float*>(from), reinterpret_cast<float*>(result));
        continue;
      }
      to.widen(from, n, converted.of);
      each(first, n, converted.of, converted.of);
      to.narrow(converted.of, n, result);
    }
  });
}

}  // namespace

void tile_words(Target target, const RandomStream& stream, int64_t first, Tile<uint32_t>& words) {
  PENSTOCK_FOR_TARGET(target, tiles, find_words(stream, block_of(static_cast<uint64_t>(first)), words.of));
}
void tile_normals(Target target, const Tile<uint32_t>& words, Tile<float>& numbers) {
  PENSTOCK_FOR_TARGET(target, tiles, find_normals(words.of, numbers.of));
}

void add_normals(Target target, const Elements& elements, const RandomStream& stream, const void* coef,
                 NoisyLoop noisy) {
  each_tile(target, elements, [&](int64_t first, int n, const float* in, float* out) {
    Tile<uint32_t> words;
    Tile<float> numbers;
    tile_words(target, stream, first, words);
    tile_normals(target, words, numbers);
    noisy(coef, in, numbers.of, n, out);
  });
}

void add_counts(Target target, const Elements& elements, const RandomStream& stream, const void* coef, MeanLoop mean,
                NoisyLoop noisy) {
  each_tile(target, elements, [&](int64_t first, int n, const float* in, float* out) {
    Tile<uint32_t> words;
    Tile<float> means{}, counts;
    tile_words(target, stream, first, words);
    mean(coef, in, n, means.of);
    PENSTOCK_FOR_TARGET(target, tiles, find_few_counts(means.of, words.of, n, counts.of));
    PENSTOCK_FOR_TARGET(target, tiles, find_many_counts(stream, static_cast<uint64_t>(first), means.of, n, counts.of));
    noisy(coef, in, counts.of, n, out);
  });
}

int tile_replaced(Target target, const Tile<uint32_t>& words, int begin, int end, uint32_t last,
                  Tile<int32_t>& places) {
  return PENSTOCK_FOR_TARGET(target, tiles, find_replaced(words.of, begin, end, last, places.of));
}

}  // namespace penstock::field
