// SPDX-License-Identifier: Apache-2.0
// Values that are changed in place: which samples of a batch nobody else holds, and memory that samples share. Who
// holds memory is counted by its shared pointers.
#pragma once
#include <vector>

#include "batch/batch.h"

namespace penstock {

// Memory of a pipeline that keeps a token, which goes after it.
struct FreeWithToken {
  std::shared_ptr<void> memory, token;
  void operator()(void*) noexcept {
    memory.reset();
    token.reset();
  }
};

// Gives each sample an owner of its own, so that it can be seen when it is alone: samples of one block part, in
// branches and loops, without a copy. The block goes with the last of them.
void part_samples(Batch& b);

// For each sample: whether `b` alone holds its memory, which is the pipeline's own (not a program's, not a mapped
// file), dense, and no part of another sample's.
std::vector<char> held_alone(const Batch& b);

// Memory for the samples of `out`: that of `from` where `take` says so, else of `memory`.
void allocate_others(Batch& out, const Batch& from, std::span<const char> take,
                     const std::shared_ptr<MemoryResource>& memory, StreamHandle stream);

// Bytes of the samples that `take` leaves out.
size_t bytes_of_others(const Batch& b, std::span<const char> take);

}  // namespace penstock
