// SPDX-License-Identifier: Apache-2.0
// Batches that move between the host and GPUs, and the order of streams that read and free the same memory. Nothing
// here waits on the host but what says so.
#pragma once
#include "base/gpu.h"
#include "batch/batch.h"

namespace penstock {

// CUDA's own handles of its two streams without one. Penstock writes the legacy default stream this way, so that null
// is left for "no stream".
inline const StreamHandle kLegacyStream = reinterpret_cast<StreamHandle>(uintptr_t{1});
inline const StreamHandle kPerThreadStream = reinterpret_cast<StreamHandle>(uintptr_t{2});
// Of a number as frameworks give it: 0 and 1 are the legacy default stream.
inline StreamHandle stream_of_number(uintptr_t number) {
  return number <= 1 ? kLegacyStream : reinterpret_cast<StreamHandle>(number);
}
inline uintptr_t number_of_stream(StreamHandle stream) { return stream ? reinterpret_cast<uintptr_t>(stream) : 1; }

// "cpu", "gpu:0".
std::string name_of(Device device);
// The runtime of a GPU that exists; throws ErrorKind::argument with the reason where it cannot be used.
DeviceRuntime& runtime_of(int gpu);
// A stream of the calling thread's own on that GPU, for work that nobody gave a stream for.
StreamHandle thread_stream(int gpu);

// A copy of the samples on another device, enqueued on `stream` of the GPU that takes part (of the target's, where two
// do); null: thread_stream(). Waits for what `from` waits for, and the memory of `from` stays until the copy has been
// made. The result's `ready` is set. A batch that is there already is returned as it is. To the host: the result lies
// in pinned memory, and its readers call wait_on_host first. One copy where the samples lie in one block as
// Batch::allocate lays them out, or where they come from the host: then they go through pinned memory unless they lie
// in it. From a GPU, throws ErrorKind::type for samples that are not row-major.
Batch copy_to(const Batch& from, Device to, StreamHandle stream = nullptr);
Tensor copy_to(const Tensor& from, Device to, StreamHandle stream = nullptr);
// On the host, where everything is written; the host waits for it.
Batch on_host(const Batch& batch);
Tensor on_host(const Tensor& tensor);

// Samples that a ragged batch has at most to be copied from a GPU one by one: else what lies between them, up to 63
// bytes that nobody wrote, is copied along.
constexpr int kCopiedOneByOne = 8;

// Zeros between sample i of a batch that Batch::allocate has laid out in host memory and the next: they are uploaded
// along.
void clear_behind(const Batch& b, int i);

// The samples of a batch on a GPU, one after the other in new memory of the only sample of `to`, whose shape is set.
void gather_on_gpu(const Batch& from, Batch& to);

// The host waits until everything is written.
void wait_on_host(const Batch& batch);
void wait_on_host(const Tensor& tensor);
// Work that is enqueued on `stream` from now on may read the memory.
void order_before(const Batch& batch, StreamHandle stream);
void order_before(const Tensor& tensor, StreamHandle stream);
// The batch as one of that stream: work there sees it written, and its memory is not freed before what is there by
// then.
Batch taken_over(Batch batch, StreamHandle stream);
// What `stream` has been given up to `done` reads the memory, which is not freed before.
void used_on(const Batch& batch, StreamHandle stream, const DeviceEvent& done);
// `owner`, of memory that is freed in the order of `freed_on`: when the last copy of the result goes, what is on
// `used_on` by then still happens before.
std::shared_ptr<void> owner_used_on(std::shared_ptr<void> owner, int gpu, StreamHandle freed_on, StreamHandle used_on);
// `owner`, of memory that is freed at once when it is given back: is held until what is on `stream` by then is done.
std::shared_ptr<void> owner_until_done(std::shared_ptr<void> owner, int gpu, StreamHandle stream);

}  // namespace penstock
