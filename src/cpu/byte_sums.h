// SPDX-License-Identifier: Apache-2.0
// Sums of bytes with weights of 16 bits, in integers, rounded to bytes, halves up. They are what float32 makes: sums in
// the order of the taps, + 0.5, rounded down, saturated.
#pragma once
#include <cstdint>
#include <vector>

#include "base/target.h"
#include "pixel/filter.h"

namespace penstock {

// A sum is in units of 2^-shift. One in float32 may differ from it by `doubt` units: where that could change the byte,
// the sum in float32 is computed as well.
struct SumRounding {
  int shift = 0;
  int32_t doubt = 0;
};

// The weights of a table as integers, `stride` for each output, zeros after its taps. False: some sums are too large
// for 32 bits, or float32 is in doubt about too many of them.
bool integer_weights(const TapTable& table, int bits, int stride, std::vector<int16_t>& weight, SumRounding& rounding);

// How a row of words (bytes as 16 bits) is resampled. Words are read in pairs, which begin at even words.
struct WordPlan {
  // What vectors read for a group of outputs: two that hold all its pairs, two for each pair, or the words of one
  // output after the other.
  enum class Form : uint8_t { held, slid, apart } form = Form::apart;
  int64_t count = 0;  // outputs
  int stride = 0;     // weights of an output
  std::vector<int32_t> first;
  std::vector<int16_t> weight;
  int pairs = 0;
  std::vector<int32_t> base;   // by group: its lowest pair
  std::vector<int32_t> index;  // by group and lane: the first pair, minus the base
  std::vector<int32_t> pair;   // by group, pair and lane: two weights
};
// `origin` is the sample that the words begin with. False: see integer_weights.
bool plan_words(const TapTable& table, int bits, int64_t origin, int lanes, WordPlan& plan, SumRounding& rounding);

struct ByteSumLoops {
  static constexpr int kSlack = 128;  // words that horizontal may read after a row; bytes that it may write after one
  int lanes;                          // of a plan
  // out[i] = the sum over k of weights k of pairs * rows[k][i]; there is an even number of rows.
  void (*vertical)(const uint8_t* const* rows, const int32_t* pairs, int n_pairs, const SumRounding& rounding,
                   uint8_t* out, int64_t n);
  void (*horizontal)(const uint16_t* const* words, int planes, const WordPlan& plan, const SumRounding& rounding,
                     uint8_t* const* out);
  void (*widen)(const uint8_t* in, uint16_t* words, int64_t n);
  void (*split_rgb)(const uint8_t* pixels, uint16_t* const* words, int64_t n);
  void (*join_rgb)(const uint8_t* const* planes, uint8_t* pixels, int64_t n);
};
const ByteSumLoops& byte_sums(Target t);

}  // namespace penstock
