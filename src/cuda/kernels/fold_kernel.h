// SPDX-License-Identifier: Apache-2.0
// Coefficients from arguments on the GPU: one thread for each operator of each sample.
#pragma once
#include "cuda/kernels/dtypes.h"
#include "cuda/kernels/fold_rows.h"

namespace penstock {

// As PerSample<float> reads a number on the host.
__device__ inline float number_at(int64_t address, int64_t dtype) {
  const void* p = reinterpret_cast<const void*>(address);
#define PENSTOCK_CASE(T) return static_cast<float>(static_cast<double>(*static_cast<const T*>(p)))
  PENSTOCK_TYPES(dtype, PENSTOCK_CASE)
#undef PENSTOCK_CASE
}
template <class Values, class Known> struct FoldedNumbers {
  Values values;
  Known known;
};
template <class Op, class V> __device__ inline void fold_row(char* table, const FoldRow& row) {
  using Numbers = FoldedNumbers<typename Op::Values, typename Op::Known>;
  const Numbers& numbers = *reinterpret_cast<const Numbers*>(table + row.values);
  typename Op::Values v = numbers.values;
  float* first = reinterpret_cast<float*>(&v);
  for (int k = 0; k < static_cast<int>(sizeof(v) / sizeof(float)) && k < kMostFolded; ++k)
    if (row.arguments[k].address) first[k] = number_at(row.arguments[k].address, row.arguments[k].dtype);
  *reinterpret_cast<typename Op::template Coef<V>*>(table + row.coefs) = Op::template fold<V>(v, numbers.known);
}
// Folds::row calls fold_row of the operator that the row names.
template <class Folds, int threads> __device__ inline void fold_rows(const char* block) {
  const FoldHeader& head = *reinterpret_cast<const FoldHeader*>(block);
  char* table = const_cast<char*>(block) - head.table;
  const FoldRow* rows = reinterpret_cast<const FoldRow*>(block + sizeof(FoldHeader));
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * threads;
  for (int64_t i = begin + threadIdx.x; i < begin + threads && i < head.rows; i += blockDim.x)
    Folds::row(table, rows[i]);
}

}  // namespace penstock
