// SPDX-License-Identifier: Apache-2.0
// Memory of a GPU and host memory that it can access, both stream-ordered.
#pragma once
#include <memory>

#include "cuda/cudart/context.h"

namespace penstock {

// From the GPU's own pool of stream-ordered memory, which keeps freed memory: a steady loop allocates nothing from the
// system. If the GPU has no such pools: cached blocks by size class.
std::shared_ptr<MemoryResource> make_device_memory(std::shared_ptr<Gpus> gpus, int device);
std::shared_ptr<MemoryResource> make_cached_memory(std::shared_ptr<Gpus> gpus, int device);  // the second kind

// Page-locked host memory by size class. deallocate() with a stream frees the block when the stream has passed.
std::shared_ptr<MemoryResource> make_pinned_memory(std::shared_ptr<Gpus> gpus);

// Powers of two and one and a half times these, from 4 KB. To allocate such memory from the system is slow, so a loop
// whose sizes vary a little must soon need no more of it.
size_t coarse_class(size_t bytes);

}  // namespace penstock
