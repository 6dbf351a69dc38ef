// SPDX-License-Identifier: Apache-2.0
// Values that are changed in place: finds the samples of a batch that nobody else holds, and the memory that samples
// share. The reference counts of shared pointers say who holds memory.
#pragma once
#include <vector>

#include "batch/batch.h"

namespace penstock {

// Memory of a pipeline, with a token that is released after it.
struct FreeWithToken {
  std::shared_ptr<void> memory, token;
  void operator()(void*) noexcept {
    memory.reset();
    token.reset();
  }
};

// Gives each sample its own owner, so that branches and loops can see when nobody else holds it. The samples of one
// block separate without a copy. The block is freed with the last of them.
void part_samples(Batch& b);

// For each sample: whether only `b` holds its memory. That memory must be the pipeline's own (not a program's, not a
// mapped file), dense, and must not overlap another sample's.
std::vector<char> held_alone(const Batch& b);

// Memory for the samples of `out`: that of `from` where `take` is set, else new memory from `memory`.
void allocate_others(Batch& out, const Batch& from, std::span<const char> take,
                     const std::shared_ptr<MemoryResource>& memory, StreamHandle stream);

// Bytes of the samples for which `take` is not set.
size_t bytes_of_others(const Batch& b, std::span<const char> take);

}  // namespace penstock
