// SPDX-License-Identifier: Apache-2.0
// What a GPU offers to the rest of the library: memory, work queues, stages over whole batches, decoders. A shared
// library, loaded at run time, implements it; nothing here needs CUDA's headers.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error_of.h"
#include "base/memory.h"

namespace penstock {

class Batch;
class Shape;
struct SampleContext;
struct StageProgram;
struct DecodeParams;
struct ImageInfo;
struct View;

// A point in a stream: everything that was enqueued before it.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  virtual bool done() const = 0;
  virtual void synchronize() const = 0;  // blocks the host; only for a user who asks for values
};

// Memory and queues of all GPUs of the process. Thread-safe; every call names its device. Errors are penstock::Error:
// out_of_memory, or argument for a device that does not exist.
class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  virtual int device_count() const = 0;
  virtual std::string device_name(int device) const = 0;
  virtual size_t memory_bytes(int /*device*/) const { return 0; }  // total memory; 0: not known

  // A stream for exclusive use until it is given back. Streams live as long as the process: memory is freed on them.
  virtual StreamHandle take_stream(int device) = 0;
  virtual void give_back_stream(int device, StreamHandle stream) noexcept = 0;
  // Stream-ordered: work that is enqueued on s from now on may use allocate(bytes, s); deallocate(p, bytes, s) takes
  // effect after the work that is on s at the time of the call. Events order other streams.
  virtual std::shared_ptr<MemoryResource> memory(int device) = 0;
  // Replaces it by a user's allocator; null: back to our own pool. Memory returns to the resource that it came from.
  virtual void set_memory(int device, std::shared_ptr<MemoryResource> memory) = 0;
  // Host memory that copies to and from the device access directly. After deallocate(p, bytes, s) with a stream, it is
  // reused when the work that is on s at the time of the call is done; without a stream, at once.
  virtual std::shared_ptr<MemoryResource> pinned_memory() = 0;
  // The device of memory that others allocated: the GPU's number, -1 for the host.
  virtual int device_of(const void*) const { return -1; }
  virtual bool is_pinned(const void*) const { return false; }  // of host memory

  // Copies between any two of device and host memory; the addresses say which. Pageable host memory makes it block.
  virtual void copy(int device, void* to, const void* from, size_t bytes, StreamHandle stream) = 0;
  virtual void set_zero(int device, void* to, size_t bytes, StreamHandle stream) = 0;
  virtual std::shared_ptr<DeviceEvent> record(int device, StreamHandle stream) = 0;
  virtual void wait(int device, StreamHandle stream, const DeviceEvent& event) = 0;
  // Calls f on a thread of the runtime when the work that is on the stream now is done. f is short and makes no call.
  virtual void notify(int device, StreamHandle stream, std::function<void()> f) = 0;
  virtual void synchronize(int device, StreamHandle stream) = 0;
};

// A stage over all samples of a batch at once. The shapes are known; the work is enqueued and nothing blocks.
struct BatchStageCall {
  int device = 0;
  StreamHandle stream = nullptr;
  int size = 0;                               // samples
  std::function<SampleContext(int)> context;  // of sample i; `draws` is replaced by each node's
  std::span<const Batch> inputs;              // on the device
  std::shared_ptr<MemoryResource> memory;     // for the outputs; allocated and, later, freed on `stream`
  std::span<const char> in_place;             // samples whose output reuses the memory of their first input; or empty
};
struct SampleError {
  int sample = 0;
  Error error;
};
// Thrown by BatchStageRunner::run where no kernel can be compiled (no NVRTC): the caller runs the stage on the CPU.
class NoKernel : public Error {
 public:
  explicit NoKernel(const std::string& why) : Error(ErrorKind::argument, "kernels cannot be compiled here: " + why) {}
};
class BatchStageRunner {
 public:
  virtual ~BatchStageRunner() = default;
  virtual const StageProgram& program() const = 0;
  // The same stage with other arguments bound. It shares what was compiled: a pipeline makes one for each iteration,
  // and several exist at once. Null where `program` has another structure (operators, types, layouts): the caller then
  // makes a new stage.
  virtual std::unique_ptr<BatchStageRunner> rebound(const StageProgram&) const { return nullptr; }
  // Enqueues the stage; several threads may call it at once. outputs[k]: first StageProgram::outputs, on the device;
  // then StageProgram::sizes, on the host; then StageProgram::more, on the device.
  // The error of a sample goes to `errors`, and its output is left unwritten.
  virtual void run(const BatchStageCall& call, std::span<Batch> outputs, std::vector<SampleError>& errors) = 0;
};

