// SPDX-License-Identifier: Apache-2.0
// Moves batches between the host and GPUs, and orders streams that read and free the same memory. Nothing here blocks
// the host unless its comment says so.
#pragma once
#include "base/device_runtime.h"
#include "batch/batch.h"

namespace penstock {

// CUDA's own handles of its two default streams. Penstock writes the legacy default stream this way, so that null
// can mean "no stream".
inline const StreamHandle kLegacyStream = reinterpret_cast<StreamHandle>(uintptr_t{1});
inline const StreamHandle kPerThreadStream = reinterpret_cast<StreamHandle>(uintptr_t{2});
// From a number as frameworks give it: 0 and 1 are the legacy default stream.
inline StreamHandle stream_of_number(uintptr_t number) {
  return number <= 1 ? kLegacyStream : reinterpret_cast<StreamHandle>(number);
}
inline uintptr_t number_of_stream(StreamHandle stream) { return stream ? reinterpret_cast<uintptr_t>(stream) : 1; }

// "cpu", "gpu:0".
std::string name_of(Device device);
// The runtime of an existing GPU; throws ErrorKind::argument with the reason if it cannot be used.
DeviceRuntime& runtime_of(int gpu);
// The calling thread's own stream on that GPU, for work without a given stream.
StreamHandle thread_stream(int gpu);

// A copy of the samples on another device, enqueued on `stream` of the GPU that takes part (the target's, if two do);
// null: thread_stream(). Waits for what `from` waits for, and keeps the memory of `from` until the copy is
// done. Sets `ready` of the result. Returns a batch that is already there as it is. A copy to the host lies in
// pinned memory, and its readers call wait_on_host first. One copy operation if the samples lie in one block as
// Batch::allocate lays them out, or if they come from the host: then they go through pinned memory unless they are
// already in it.
Batch copy_to(const Batch& from, Device to, StreamHandle stream = nullptr);
Tensor copy_to(const Tensor& from, Device to, StreamHandle stream = nullptr);
// The batch in host memory, completely written; the host waits for it.
Batch on_host(const Batch& batch);
Tensor on_host(const Tensor& tensor);

// A ragged batch of at most so many samples is copied from a GPU sample by sample. A larger one is copied with the gaps
// between the samples, up to 63 unwritten bytes each.
constexpr int kCopiedOneByOne = 8;

// Writes zeros between sample i of a batch that Batch::allocate has laid out in host memory and the next sample,
// because the gaps are uploaded too.
void clear_gap_after(const Batch& b, int i);

// Copies the samples of a batch on a GPU, in order, to new memory of the only sample of `to`, whose shape is set.
void gather_on_gpu(const Batch& from, Batch& to);

// Blocks the host until everything is written.
void wait_on_host(const Batch& batch);
void wait_on_host(const Tensor& tensor);
// Work that is enqueued on `stream` after this call may read the memory.
void order_before(const Batch& batch, StreamHandle stream);
void order_before(const Tensor& tensor, StreamHandle stream);
// Assigns the batch to that stream: work there sees it written, and its memory is freed after the work that is there
// at that time.
Batch taken_over(Batch batch, StreamHandle stream);
// The work on `stream` up to `done` reads the memory: it is not freed before.
void used_on(const Batch& batch, StreamHandle stream, const DeviceEvent& done);
// Wraps `owner`, of memory that is freed in the order of `freed_on`. When the last copy of the result goes, the work
// that is then on `used_on` still happens before the memory is freed.
std::shared_ptr<void> owner_used_on(std::shared_ptr<void> owner, int gpu, StreamHandle freed_on, StreamHandle used_on);
// Wraps `owner`, of memory that is freed immediately: holds it until the work that is then on `stream` is done.
std::shared_ptr<void> owner_until_done(std::shared_ptr<void> owner, int gpu, StreamHandle stream);

}  // namespace penstock
