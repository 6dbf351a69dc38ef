// SPDX-License-Identifier: Apache-2.0
// What a GPU offers to the rest of the house: memory, queues of work, stages over whole batches, decoders. The library
// that implements it is loaded at run time; nothing here needs CUDA's headers.
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
  virtual void synchronize() const = 0;  // waits on the host; only for a user who asks for values
};

// Memory and queues of all GPUs of the process. Thread-safe; every call names its device. Errors are penstock::Error:
// out_of_memory, or argument for a device that does not exist.
class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  virtual int device_count() const = 0;
  virtual std::string device_name(int device) const = 0;
  virtual size_t memory_bytes(int /*device*/) const { return 0; }  // all that it has; 0: not known

  // A stream of nobody else's until it is given back. Streams live as long as the process: memory is freed on them.
  virtual StreamHandle take_stream(int device) = 0;
  virtual void give_back_stream(int device, StreamHandle stream) noexcept = 0;
  // Stream-ordered: allocate(bytes, s) may be used by work enqueued on s from now on; deallocate(p, bytes, s) happens
  // after what is on s by then. Other streams are ordered by events.
  virtual std::shared_ptr<MemoryResource> memory(int device) = 0;
  // A user's allocator in its place; null: the own pool again. What was taken goes back to where it came from.
  virtual void set_memory(int device, std::shared_ptr<MemoryResource> memory) = 0;
  // Host memory that copies to and from the device read and write directly. deallocate(p, bytes, s) with a stream: used
  // again once what is on s by then is done; without one at once.
  virtual std::shared_ptr<MemoryResource> pinned_memory() = 0;
  // Where memory that others made lies: the GPU's number, -1 for the host.
  virtual int device_of(const void*) const { return -1; }
  virtual bool is_pinned(const void*) const { return false; }  // of host memory

  // Between any two of device and host memory; the addresses say which. Pageable host memory makes it wait.
  virtual void copy(int device, void* to, const void* from, size_t bytes, StreamHandle stream) = 0;
  virtual void set_zero(int device, void* to, size_t bytes, StreamHandle stream) = 0;
  virtual std::shared_ptr<DeviceEvent> record(int device, StreamHandle stream) = 0;
  virtual void wait(int device, StreamHandle stream, const DeviceEvent& event) = 0;
  // Calls f on a thread of the runtime once what is on the stream by now is done. f is short and makes no call here.
  virtual void notify(int device, StreamHandle stream, std::function<void()> f) = 0;
  virtual void synchronize(int device, StreamHandle stream) = 0;
};

// A stage over all samples of a batch at once: the shapes are known, the work is enqueued, nothing waits.
struct BatchStageCall {
  int device = 0;
  StreamHandle stream = nullptr;
  int size = 0;                               // samples
  std::function<SampleContext(int)> context;  // of sample i; `draws` is replaced by each node's
  std::span<const Batch> inputs;              // on the device
  std::shared_ptr<MemoryResource> memory;     // of the outputs; allocated and, later, freed on `stream`
  std::span<const char> in_place;             // samples whose output takes the memory of their first input; or none
};
struct SampleError {
  int sample = 0;
  Error error;
};
// Thrown by BatchStageRunner::run where kernels cannot be made (no NVRTC): the caller runs the stage on the CPU.
class NoKernel : public Error {
 public:
  explicit NoKernel(const std::string& why) : Error(ErrorKind::argument, "kernels cannot be made here: " + why) {}
};
class BatchStageRunner {
 public:
  virtual ~BatchStageRunner() = default;
  virtual const StageProgram& program() const = 0;
  // The same stage with other arguments bound, sharing what was compiled: a pipeline makes one for each iteration,
  // several at once. Null where `program` has another structure (operators, types, layouts); the caller then makes a
  // new stage.
  virtual std::unique_ptr<BatchStageRunner> rebound(const StageProgram&) const { return nullptr; }
  // Enqueues the stage; several threads may at once. outputs[k]: first StageProgram::outputs, on the device; then
  // StageProgram::sizes, on the host; then StageProgram::more, on the device.
  // What is wrong with one sample goes to `errors`, and its output is left unwritten.
  virtual void run(const BatchStageCall& call, std::span<Batch> outputs, std::vector<SampleError>& errors) = 0;
};

