// SPDX-License-Identifier: Apache-2.0
// What all kernels of stages share. A kernel is a template over a type Stage, which is all that the emitter prints of a
// stage (KernelWriter::stage): types, constants, and
//     Coefs                       the coefficients of its operators, read once by a thread
//     apply(coefs, load, ...)     its instructions on all planes of one position; load(Known<k>(), p) is the element of
//                                 input k in plane p
#pragma once
#include "launch/find_entry.h"
#include "cuda/kernels/frame_source.h"
#include "cuda/kernels/groups.h"
#include "cuda/kernels/stage_row.h"

namespace penstock {

// A value of each input.
template <class... T> struct Each {};
template <class T, class... Rest> struct Each<T, Rest...> {
  T own;
  Each<Rest...> rest;
};
template <int k, class Values> PENSTOCK_HD constexpr auto& value_of(Values& values) {
  if constexpr (k == 0) return values.own;
  else return value_of<k - 1>(values.rest);
}
template <int k, class First, class... Rest> struct Nth {
  typedef typename Nth<k - 1, Rest...>::type type;
};
template <class First, class... Rest> struct Nth<0, First, Rest...> {
  typedef First type;
};
// f(Known<0>()), f(Known<1>()) and so on.
template <int n, int k = 0, class F> PENSTOCK_HD inline void for_each_input(const F& f) {
  if constexpr (k < n) {
    f(Known<k>());
    for_each_input<n, k + 1>(f);
  }
}

// Where the inputs are: pointers, or what reads a frame as if it were one.
template <class Stage, bool frames = kReadsFrames<Stage>> struct InputsOf {
  template <class T> using Pointer = const T*;
  typedef typename Stage::template OfInputs<Pointer> type;
};
template <class Stage> struct InputsOf<Stage, true> {
  typedef Each<FrameReader<typename Stage::Frame, typename Stage::Index>> type;
};
template <class Stage> using SourceOf = decltype(InputsOf<Stage>::type::own);

// The entry of this block, and the part [begin, end) of its work that the block does.
template <class Stage> struct StageBlock {
  typedef typename Stage::Index Index;
  typedef typename Stage::Out Out;

  const char* table;
  const char* coefs;  // the row's offset of coefficients is from here
  StageRow<const char> row;
  typename InputsOf<Stage>::type in;
  Out* out;
  int32_t* fault = nullptr;
  int entry, number;  // of the table; of the block among its entry's
  Index begin, end;

  __device__ inline explicit StageBlock(const char* from) : table(from), coefs(from), row{Stage::kRow, from} {
    const TableHeader& head = *reinterpret_cast<const TableHeader*>(table);
    int first;
    row.row += head.rows;
    if constexpr (Stage::kOneRow) {
      const int each = static_cast<int>(head.blocks);
      entry = static_cast<int>(blockIdx.x) / each, first = entry * each;
      coefs += entry * head.coefs_step;
    } else {
      const int32_t* starts = reinterpret_cast<const int32_t*>(table + head.starts);
      entry = find_entry(starts, static_cast<int>(head.entries), static_cast<int>(blockIdx.x)), first = starts[entry];
      row.row += static_cast<int64_t>(entry) * Stage::kRow.bytes();
    }
    for_each_input<Stage::kRow.inputs>([&](auto k) {
      auto& pointer = value_of<k.value>(in);
      const char* at = row.head().in[k.value];
      if constexpr (Stage::kOneRow) at += entry * head.in_step[k.value];
      if constexpr (kReadsFrames<Stage>) {
        pointer.begin(at, row.frame());
      } else {
        pointer = reinterpret_cast<decltype(&*pointer)>(at);
        PENSTOCK_GLOBAL(pointer);
      }
    });
    char* to = row.head().out;
    if constexpr (Stage::kOneRow) to += entry * head.out_step;
    out = reinterpret_cast<Out*>(to);
    PENSTOCK_GLOBAL(out);
    const Index total = static_cast<Index>(row.head().positions), block = static_cast<Index>(head.block);
    number = static_cast<int>(blockIdx.x) - first;
    begin = static_cast<Index>(number) * block;
    end = total - begin < block ? total : begin + block;
    if constexpr (Stage::kRow.faults) {
      fault = row.fault();
      if constexpr (Stage::kOneRow) fault += entry * (head.fault_step / static_cast<int64_t>(sizeof(int32_t)));
    }
  }
  // The blocks of this block's entry.
  PENSTOCK_HD inline int blocks() const {
    const TableHeader& head = *reinterpret_cast<const TableHeader*>(table);
    if constexpr (Stage::kOneRow) return static_cast<int>(head.blocks);
    const int32_t* starts = reinterpret_cast<const int32_t*>(table + head.starts) + entry;
    return starts[1] - starts[0];
  }
};

// What a stage makes of each of the 256 values of a byte, plane after plane; in shared memory, if Stage::kTable.
template <class Stage>
__device__ inline const typename Stage::Out* shared_results(const StageBlock<Stage>& b,
                                                            const typename Stage::Coefs& coefs) {
  if constexpr (Stage::kTable) {
    PENSTOCK_SHARED(typename Stage::Out, results);
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
      typename Stage::Number made[Stage::kPlanes];
      Stage::apply(coefs, [&](auto, int) { return static_cast<uint8_t>(i); }, made, b.fault, true);
      for (int p = 0; p < Stage::kPlanes; ++p)
        results[p * 256 + i] = element_of<typename Stage::Number, typename Stage::Out>(made[p]);
    }
    __syncthreads();
    return results;
  }
  return nullptr;
}

}  // namespace penstock