// One image of a group that is decoded together: a file in host memory, dense HWC pixels on the device.
struct DeviceDecode {
  std::span<const uint8_t> file;
  const ImageInfo* info = nullptr;
  void* pixels = nullptr;  // height * width * channels of the params' type, uint8; of `region` if one is set
  std::optional<Error> error;
  // The part of the picture to decode, in its coordinates after orientation; height 0: all of it. Only for decoders
  // that accept regions.
  struct {
    int64_t y = 0, x = 0, height = 0, width = 0;
  } region = {};
  std::shared_ptr<const void> header = {};  // what declines() read of this file; null: decode() reads it again
};
// Images whose decoding is enqueued. Damage shows only while they are decoded.
class DecodesInFlight {
 public:
  virtual ~DecodesInFlight() = default;
  // Call it when the stream has passed. Sets `error` of the damaged images (their pixels are unspecified); the caller
  // decodes those on the CPU. `images`: as given to decode(), in the same order.
  virtual void finish(std::span<DeviceDecode> images) = 0;
  // Device memory that the decoder holds for itself until the stream has passed.
  virtual size_t device_bytes() const { return 0; }
};
// "automatic": the first of the others that this GPU has.
enum class DecodeEngine : int8_t { automatic, cuda, hardware };
class BatchDecoder {
 public:
  virtual ~BatchDecoder() = default;
  virtual const char* name() const = 0;
  // Why the decoder does not accept this file (the caller decodes it on the CPU); empty: it does. `header`, if not
  // null, may then keep what was read, for decode(). Thread-safe.
  virtual std::string declines(std::span<const uint8_t> file, const ImageInfo& info, const DecodeParams& params,
                               std::shared_ptr<const void>* header) const = 0;
  virtual int best_group() const = 0;      // images that keep it busy
  virtual int lanes() const { return 2; }  // groups in flight at once, each on its own stream
  virtual bool takes_regions() const { return false; }
  // Estimate of the device bytes that decode() takes for this image in addition to its pixels.
  virtual size_t device_bytes(const DeviceDecode&) const { return 0; }
  // Decodes on the stream, in stream order. The host may wait for the engine; one call at a time. The files must live
  // until `stream` has passed. Files that lie close together in one block of pinned memory are uploaded in one copy.
  // Returns null if all errors are already known. The result must not outlive the decoder or
  // the files of `images`.
  virtual std::unique_ptr<DecodesInFlight> decode(std::span<DeviceDecode> images, const DecodeParams& params,
                                                  StreamHandle stream) = 0;
};

class GpuBackend {
 public:
  virtual ~GpuBackend() = default;
  virtual std::string why_not() const = 0;  // empty if a GPU can be used, else the reason
  // The library that compiles kernels ("NVRTC 13.0, /…/libnvrtc.so.13"), or why there is none.
  virtual std::string kernel_compiler() const = 0;
  virtual DeviceRuntime& runtime() = 0;  // call this, and all below, only if why_not() is empty
  virtual std::unique_ptr<BatchStageRunner> make_stage(const StageProgram& program) = 0;
  // Whether the device runs the whole operator, as a stage of that single node. If not, the caller copies its inputs to
  // the host and its outputs back.
  virtual bool runs_whole(const std::string& op) const = 0;
  // Null where the machine does not have this engine; `why` then says why.
  virtual std::unique_ptr<BatchDecoder> make_decoder(int device, DecodeEngine engine, std::string& why) = 0;
};

// The library beside this one, or the one that PENSTOCK_GPU_LIBRARY names; loaded at the first call. If it is missing
// or finds no GPU, why_not() says so. Never throws.
GpuBackend& gpu_backend();
// For the loaded library: exported as `extern "C" penstock::GpuBackend* penstock_gpu_backend()`.
constexpr const char* kGpuBackendEntry = "penstock_gpu_backend";

}  // namespace penstock
