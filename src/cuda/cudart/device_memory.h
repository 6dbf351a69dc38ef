// SPDX-License-Identifier: Apache-2.0
// Memory of a GPU and host memory that it reads and writes, both in the order of streams.
#pragma once
#include <memory>

#include "cuda/cudart/context.h"

namespace penstock {

// Of the GPU's own pool of stream-ordered memory, which keeps what it has: a steady loop asks the system for nothing.
// Where the GPU has no such pools: blocks by size class, kept.
std::shared_ptr<MemoryResource> make_device_memory(std::shared_ptr<Gpus> gpus, int device);
std::shared_ptr<MemoryResource> make_cached_memory(std::shared_ptr<Gpus> gpus, int device);  // the second kind

// Page-locked host memory by size class. deallocate() with a stream gives the block back once the stream has passed.
std::shared_ptr<MemoryResource> make_pinned_memory(std::shared_ptr<Gpus> gpus);

// Powers of two and one and a half times these, from 4 KB: taking such memory from the system is slow, so a loop whose
// sizes vary a little must come to an end of it.
size_t coarse_class(size_t bytes);

}  // namespace penstock
