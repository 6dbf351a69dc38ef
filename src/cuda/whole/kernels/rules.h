// SPDX-License-Identifier: Apache-2.0
// Kernels around the rules that operators give as text: numbers along an axis, random numbers, elements, groups.
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/half.h"
#include "launch/entry.h"
#include "pixel/affine.h"
#include "pixel/convert.h"
#include "pixel/extremes.h"
#include "pixel/far_angles.h"
#include "pixel/math.h"
#include "pixel/philox.h"
#include "pixel/stored.h"
#include "pixel/float32.h"
#include "pixel/taps.h"
#include "pixel/transcendental.h"
#include "pixel/wrap.h"

namespace penstock::whole {

// The coefficients of a rule in this table.
template <class Rule, class Row> PENSTOCK_KERNEL const typename Rule::Coef& coef_of(const Entry<Row>& e) {
  return *reinterpret_cast<const typename Rule::Coef*>(e.at(e.row.coef));
}

// Each thread makes one number of those along an axis.
struct AxisRow {
  const void* in;
  void* out;
  int64_t n, m;  // extents of the axis before and after
  int64_t inner;
  InData<char> coef;
};
static_assert(sizeof(AxisRow) == 48);

// What an operator's rule reads: in[k] is a double.
template <class In> struct AxisNumbers {
  const In* first;
  int64_t stride;
  PENSTOCK_HD double operator[](int64_t k) const {
    if constexpr (std::is_same_v<In, Half>) return static_cast<double>(static_cast<float>(first[k * stride]));
    else return static_cast<double>(first[k * stride]);
  }
};

// Units of work are elements of the output. Rule: Coef, and number(in, j, coef): number j.
template <class In, class Out, class Rule> PENSTOCK_KERNEL void map_axis(const Entry<AxisRow>& e) {
  const In* in = static_cast<const In*>(e.row.in);
  Out* out = static_cast<Out*>(e.row.out);
  const int64_t n = e.row.n, m = e.row.m, inner = e.row.inner;
  const auto& coef = coef_of<Rule>(e);
  for (int64_t i = e.begin + thread(); i < e.end; i += threads()) {
    const int64_t x = i % inner, j = i / inner % m, o = i / inner / m;
    const AxisNumbers<In> numbers{in + o * n * inner + x, inner};
    out[i] = stored<Out>(static_cast<double>(Rule::number(numbers, j, coef)));
  }
}

// Each thread takes a block of bits, in the same order as on the host.
struct DrawRow {
  void* out;
  int64_t elements;
  RandomStream stream;
  InData<char> coef;
};
static_assert(sizeof(DrawRow) == 40);

// Units of work are blocks of bits. Rule: Coef, and number(bits, k, coef): element k of the `count` that a block gives.
template <class Out, int count, class Rule> PENSTOCK_KERNEL void draw(const Entry<DrawRow>& e) {
  struct alignas(sizeof(Out) * count > 16 ? 16 : sizeof(Out) * count) Numbers {
    Out v[count];
  };
  Out* out = static_cast<Out*>(e.row.out);
  const int64_t n = e.row.elements;
  const RandomStream stream = e.row.stream;
  const auto& coef = coef_of<Rule>(e);
  for (int64_t i = e.begin + thread(); i < e.end; i += threads()) {
    const PhiloxBlock b = stream.block(static_cast<uint64_t>(i));
    Numbers r;
    PENSTOCK_UNROLL
    for (int k = 0; k < count; ++k) r.v[k] = stored<Out>(static_cast<double>(Rule::number(b, k, coef)));
    Out* to = out + i * count;
    if (i * count + count <= n && (reinterpret_cast<uint64_t>(to) & (alignof(Numbers) - 1)) == 0) {
      *reinterpret_cast<Numbers*>(to) = r;
    } else {
      for (int k = 0; k < count && i * count + k < n; ++k) to[k] = r.v[k];
    }
  }
}

// Each element of the output is a function of the input.
struct MapRow {
  const void* in;
  void* out;
  InData<char> coef, table;
};
static_assert(sizeof(MapRow) == 32);

// Units of work are elements of the output. Rule: Coef, and value<Out>(in, i, coef, table): element i.
template <class In, class Out, class Rule> PENSTOCK_KERNEL void map(const Entry<MapRow>& e) {
  const In* in = static_cast<const In*>(e.row.in);
  Out* out = static_cast<Out*>(e.row.out);
  const auto& coef = coef_of<Rule>(e);
  for (int64_t i = e.begin + thread(); i < e.end; i += threads())
    out[i] = Rule::template value<Out>(in, i, coef, e.at(e.row.table));
}

// Parts of images that a group of threads processes together: a block a group.
struct GroupRow {
  const uint8_t* in;
  InData<char> coef;
};
static_assert(sizeof(GroupRow) == 16);

// As GroupLanes of operator/image_work.h.
struct GroupLanes {
  int index, count;
  PENSTOCK_HD void sync() const { wait_for_block(); }
  PENSTOCK_HD void add(int32_t* to) const {
#ifdef __CUDACC__
    atomicAdd(to, 1);
#else
    ++*to;  // threads run in turn
#endif
  }
};

// Units of work are groups. Rule: Coef, and group(in, g, coef, threads, memory).
template <class Rule> PENSTOCK_KERNEL void run_groups(const Entry<GroupRow>& e) {
  const auto& coef = coef_of<Rule>(e);
  const GroupLanes group = {static_cast<int>(thread()), static_cast<int>(threads())};
  for (int64_t g = e.begin; g < e.end; ++g) {
    Rule::group(e.row.in, g, coef, group, shared_bytes());
    wait_for_block();
  }
}

}  // namespace penstock::whole
