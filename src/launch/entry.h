// SPDX-License-Identifier: Apache-2.0
// What the kernels of whole operators share with the host and with each other: the table of a launch, the place of a
// thread, shared memory. The library uses the rows alone. Kernels are compiled from this text by NVRTC and by the
// emulated GPU, and for the host by a test, which defines the functions that are only declared here.
#pragma once
#include <cstdint>
#include <type_traits>

#include "launch/find_entry.h"
#include "pixel/host_device.h"

#ifdef __CUDACC__
#define PENSTOCK_KERNEL __device__ inline
#define PENSTOCK_PRAGMA(text) _Pragma(#text)
extern __shared__ __align__(16) char penstock_shared[];
#else
#define PENSTOCK_KERNEL inline
#define PENSTOCK_PRAGMA(text)
#endif
#define PENSTOCK_UNROLL PENSTOCK_PRAGMA(unroll)
#define PENSTOCK_UNROLL_BY(n) PENSTOCK_PRAGMA(unroll n)

namespace penstock::whole {

constexpr int kThreads = 256;  // per block, in every kernel
constexpr int kMostDims = 8;

#if defined(__CUDACC__) || defined(PENSTOCK_EMULATED)
PENSTOCK_KERNEL unsigned thread() { return threadIdx.x; }
PENSTOCK_KERNEL unsigned threads() { return blockDim.x; }
PENSTOCK_KERNEL int block() { return static_cast<int>(blockIdx.x); }
PENSTOCK_KERNEL void wait_for_block() { __syncthreads(); }
PENSTOCK_KERNEL void wait_for_warp() { __syncwarp(); }
PENSTOCK_KERNEL char* shared_bytes() { return penstock_shared; }
#else
unsigned thread();  // unsigned: compilers do not unroll loops over threads
unsigned threads();
int block();
void wait_for_block();
void wait_for_warp();
char* shared_bytes();
#endif
template <class T> PENSTOCK_KERNEL T* shared_memory() { return reinterpret_cast<T*>(shared_bytes()); }

// A place in the data that goes along with the rows.
template <class T> struct InData {
  int64_t offset = 0;
};
// The work of an entry: the number of units that its threads process.
template <class Row> struct EntryRow {
  int64_t work;
  Row row;
};
// The beginning of a table. The rest by offsets from here: each entry's first block, and their end; rows; data.
struct TableHead {
  int64_t entries, starts, rows;
  int64_t block;  // units of work that a block processes
  int64_t data;
};
static_assert(sizeof(TableHead) == 40 && sizeof(InData<char>) == 8);

// What a block works on: units [begin, end) of a row.
template <class Row> struct Entry {
  const Row& row;
  const char* data;
  int64_t begin, end;

  template <class T> PENSTOCK_HD const T* at(InData<T> place) const {
    return reinterpret_cast<const T*>(data + place.offset);
  }
};

// Joins kThreads values in shared memory into the first one, in halves; all threads have it afterwards.
template <class T, class Join> PENSTOCK_KERNEL void fold_in_halves(T* part, const Join& join) {
  wait_for_block();
  for (int k = kThreads / 2; k > 0; k /= 2) {
    for (int item = thread(); item < k; item += threads()) join(part[item], part[item + k]);
    wait_for_block();
  }
}

// Calls the kernel with the entry of this block.
template <class Row> PENSTOCK_KERNEL void start(const char* table, void (*kernel)(const Entry<Row>&)) {
  static_assert(__is_trivially_copyable(Row) && alignof(EntryRow<Row>) == 8);
  const TableHead& head = *reinterpret_cast<const TableHead*>(table);
  const auto* starts = reinterpret_cast<const int32_t*>(table + head.starts);
  const int entry = find_entry(starts, static_cast<int>(head.entries), block());
  // In 32 bits: a product in 64 bits takes registers that some kernels do not have.
  const int place = entry * static_cast<int>(sizeof(EntryRow<Row>) / sizeof(int64_t));
  const auto& row =
      *reinterpret_cast<const EntryRow<Row>*>(reinterpret_cast<const int64_t*>(table + head.rows) + place);
  const int64_t begin = static_cast<int64_t>(block() - starts[entry]) * head.block;
  const int64_t end = row.work - begin < head.block ? row.work : begin + head.block;
  kernel({row.row, table + head.data, begin, end});
}

}  // namespace penstock::whole
