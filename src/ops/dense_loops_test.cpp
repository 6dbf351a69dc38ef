// SPDX-License-Identifier: Apache-2.0
// The loops over memory in the operands' own type give the bytes of the loops over tiles, on every target: all pairs of
// bytes, many of 16 bits, hard floats, constants on both sides.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>

#include "ops/ops_test.h"

namespace penstock {
namespace {

using test::arguments;
using test::Given;

// Pairs of numbers of a type, every pair of bytes; a few more than a whole number of vectors.
template <class T> std::pair<std::vector<T>, std::vector<T>> pairs_of(bool zeros) {
  std::mt19937 random(11);
  std::vector<T> a(65536 + 37), b(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if constexpr (std::is_same_v<T, bool>) {
      a[i] = i & 1, b[i] = i & 2;
    } else if constexpr (std::is_same_v<T, float>) {
      const float hard[] = {0.0f, -0.0f, 1.0f, INFINITY, -INFINITY, std::bit_cast<float>(0x7FC00000u), 1e-45f, -1.0f};
      a[i] = hard[random() % 8], b[i] = hard[random() % 8];
    } else {
      a[i] = static_cast<T>(i), b[i] = static_cast<T>(sizeof(T) == 1 ? i >> 8 : i % 3 ? random() : random() % 19);
    }
    if (!zeros && b[i] == T(0)) b[i] = T(1);
  }
  return {a, b};
}

// The operator's loop over tiles, from and to memory of the types T and R.
template <class T, class R, class V>
std::vector<R> by_tiles(const BoundOp& op, Lane lane, const std::byte* coef, const std::vector<T>* const* in, int n_in,
                        bool& fault) {
  std::vector<V> of[2], out(in[0]->size());
  const void* from[2];
  TileCall call;
  for (int k = 0; k < n_in; ++k)
    of[k].assign(in[k]->begin(), in[k]->end()), from[k] = of[k].data(), call.in[k] = &from[k];
  void* to = out.data();
  call.out = &to, call.n = static_cast<int64_t>(out.size()), call.coef = coef, call.fault = &fault;
  op.tile(Target::scalar, lane)(call);
  return {out.begin(), out.end()};
}

template <class T> struct Elements {  // std::vector<bool> has no array
  explicit Elements(const std::vector<T>& v) : bytes(v.size() * sizeof(T)) {
    for (size_t i = 0; i < v.size(); ++i) {
      const T x = v[i];
      std::memcpy(bytes.data() + i * sizeof(T), &x, sizeof(T));
    }
  }
  std::vector<std::byte> bytes;
};

template <class T, class R> void expect_tiles(const BoundOp& op, DType type, DType out, int n_in, bool faults) {
  const Lane lane = op.lane(std::vector<DType>(static_cast<size_t>(n_in), type), out);
  std::vector<std::byte> coef(op.coef_bytes(lane));
  op.coef({}, lane, 1, coef.data());
  const auto [left, right] = pairs_of<T>(!faults);
  const std::vector<T>&a = n_in == 1 && faults ? right : left, &b = right;  // it may be the divisor of a constant
  const std::vector<T>* in[2] = {&a, &b};
  bool fault = false;
  const std::vector<R> want = lane == Lane::f32 ? by_tiles<T, R, float>(op, lane, coef.data(), in, n_in, fault)
                                                : by_tiles<T, R, int32_t>(op, lane, coef.data(), in, n_in, fault);
  const Elements<T> first(a), second(b);
  const Elements<R> wanted(want);
  for (Target target : {Target::scalar, Target::avx2, Target::avx512}) {
    if (target > best_target()) continue;
    for (const size_t n : {a.size(), size_t{4097}, size_t{1}, size_t{0}}) {
      std::vector<std::byte> got(n * sizeof(R) + 1, std::byte{0x5A});
      const void *from[2] = {first.bytes.data(), second.bytes.data()}, *of[2] = {from[0], from[1]};
      void* to = got.data();
      bool bad = false;
      TileCall call;
      for (int k = 0; k < n_in; ++k) call.in[k] = &of[k];
      call.out = &to, call.n = static_cast<int64_t>(n), call.coef = coef.data(), call.fault = &bad;
      op.dense_loop(target, type)(call);
      EXPECT_EQ(bad, false);
      EXPECT_EQ(std::memcmp(got.data(), wanted.bytes.data(), n * sizeof(R)), 0)
          << op.info->name << " " << name_of(type) << " target " << static_cast<int>(target) << " n " << n;
      EXPECT_EQ(got.back(), std::byte{0x5A}) << op.info->name;
      if (faults && n > 0 && n_in == 2) {  // in the last run
        std::vector<std::byte> zero = second.bytes;
        std::memset(zero.data() + (n - 1) * sizeof(T), 0, sizeof(T));
        of[1] = zero.data();
        op.dense_loop(target, type)(call);
        EXPECT_TRUE(bad) << op.info->name << " n " << n;
      }
    }
  }
}

// Whether the operator has such a loop, which then is tested.
bool expect_dense_loop(const OpInfo& info, DType type, int n_in, const Given& given) {
  const auto op = bind_op(info, arguments(info, given));
  const std::vector<ValueType> in(static_cast<size_t>(n_in), {type, 1, {}});
  ValueType out;
  try {
    op->infer(in, std::span(&out, 1));
  } catch (const Error&) {  // a type that it refuses
    return false;
  }
  if (!op->dense_loop(Target::scalar, type)) return false;
  dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, Half> && !std::is_same_v<T, double> && sizeof(T) <= 4) {
      if (out.dtype == DType::bool_) expect_tiles<T, bool>(*op, type, out.dtype, n_in, op->traits().faults);
      else expect_tiles<T, T>(*op, type, out.dtype, n_in, op->traits().faults);
    }
  });
  return true;
}

TEST(DenseLoops, AreTheLoopsOverTiles) {
  int found = 0;
  for (const OpInfo* info : all_ops()) {
    if (info->family != Family::stage || info->max_inputs > 2 || !info->hidden) continue;
    for (DType type : {DType::bool_, DType::uint8, DType::int8, DType::uint16, DType::int16, DType::float32}) {
      found += expect_dense_loop(*info, type, info->max_inputs, {});
      if (info->max_inputs != 2) continue;
      for (const double constant : {1.0, 3.0, 7.0})
        for (const char* side : {"left", "right"})
          expect_dense_loop(*info, type, 1,
                            {{side, constant}, {std::string(side) + "_type", static_cast<int64_t>(type)}});
    }
  }
  EXPECT_GT(found, 80);
}

}  // namespace
}  // namespace penstock
