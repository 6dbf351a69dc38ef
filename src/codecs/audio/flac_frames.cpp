// SPDX-License-Identifier: Apache-2.0
#include "codecs/audio/flac_frames.h"

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "codecs/audio/flac_checksums.h"
#include "codecs/decode_errors.h"

namespace penstock {

namespace {

constexpr int kWide = 33;  // bits of a difference that does not fit in 32

// Total number of bytes of a coded number, from its first byte (section 9.1.5: UTF-8, but longer). 0: not a valid first
// byte.
int coded_number_bytes(uint8_t first, bool of_sample) {
  const int ones = std::countl_one(first);
  if (ones == 0) return 1;
  return ones == 1 || ones > (of_sample ? 7 : 6) ? 0 : ones;
}

// Sums wrap around: those of valid files fit.
template <class T> T add(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}
template <class T> T subtract(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
}

// The polynomial of `order` - 1 through the last samples is `order` cascaded running sums.
template <int kOrder, class Sample> void add_up(const int32_t* residual, Sample* to, int n) {
  Sample sums[kOrder];  // the last sample, its difference from the previous one, the difference of those ...
  for (int k = 0; k < kOrder; ++k) {
    Sample differences[kOrder];
    std::copy_n(to, kOrder, differences);
    for (int round = 0; round < k; ++round)
      for (int i = kOrder - 1; i > round; --i) differences[i] = subtract(differences[i], differences[i - 1]);
    sums[k] = differences[kOrder - 1];
  }
  for (int i = kOrder; i < n; ++i) {
    Sample v = residual[i];
    for (int k = kOrder - 1; k >= 0; --k) v = sums[k] = add(sums[k], v);
    to[i] = v;
  }
}

void predict_33_bits(const FlacPrediction& p, int64_t* to) {
  for (int i = p.order; i < p.length; ++i) {
    uint64_t sum = 0;
    for (int j = 0; j < p.order; ++j)
      sum += static_cast<uint64_t>(int64_t{p.coefficients[j]}) * static_cast<uint64_t>(to[i - 1 - j]);
    to[i] = add(static_cast<int64_t>(sum) >> p.shift, int64_t{p.samples[i]});
  }
}

template <class Sample> void shift_all(Sample* to, int n, int by) {
  for (int i = 0; i < n; ++i) to[i] = static_cast<Sample>(static_cast<std::make_unsigned_t<Sample>>(to[i]) << by);
}

int32_t low(int64_t v) { return static_cast<int32_t>(v); }

}  // namespace

FlacFrames::FlacFrames(AudioBytes file, size_t at, int channels, int bits, int64_t wanted)
    : bits_{.bytes = file, .at = at},
      channels_(channels),
      stream_bits_(bits),
      wanted_(wanted),
      loops_(flac_loops(best_target())),
      frames_(std::max(1, kMostFlacPredictions / channels)) {}

void FlacFrames::read_some() {
  narrow_.clear(), wide_.clear();
  filled_ = 0;
  while (filled_ < frames_.size() && sample_ < wanted_ && read_frame(frames_[filled_])) ++filled_;
  loops_.predict(narrow_);
  loops_.predict_wide(wide_);
  for (size_t f = 0; f < filled_; ++f) finish(frames_[f]);
}

bool FlacFrames::read_frame(Frame& f) {
  const size_t begin = bits_.byte();
  if (begin == bits_.bytes.size()) return false;
  const auto stop = [&](const char* cause) { bad_data("FLAC: {} at byte {} near sample {}", cause, begin, sample_); };
  Cause cause = read_head(f);
  if (!cause && (f.channels != channels_ || f.bits != stream_bits_))
    bad_data("FLAC: channels or bits change at sample {}", sample_);
  if (!cause) cause = read_channels(f);
  if (!cause) bits_.align(), bits_.take(16);
  if (bits_.is_past_end())
    ends_early("FLAC: premature end of file in a frame at byte {} near sample {}", begin, sample_);
  if (cause) stop(cause);
  if (flac_frame_sum(bits_.bytes.subspan(begin, bits_.byte() - begin))) stop("the checksum of a frame is wrong");
  sample_ += f.length;
  return true;
}

FlacFrames::Cause FlacFrames::read_head(Frame& f) {
  const size_t begin = bits_.byte();
  const uint64_t start = bits_.take(16);
  if (start >> 1 != 0x7FFC) return "expected a frame";
  const bool of_sample = start & 1;
  const auto length_code = static_cast<int>(bits_.take(4)), rate_code = static_cast<int>(bits_.take(4));
  const auto channel_code = static_cast<int>(bits_.take(4)), bits_code = static_cast<int>(bits_.take(3));
  const bool reserved = bits_.take(1);
  const int number_bytes = coded_number_bytes(static_cast<uint8_t>(bits_.take(8)), of_sample);
  if (!number_bytes) return "the frame number is damaged";
  for (int i = 1; i < number_bytes; ++i)
    if (bits_.take(8) >> 6 != 2) return "the frame number is damaged";
  if (length_code == 1) f.length = 192;
  else if (length_code < 6) f.length = 144 << length_code;
  else if (length_code < 8) f.length = static_cast<int>(bits_.take(length_code == 6 ? 8 : 16)) + 1;
  else f.length = 1 << length_code;
  if (rate_code >= 12) bits_.take(rate_code == 12 ? 8 : 16);
  bits_.take(8);  // the checksum of the header
  if (bits_.is_past_end()) return "";
  if (flac_header_sum(bits_.bytes.subspan(begin, bits_.byte() - begin)))
    return "the checksum of a frame header is wrong";
  constexpr int kBits[] = {0, 8, 12, 0, 16, 20, 24, 32};
  if (reserved || length_code == 0 || rate_code == 15 || channel_code > 10 || bits_code == 3 || f.length > 65535)
    return "a frame header has reserved values";
  f.channels = channel_code < 8 ? channel_code + 1 : 2;
  f.pairing = channel_code < 8 ? kNone : static_cast<Pairing>(channel_code - 7);
  f.bits = bits_code ? kBits[bits_code] : stream_bits_;
  return nullptr;
}

FlacFrames::Cause FlacFrames::read_channels(Frame& f) {
  const size_t n = f.length;
  f.samples.resize(std::max(f.samples.size(), n * f.channels));
  for (int c = 0; c < f.channels; ++c) {
    f.planes[c] = f.samples.data() + n * c;
    const int bits = f.bits + (c == f.side());
    Cause cause;
    if (bits < kWide) {
      cause = read_subframe(f, c, bits, f.planes[c]);
    } else {
      f.wide.resize(std::max(f.wide.size(), n));
      cause = read_subframe(f, c, bits, f.wide.data());
    }
    if (cause) return cause;
    if (bits_.is_past_end()) return "";
  }
  return nullptr;
}

template <class Sample> FlacFrames::Cause FlacFrames::read_subframe(Frame& f, int channel, int bits, Sample* to) {
  if (bits_.take(1)) return "a subframe begins with a one bit";
  const auto kind = static_cast<int>(bits_.take(6));
  f.wasted[channel] = 0;
  if (bits_.take(1)) {
    const uint64_t more = bits_.take_zeros();
    if (more + 1 >= static_cast<uint64_t>(bits)) return "a subframe wastes all of its bits";
    f.wasted[channel] = static_cast<int>(more) + 1;
    bits -= f.wasted[channel];
  }
  const auto take = [&] { return static_cast<Sample>(bits_.take_signed(bits)); };
  if (kind == 0) std::fill_n(to, f.length, take());
  else if (kind == 1) std::generate_n(to, f.length, take);
  else if (kind >= 8 && kind <= 12) return read_fixed(f, channel, kind - 8, bits, to);
  else if (kind >= 32) return read_linear(f, channel, kind - 31, bits, to);
  else return "a subframe has a reserved type";
  return nullptr;
}

template <class Sample>
FlacFrames::Cause FlacFrames::read_fixed(Frame& f, int channel, int order, int bits, Sample* to) {
  if (order > f.length) return "the order of a predictor exceeds the frame";
  std::generate_n(to, order, [&] { return static_cast<Sample>(bits_.take_signed(bits)); });
  int32_t* const residual = f.planes[channel];
  if (Cause cause = read_residual(f.length, order, residual)) return cause;
  switch (order) {
    case 0:
      if constexpr (sizeof(Sample) != 4) std::copy_n(residual, f.length, to);
      break;
    case 1: add_up<1>(residual, to, f.length); break;
    case 2: add_up<2>(residual, to, f.length); break;
    case 3: add_up<3>(residual, to, f.length); break;
    default: add_up<4>(residual, to, f.length);
  }
  return nullptr;
}

template <class Sample>
FlacFrames::Cause FlacFrames::read_linear(Frame& f, int channel, int order, int bits, Sample* to) {
  if (order > f.length) return "the order of a predictor exceeds the frame";
  std::generate_n(to, order, [&] { return static_cast<Sample>(bits_.take_signed(bits)); });
  FlacPrediction p{.samples = f.planes[channel], .length = f.length, .order = order};
  const auto precision = static_cast<int>(bits_.take(4)) + 1;
  p.shift = static_cast<int>(bits_.take_signed(5));
  if (precision == 16 || p.shift < 0) return "a predictor has reserved values";
  int64_t sum = 0;  // bound of the prediction, in units of the largest sample
  for (int j = 0; j < order; ++j) {
    p.coefficients[j] = static_cast<int32_t>(bits_.take_signed(precision));
    sum += std::abs(p.coefficients[j]);
  }
  if (Cause cause = read_residual(f.length, order, p.samples)) return cause;
  if constexpr (sizeof(Sample) == 4) (sum << (bits - 1) <= INT32_MAX ? narrow_ : wide_).push_back(p);
  else predict_33_bits(p, to);
  return nullptr;
}

FlacFrames::Cause FlacFrames::read_residual(int length, int order, int32_t* to) {
  const auto method = static_cast<int>(bits_.take(2)), power = static_cast<int>(bits_.take(4));
  if (method > 1) return "a residual has a reserved coding method";
  const int part = length >> power;
  if (part << power != length || part < order) return "the partitions of a residual do not fit the frame";
  const int parameter_bits = 4 + method, escape = (1 << parameter_bits) - 1;
  int32_t* at = to + order;
  for (int p = 0; p < 1 << power; ++p) {
    const int n = p ? part : part - order;
    const auto k = static_cast<int>(bits_.take(parameter_bits));
    if (k == escape) {
      const auto width = static_cast<int>(bits_.take(5));
      for (int i = 0; i < n; ++i) {  // Rice codes have the sign in the lowest bit
        const int64_t v = width ? bits_.take_signed(width) : 0;
        at[i] = low(v < 0 ? -2 * v - 1 : 2 * v);
      }
    } else if (!loops_.take_rice(bits_, k, reinterpret_cast<uint32_t*>(at), n)) {
      return "a residual has more than 32 bits";
    }
    if (bits_.is_past_end()) return "";
    at += n;
  }
  loops_.unfold(to + order, length - order);
  return nullptr;
}

void FlacFrames::finish(Frame& f) {
  const int n = f.length;
  const bool is_wide = f.bits + 1 == kWide && f.side() >= 0;
  for (int c = 0; c < f.channels; ++c) {
    if (!f.wasted[c]) continue;
    if (is_wide && c == f.side()) shift_all(f.wide.data(), n, f.wasted[c]);
    else shift_all(f.planes[c], n, f.wasted[c]);
  }
  if (f.pairing == kNone) return;
  int32_t *const a = f.planes[0], *const b = f.planes[1];
  const auto undo = [&](const auto* side) {
    if (f.pairing == kLeftSide)
      for (int i = 0; i < n; ++i) b[i] = subtract(a[i], low(side[i]));
    else if (f.pairing == kSideRight)
      for (int i = 0; i < n; ++i) a[i] = add(b[i], low(side[i]));
    else
      for (int i = 0; i < n; ++i) {  // half of the sum, rounded down: the difference has its lowest bit
        const auto s = side[i];
        a[i] = add(a[i], low((s >> 1) + (s & 1)));
        b[i] = subtract(a[i], low(s));
      }
  };
  if (is_wide) undo(f.wide.data());
  else undo(f.planes[f.side()]);
}

}  // namespace penstock