// One image of many that are decoded together: a file in host memory, dense HWC pixels on the device.
struct DeviceDecode {
  std::span<const uint8_t> file;
  const ImageInfo* info = nullptr;
  void* pixels = nullptr;  // height * width * channels of the params' type, uint8; of `region` where one is given
  std::optional<Error> error;
  // What is wanted of the picture, in its coordinates after orientation; height 0: all of it. Only for decoders that
  // take regions.
  struct {
    int64_t y = 0, x = 0, height = 0, width = 0;
  } region = {};
  std::shared_ptr<const void> header = {};  // what declines() read of this file; null: it is read again
};
// Images whose decoding is enqueued, where damage shows only while they are decoded.
class DecodesInFlight {
 public:
  virtual ~DecodesInFlight() = default;
  // Once the stream has passed: sets `error` of the images that were found damaged (their pixels are unspecified); the
  // caller decodes those on the CPU. `images` as they were given to decode(), in its order.
  virtual void finish(std::span<DeviceDecode> images) = 0;
  // Memory on the device that the decoder has taken for itself until the stream has passed.
  virtual size_t device_bytes() const { return 0; }
};
// "auto": the first that this GPU has of those below.
enum class DecodeEngine : int8_t { automatic, cuda, hardware };
class BatchDecoder {
 public:
  virtual ~BatchDecoder() = default;
  virtual const char* name() const = 0;
  // Why it does not take this file (the caller decodes it on the CPU); empty: it does. Then `header`, where given, may
  // keep what it has read, for decode(). Thread-safe.
  virtual std::string declines(std::span<const uint8_t> file, const ImageInfo& info, const DecodeParams& params,
                               std::shared_ptr<const void>* header) const = 0;
  virtual int best_group() const = 0;      // images that keep it full
  virtual int lanes() const { return 2; }  // groups that may be under way at once, each on a stream of its own
  virtual bool takes_regions() const { return false; }
  // About as many bytes of the device as decode() will take for this image besides its pixels.
  virtual size_t device_bytes(const DeviceDecode&) const { return 0; }
  // Decodes on the stream: after what is on it, before what comes next. May wait on the host for its engine; one call
  // at a time. The files must live until `stream` has passed; files that lie close together in one piece of pinned
  // memory go up in one copy. What is returned (null: all errors are known already) outlives neither the decoder nor
  // `images`' files.
  virtual std::unique_ptr<DecodesInFlight> decode(std::span<DeviceDecode> images, const DecodeParams& params,
                                                  StreamHandle stream) = 0;
};

class GpuBackend {
 public:
  virtual ~GpuBackend() = default;
  virtual std::string why_not() const = 0;  // empty if there is a GPU that can be used, else the reason
  // What compiles kernels here ("NVRTC 13.0, /…/libnvrtc.so.13"), or why nothing does.
  virtual std::string kernel_compiler() const = 0;
  virtual DeviceRuntime& runtime() = 0;  // only where why_not() is empty, as is all below
  virtual std::unique_ptr<BatchStageRunner> make_stage(const StageProgram& program) = 0;
  // Whether the whole operator runs on the device, as a stage of that one node; else the caller moves its inputs to the
  // host and its outputs back.
  virtual bool runs_whole(const std::string& op) const = 0;
  // Null where the machine has no such engine; then `why` says so.
  virtual std::unique_ptr<BatchDecoder> make_decoder(int device, DecodeEngine engine, std::string& why) = 0;
};

// The library beside this one, or the one that PENSTOCK_GPU_LIBRARY names, loaded at the first call. Where it is absent
// or finds no GPU, why_not() says so. Never throws.
GpuBackend& gpu_backend();
// For the loaded library: exported as `extern "C" penstock::GpuBackend* penstock_gpu_backend()`.
constexpr const char* kGpuBackendEntry = "penstock_gpu_backend";

}  // namespace penstock
