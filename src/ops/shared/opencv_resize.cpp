// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/opencv_resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/crew.h"
#include "base/intrinsics.h"
#include "base/memory.h"
#include "base/target.h"

namespace penstock {
namespace {

#define PENSTOCK_LOOPS opencv_resize
#define PENSTOCK_LOOPS_TEXT "ops/shared/opencv_resize.inc.h"
#include "base/foreach_target.h"

constexpr int kOpencvTaps = 8;

int opencv_taps(FilterKind kind) {
  return kind == FilterKind::lanczos4 ? kOpencvTaps : kind == FilterKind::cubic_75 ? 4 : 2;
}

// The weights of samples around a position `x` after the one in the middle, in the order of OpenCV's operations.
void opencv_cubic(float x, float* w) {
  constexpr float a = -0.75f;
  w[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
  w[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
  w[2] = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1;
  w[3] = 1.0f - w[0] - w[1] - w[2];
}
void opencv_lanczos4(float x, float* w) {
  constexpr double r = 0.70710678118654752440084436210485;
  constexpr double turned[kOpencvTaps][2] = {{1, 0}, {-r, -r}, {0, 1}, {r, -r}, {-1, 0}, {r, r}, {0, -1}, {-r, r}};
  const double angle = -static_cast<double>(x + 3) * kPi * 0.25, s = sin(angle), c = cos(angle);
  float sum = 0;
  for (int k = 0; k < kOpencvTaps; ++k) {
    const float distance = x + 3 - static_cast<float>(k);
    const double y = -static_cast<double>(distance) * kPi * 0.25;
    w[k] = std::fabs(distance) >= 1e-6f ? static_cast<float>((turned[k][0] * s + turned[k][1] * c) / (y * y)) : 1e30f;
    sum += w[k];
  }
  sum = 1.0f / sum;
  for (int k = 0; k < kOpencvTaps; ++k) w[k] *= sum;
}

// The first of two samples of an area where an axis grows, and the weight of the second one.
int64_t area_begin(const AxisWindow& axis, int64_t output, double scale, double per_sample, float& second) {
  const bool mirrored = scale < 0;
  const double low = mirrored ? axis.hi : axis.lo, o = static_cast<double>(mirrored ? axis.out - 1 - output : output);
  const double first = std::floor(std::clamp(low + o * std::fabs(scale), -1e9, 1e9));
  const auto x = static_cast<float>((o + 1) - (first + 1 - low) * std::fabs(per_sample));
  second = x <= 0 ? 0.0f : x - std::floor(x);
  return static_cast<int64_t>(first);
}

struct OpencvTables {
  std::vector<int32_t> first;  // of the samples of each column, then of each row
  std::vector<float> weights;
  std::vector<int16_t> integers;  // the weights for bytes
  // `clamps`: OpenCV's columns, but not its rows, read one sample where two of `linear` would lie on the edge.
  void add(const AxisWindow& axis, FilterKind kind, int64_t in, bool clamps, bool bytes) {
    const int taps = opencv_taps(kind);
    const double per_sample = static_cast<double>(axis.out) / (axis.hi - axis.lo), scale = 1.0 / per_sample;
    for (int64_t o = 0; o < axis.out; ++o) {
      float x = 0;
      int64_t at = 0;
      if (kind == FilterKind::area_linear) {
        at = area_begin(axis, o, scale, per_sample, x);
      } else {
        x = static_cast<float>(axis.lo + ((static_cast<double>(o) + 0.5) * scale - 0.5));
        const float whole = std::floor(std::clamp(x, -1e9f, 1e9f));
        at = static_cast<int64_t>(whole), x -= whole;
      }
      if (clamps && taps == 2 && (at < 0 || at >= in - 1)) x = 0, at = std::clamp<int64_t>(at, 0, in - 1);
      std::array<float, kOpencvTaps> w{1.0f - x, x};
      if (kind == FilterKind::cubic_75) opencv_cubic(x, w.data());
      if (kind == FilterKind::lanczos4) opencv_lanczos4(x, w.data());
      if (bytes)
        for (float& one : w) one = std::rint(one * 2048.0f);
      first.push_back(static_cast<int32_t>(at - (taps / 2 - 1)));
      weights.insert(weights.end(), w.begin(), w.begin() + taps);
      if (bytes)
        for (int k = 0; k < taps; ++k) integers.push_back(static_cast<int16_t>(w[static_cast<size_t>(k)]));
    }
  }
  // Of INTER_LINEAR_EXACT.
  void add_exact(const AxisWindow& axis, int64_t in, int bits) {
    const double per_sample = static_cast<double>(axis.out) / (axis.hi - axis.lo), scale = 1.0 / per_sample;
    const auto one = static_cast<float>(1 << bits);
    for (int64_t o = 0; o < axis.out; ++o) {
      const double x = axis.lo + (scale * (static_cast<double>(o) + 0.5) - 0.5);
      const double whole = std::floor(std::clamp(x, -1e9, 1e9));
      auto at = static_cast<int64_t>(whole);
      auto w = static_cast<float>(std::rint((x - whole) * (1 << bits)));
      if (at < 0 || at >= in - 1) w = 0, at = std::clamp<int64_t>(at, 0, in - 1);
      first.push_back(static_cast<int32_t>(at));
      for (const float one_of_two : {one - w, w}) {
        weights.push_back(one_of_two);
        if (bits <= 8) integers.push_back(static_cast<int16_t>(one_of_two));
      }
    }
  }
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> all(first.size() * sizeof(int32_t) + weights.size() * sizeof(float));
    const size_t positions = first.size() * sizeof(int32_t);
    std::memcpy(all.data(), first.data(), positions);
    std::memcpy(all.data() + positions, weights.data(), all.size() - positions);
    return all;
  }
};

// How many elements of a row of n OpenCV's vectors make in another order than what remains.
int64_t opencv_vectors(DType t, FilterKind kind, int64_t n) {
  const bool cubic = kind == FilterKind::cubic_75;
  int64_t lanes = 0;
  if (opencv_taps(kind) == 2) return 0;
  if (t == DType::float32) lanes = 4;
  else if (t == DType::int16 || (cubic && (t == DType::uint8 || t == DType::uint16))) lanes = 8;
  return lanes ? n / lanes * lanes : 0;
}

template <class T, int taps> class OpencvRows {
 public:
  using Sum = OpencvResizeRule::SumOf<T>;
  OpencvRows(const T* in, T* out, const OpencvResizeRule::Coef& c, const OpencvTables& t)
      : in_(in), out_(out), c_(c), t_(t) {
    n_ = c.out.width * c.out.inner;
    sums_.resize(static_cast<size_t>(stride()) * taps);
    std::fill_n(held_, taps, -1);
  }
  void make(int64_t from, int64_t to) {
    for (int64_t y = from; y < to; ++y) {
      const Sum* rows[taps];
      for (int k = 0; k < taps; ++k) {
        const int64_t first = t_.first[static_cast<size_t>(c_.out.width + y)];
        rows[k] = sums_of(std::clamp<int64_t>(first + k, 0, c_.in.height - 1));
      }
      const float* const w = t_.weights.data() + (c_.out.width + y) * taps;
      T* const row = out_ + y * n_;
      if constexpr (std::is_same_v<T, uint8_t>) {
        const Target target = best_target();
        PENSTOCK_FOR_TARGET(target, opencv_resize, join_rows<taps, true>(rows, w, 0, c_.vectors, row));
        PENSTOCK_FOR_TARGET(target, opencv_resize, join_rows<taps, false>(rows, w, c_.vectors, n_, row));
      } else {
        opencv_resize_scalar::join_rows<taps, true>(rows, w, 0, c_.vectors, row);
        opencv_resize_scalar::join_rows<taps, false>(rows, w, c_.vectors, n_, row);
      }
    }
  }

 private:
  int64_t stride() const { return n_ + 4; }  // loops write a little past the end of a row
  // Neighboring rows are in different places of the ring.
  const Sum* sums_of(int64_t y) {
    Sum* const sums = sums_.data() + y % taps * stride();
    if (held_[y % taps] == y) return sums;
    held_[y % taps] = y;
    const T* const row = in_ + y * c_.in.width * c_.in.inner;
    const int32_t* const first = t_.first.data();
    if constexpr (std::is_same_v<T, uint8_t>) {
      PENSTOCK_FOR_TARGET(best_target(), opencv_resize,
                          sum_row<taps>(row, c_.in.width, c_.in.inner, first, t_.integers.data(), c_.out.width, sums));
    } else {
      opencv_resize_scalar::sum_row<taps>(row, c_.in.width, c_.in.inner, first, t_.weights.data(), c_.out.width, sums);
    }
    return sums;
  }

  const T* in_;
  T* out_;
  const OpencvResizeRule::Coef& c_;
  const OpencvTables& t_;
  int64_t n_ = 0;
  std::vector<Sum> sums_;
  int64_t held_[taps];
};

template <int taps> void opencv_images(const View& in, const View& out, const OpencvResizeRule::Coef& c,
                                       const OpencvTables& tables) {
  dispatch(in.dtype, [&]<class T>(TypeTag<T>) {
    const int64_t from = c.in.height * c.in.width * c.in.inner, made = c.out.height * c.out.width * c.out.inner;
    for (int64_t i = 0; i < c.out.outer; ++i)
      Crew::share(c.out.height, made * static_cast<int64_t>(sizeof(T)), [&](int64_t begin, int64_t end) {
        OpencvRows<T, taps>(in.as<const T>() + i * from, out.as<T>() + i * made, c, tables).make(begin, end);
      });
  });
}

// INTER_LINEAR_EXACT: weights of bytes have 8 binary digits, those of 16 bits have 16.
constexpr int exact_bits(DType t) { return t == DType::uint8 ? 8 : 16; }

template <class T> class ExactRows {
 public:
  static constexpr bool kBytes = std::is_same_v<T, uint8_t>;
  static constexpr int kBits = kBytes ? 8 : 16;
  using Sum = std::conditional_t<kBytes, int32_t, int64_t>;
  ExactRows(const T* in, T* out, const OpencvExactRule::Coef& c, const OpencvTables& t)
      : in_(in), out_(out), c_(c), t_(t), n_(c.out.width * c.out.inner) {
    for (auto& sums : sums_) sums.resize(static_cast<size_t>(n_ + 4));  // loops write a little past the end of a row
  }
  void make(int64_t from, int64_t to) {
    for (int64_t y = from; y < to; ++y) {
      const int64_t first = t_.first[static_cast<size_t>(c_.out.width + y)];
      const Sum *const a = sums_of(first), *const b = sums_of(std::min(first + 1, c_.in.height - 1));
      const auto weight = static_cast<Sum>(t_.weights[static_cast<size_t>((c_.out.width + y) * 2 + 1)]);
      PENSTOCK_FOR_TARGET(best_target(), opencv_resize, join_exact_rows<kBits>(a, b, weight, n_, out_ + y * n_));
    }
  }

 private:
  const Sum* sums_of(int64_t y) {
    Sum* const sums = sums_[y % 2].data();
    if (held_[y % 2] == y) return sums;
    held_[y % 2] = y;
    const T* const row = in_ + y * c_.in.width * c_.in.inner;
    const int32_t* const first = t_.first.data();
    if constexpr (kBytes)
      PENSTOCK_FOR_TARGET(best_target(), opencv_resize,
                          sum_row<2>(row, c_.in.width, c_.in.inner, first, t_.integers.data(), c_.out.width, sums));
    else
      opencv_resize_scalar::sum_exact_row(row, c_.in.width, c_.in.inner, first, t_.weights.data(), c_.out.width,
                                          int64_t{1} << kBits, sums);
    return sums;
  }

  const T* in_;
  T* out_;
  const OpencvExactRule::Coef& c_;
  const OpencvTables& t_;
  int64_t n_;
  std::array<std::vector<Sum>, 2> sums_;
  int64_t held_[2] = {-1, -1};
};

template <class T>
void exact_images(const View& in, const View& out, const OpencvExactRule::Coef& c, const OpencvTables& tables) {
  const int64_t from = c.in.height * c.in.width * c.in.inner, made = c.out.height * c.out.width * c.out.inner;
  for (int64_t i = 0; i < c.out.outer; ++i)
    Crew::share(c.out.height, made * static_cast<int64_t>(sizeof(T)), [&](int64_t begin, int64_t end) {
      ExactRows<T>(in.as<const T>() + i * from, out.as<T>() + i * made, c, tables).make(begin, end);
    });
}

}  // namespace

void make_in_own_type(const View& in, const View& out, const std::function<void(const View&)>& make) {
  if (in.dtype == out.dtype) return make(out);
  std::vector<std::byte> memory(checked_bytes(out.volume(), size_of(in.dtype)));
  View own = out;
  own.dtype = in.dtype, own.data = memory.data(), own.strides = dense_strides(own.shape);
  make(own);
  host_work().copy(own, out);
}

void resize_as_opencv(const View& in, const View& out, FilterKind kind, const AxisWindow& x, const AxisWindow& y,
                      SampleWork& to) {
  if (out.volume() == 0) return;
  OpencvResizeRule::Coef c{image_extents(out.shape, out.layout), image_extents(in.shape, in.layout), opencv_taps(kind),
                           0};
  c.vectors = opencv_vectors(in.dtype, kind, c.out.width * c.out.inner);
  auto tables = std::make_shared<OpencvTables>();
  tables->add(x, kind, c.in.width, true, in.dtype == DType::uint8);
  tables->add(y, kind, c.in.height, false, in.dtype == DType::uint8);
  const auto host = [=] {
    make_in_own_type(in, out, [&](const View& own) {
      if (kind == FilterKind::cubic_75) opencv_images<4>(in, own, c, *tables);
      else if (kind == FilterKind::lanczos4) opencv_images<8>(in, own, c, *tables);
      else opencv_images<2>(in, own, c, *tables);
    });
  };
  ElementStep step{&image_rule_text<OpencvResizeRule>, coef_bytes_of(c), tables, nullptr, host};
  step.table = [tables] { return tables->bytes(); };
  to.map(in, out, std::move(step));
}

void resize_exactly_as_opencv(const View& in, const View& out, const AxisWindow& x, const AxisWindow& y,
                              SampleWork& to) {
  if (out.volume() == 0) return;
  const int bits = exact_bits(in.dtype);
  const OpencvExactRule::Coef c{image_extents(out.shape, out.layout), image_extents(in.shape, in.layout), bits};
  auto tables = std::make_shared<OpencvTables>();
  tables->add_exact(x, c.in.width, bits), tables->add_exact(y, c.in.height, bits);
  const auto host = [=] {
    make_in_own_type(in, out, [&](const View& own) {
      if (in.dtype == DType::uint8) exact_images<uint8_t>(in, own, c, *tables);
      else if (in.dtype == DType::uint16) exact_images<uint16_t>(in, own, c, *tables);
      else exact_images<int16_t>(in, own, c, *tables);
    });
  };
  ElementStep step{&image_rule_text<OpencvExactRule>, coef_bytes_of(c), tables, nullptr, host};
  step.table = [tables] { return tables->bytes(); };
  to.map(in, out, std::move(step));
}

}  // namespace penstock
