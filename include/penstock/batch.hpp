// SPDX-License-Identifier: Apache-2.0
// Batches, devices and errors, for C++17 and later. penstock/penstock.hpp includes it.
#pragma once
#include <cstring>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

#include "penstock/penstock.h"

struct __half;         // CUDA's, for dtype_of
struct __nv_bfloat16;  // the same

namespace penstock {
inline namespace api {  // separates these names from the library's own at link time

// ---- Errors ----

// What calls throw: the message names the operator, the argument or the file.
class Error : public std::runtime_error {
 public:
  Error(penstock_status status, const std::string& message) : std::runtime_error(message), status_(status) {}
  penstock_status status() const { return status_; }

 private:
  penstock_status status_;
};

inline void check(penstock_status status) {
  if (status != PENSTOCK_OK) throw Error(status, penstock_last_error());
}

namespace detail {
// What calls of C take and give, in a row. Programs parse this header often: std::vector costs a compiler much more.
template <class T> class Row {
 public:
  explicit Row(size_t count) : data_(count ? new T[count]() : nullptr), count_(count) {}
  ~Row() { delete[] data_; }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  T* data() const { return data_; }
  size_t size() const { return count_; }
  T& operator[](size_t i) const { return data_[i]; }
  T* begin() const { return data_; }
  T* end() const { return data_ + count_; }

 private:
  T* data_;
  size_t count_;
};
// The one std::shared_ptr that is made with a function that destroys, for the same reason.
inline std::shared_ptr<void> owned(void* handle, void (*destroy)(void*)) { return {handle, destroy}; }
// The copy of a text that a call returned; frees the text.
inline std::string taken(char* text) {
  struct Freed {
    char* text;
    ~Freed() { penstock_free_text(text); }
  } const freed{text};
  return text;
}
}  // namespace detail

// ---- Types ----

// The types of elements.
enum class DType : int {
  none = -1,
  uint8,
  uint16,
  uint32,
  uint64,
  int8,
  int16,
  int32,
  int64,
  float16,
  float32,
  float64,
  bool_,
  bfloat16 = PENSTOCK_BFLOAT16
};

// The element type of T. Specialize it for a type of your own that has the bits of one of these.
template <class T> constexpr DType dtype_of = DType::none;
template <> inline constexpr DType dtype_of<uint8_t> = DType::uint8;
template <> inline constexpr DType dtype_of<uint16_t> = DType::uint16;
template <> inline constexpr DType dtype_of<uint32_t> = DType::uint32;
template <> inline constexpr DType dtype_of<uint64_t> = DType::uint64;
template <> inline constexpr DType dtype_of<int8_t> = DType::int8;
template <> inline constexpr DType dtype_of<int16_t> = DType::int16;
template <> inline constexpr DType dtype_of<int32_t> = DType::int32;
template <> inline constexpr DType dtype_of<int64_t> = DType::int64;
template <> inline constexpr DType dtype_of<float> = DType::float32;
template <> inline constexpr DType dtype_of<double> = DType::float64;
template <> inline constexpr DType dtype_of<bool> = DType::bool_;
#if defined(__FLT16_MANT_DIG__) && (defined(__clang__) || __GNUC__ >= 13)
template <> inline constexpr DType dtype_of<_Float16> = DType::float16;
#endif
template <> inline constexpr DType dtype_of<::__half> = DType::float16;
#if defined(__BFLT16_MANT_DIG__) && (defined(__clang__) || __GNUC__ >= 13)
template <> inline constexpr DType dtype_of<__bf16> = DType::bfloat16;
#endif
template <> inline constexpr DType dtype_of<::__nv_bfloat16> = DType::bfloat16;

// An element of DType::bfloat16: the upper half of a float32.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  // Rounds to nearest even; NaN becomes quiet and keeps its sign.
  explicit BFloat16(float value) {
    uint32_t x;
    std::memcpy(&x, &value, sizeof x);
    const bool nan = (x & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<uint16_t>((nan ? (x & 0x80000000u) | 0x7fc00000u : x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
  }
  operator float() const {
    const uint32_t x = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &x, sizeof value);
    return value;
  }
};
template <> inline constexpr DType dtype_of<BFloat16> = DType::bfloat16;

using Shape = std::vector<int64_t>;

// Bytes of an element.
constexpr int size_of(DType type) {
  switch (type) {
    case DType::none: return 0;
    case DType::uint8:
    case DType::int8:
    case DType::bool_: return 1;
    case DType::uint16:
    case DType::int16:
    case DType::float16:
    case DType::bfloat16: return 2;
    case DType::uint64:
    case DType::int64:
    case DType::float64: return 8;
    default: return 4;
  }
}

// ---- Memory and threads ----

// Where results are allocated; an empty Allocator means the default.
class Allocator {
 public:
  Allocator() = default;
  // A std::pmr::memory_resource, or another class with its allocate and deallocate, which several threads may call at
  // once.
  template <class Memory> explicit Allocator(std::shared_ptr<Memory> resource) {
    using Resource = std::shared_ptr<Memory>;
    if (!resource) throw Error(PENSTOCK_ERROR_ARGUMENT, "the allocator is a null pointer");
    auto user = std::make_unique<Resource>(std::move(resource));
    penstock_allocator_functions f{};
    f.struct_size = sizeof f;
    f.user = user.get();
    f.allocate = [](void* u, size_t bytes, size_t alignment) -> void* {
      try {
        return (*static_cast<Resource*>(u))->allocate(bytes, alignment);
      } catch (...) {
        return nullptr;
      }
    };
    f.deallocate = [](void* u, void* p, size_t bytes, size_t alignment) {
      (*static_cast<Resource*>(u))->deallocate(p, bytes, alignment);
    };
    f.release = [](void* u) { delete static_cast<Resource*>(u); };
    penstock_allocator* handle = nullptr;
    check(penstock_allocator_create(&f, &handle));
    user.release();
    handle_ = detail::owned(handle, [](void* h) { penstock_allocator_destroy(static_cast<penstock_allocator*>(h)); });
  }
  penstock_allocator* handle() const { return static_cast<penstock_allocator*>(handle_.get()); }

 private:
  std::shared_ptr<void> handle_;
};

inline void set_default_allocator(const Allocator& a) { check(penstock_set_default_allocator(a.handle())); }
// Threads of immediate calls, including the caller's; 0: the cores that the process may use.
inline void set_threads(int threads) { check(penstock_set_threads(threads)); }

// What a pool of the program runs for each index; see set_thread_pool.
struct PoolTask {
  void (*body)(void* context, int64_t index, int thread);
  void* context;
  void operator()(int64_t index, int thread) const { body(context, index, thread); }
};
namespace detail {
inline std::shared_ptr<void>& program_pool() {
  static std::shared_ptr<void> pool;
  return pool;
}
}  // namespace detail
// From now on, immediate calls run on the program's pool, of any class with these two members.
//   int threads()                                    the largest value of `thread` plus one
//   void parallel_for(int64_t count, PoolTask task)  runs task(index, thread) for each index, returns after all
// Tasks that run at the same time have different values of `thread`. Call it from one thread, while no call runs.
template <class Pool> void set_thread_pool(std::shared_ptr<Pool> pool) {
  if (!pool) throw Error(PENSTOCK_ERROR_ARGUMENT, "the thread pool is a null pointer");
  penstock_thread_pool p{};
  p.struct_size = sizeof p;
  p.user = pool.get();
  p.threads = pool->threads();
  p.parallel_for = [](void* u, int64_t count, void (*body)(void*, int64_t, int), void* context) {
    static_cast<Pool*>(u)->parallel_for(count, PoolTask{body, context});
  };
  check(penstock_set_thread_pool(&p));
  detail::program_pool() = std::move(pool);
}
inline void reset_thread_pool() {
  check(penstock_set_thread_pool(nullptr));
  detail::program_pool().reset();
}

// ---- GPUs ----

// Where something lies or runs. A stream is a cudaStream_t; nullptr is the legacy default stream.
struct Device {
  penstock_device_kind kind = PENSTOCK_CPU;
  int id = 0;
  void* stream = nullptr;
  static Device cpu() { return {}; }
  static Device gpu(int id = 0, void* stream = nullptr) { return {PENSTOCK_GPU, id, stream}; }
};

inline int gpu_count() { return penstock_gpu_count(); }
// Why no GPU can be used; empty if one can.
inline std::string gpu_why_not() { return penstock_gpu_why_not(); }

// From now on, all memory on that GPU comes from these two:
//   void* allocate(size_t bytes, void* stream)           nullptr if there is no memory
//   void deallocate(void* data, size_t bytes, void* stream)
// Both work in the order of the stream, see penstock_device_allocator_functions. Several threads may call them at once.
template <class Allocate, class Deallocate>
void set_device_allocator(int device, Allocate allocate, Deallocate deallocate) {
  using Both = std::pair<Allocate, Deallocate>;
  auto user = std::make_unique<Both>(std::move(allocate), std::move(deallocate));
  penstock_device_allocator_functions f{};
  f.struct_size = sizeof f;
  f.user = user.get();
  f.allocate = [](void* u, size_t bytes, void* stream) -> void* {
    try {
      return static_cast<Both*>(u)->first(bytes, stream);
    } catch (...) {
      return nullptr;
    }
  };
  f.deallocate = [](void* u, void* p, size_t bytes, void* stream) { static_cast<Both*>(u)->second(p, bytes, stream); };
  f.release = [](void* u) { delete static_cast<Both*>(u); };
  check(penstock_set_device_allocator(device, &f));
  user.release();
}
inline void reset_device_allocator(int device) { check(penstock_set_device_allocator(device, nullptr)); }

// ---- Batches ----

// One sample: a view that keeps the batch's memory alive.
struct Tensor {
  void* data = nullptr;
  DType dtype = DType::none;
  Shape shape;
  Shape strides;  // in elements
  size_t bytes = 0;
  std::string layout;
  std::string source;  // the file or record that it came from, if known
  std::shared_ptr<penstock_batch> owner;
  bool read_only = false;  // the batch was made over const memory

  int64_t size() const {
    int64_t n = 1;
    for (int64_t e : shape) n *= e;
    return n;
  }
  // The elements; valid as long as this tensor or its batch lives.
  template <class T> T* as() const {
    if (dtype_of<std::remove_const_t<T>> != dtype)
      throw Error(PENSTOCK_ERROR_TYPE, "the sample holds elements of another type");
    if (read_only && !std::is_const_v<T>)
      throw Error(PENSTOCK_ERROR_TYPE, "the sample is const memory: ask for as<const T>()");
    return static_cast<T*>(data);
  }
  // Row-major without holes.
  bool is_dense() const {
    int64_t step = 1;
    for (size_t d = shape.size(); d-- > 0; step *= shape[d])
      if (shape[d] > 1 && strides[d] != step && size() > 0) return false;
    return true;
  }
#if __cplusplus >= 202002L
  // The elements in row-major order, as as<T>() gives them.
  template <class T> std::span<T> span() const {
    T* first = as<T>();
    if (!is_dense()) throw Error(PENSTOCK_ERROR_TYPE, "the elements of the sample are not contiguous");
    return {first, static_cast<size_t>(size())};
  }
#endif
};

// A sample of a temporary batch. Converted to a Tensor it keeps the memory alive; a pointer would not.
struct LastTensor : Tensor {
  explicit LastTensor(Tensor tensor) : Tensor(std::move(tensor)) {}
  template <class T> T* as() const& { return Tensor::as<T>(); }
  template <class T> T* as() && = delete;  // store the batch or the sample in a variable first
#if __cplusplus >= 202002L
  template <class T> std::span<T> span() const& { return Tensor::span<T>(); }
  template <class T> std::span<T> span() && = delete;  // as above
#endif
};

// What became of one sample of a call. `message` of a sample that is ok says what its file lacks (partial of decoders).
struct SampleStatus {
  penstock_status status = PENSTOCK_OK;
  std::string message;
  bool ok() const { return status == PENSTOCK_OK; }
};

namespace detail {
// From a sample to the next, in an array of shape (N, ...). Refuses what no memory holds before anything is allocated
// for its samples. A negative extent is left to the library, which names it.
inline int64_t bytes_between_samples(const Shape& shape, const Shape& strides, int element) {
  if (shape.empty() || shape[0] < 1)
    throw Error(PENSTOCK_ERROR_ARGUMENT, "the first extent must be the number of samples");
  if (!strides.empty() && strides.size() != shape.size())
    throw Error(PENSTOCK_ERROR_ARGUMENT, "there must be a stride for each extent, the number of samples included");
  if (shape[0] > 0x7fffffff) throw Error(PENSTOCK_ERROR_ARGUMENT, "a batch has at most 2147483647 samples");
  bool empty = false;
  double step = strides.empty() ? 1 : static_cast<double>(strides[0]);
  for (size_t d = 1; strides.empty() && d < shape.size(); ++d) {
    empty = empty || shape[d] <= 0;
    step *= static_cast<double>(shape[d]);
  }
  if (empty) return 0;
  const double all = step * element * static_cast<double>(shape[0]);
  if (all > 4e18 || all < -4e18) throw Error(PENSTOCK_ERROR_ARGUMENT, "the array is larger than the address space");
  int64_t bytes = strides.empty() ? element : strides[0] * element;
  for (size_t d = 1; strides.empty() && d < shape.size(); ++d) bytes *= shape[d];
  return bytes;
}
}  // namespace detail

struct PackedSamples;

// Samples of one type in memory of the host or of a GPU, that may differ in their shapes.
class Batch {
 public:
  Batch() = default;
  explicit Batch(penstock_batch* owned)
      : handle_(detail::owned(owned, [](void* h) { penstock_batch_destroy(static_cast<penstock_batch*>(h)); }), owned) {
  }

  // Row-major samples in the caller's memory, without a copy. `owner` is kept until nothing refers to the memory;
  // without one, the memory must outlive the batch and everything that refers to it. Operators only read their inputs.
  // On a GPU, device.stream is the stream that wrote the memory; `owner` is released when that stream may free it.
  template <class T>
  static Batch wrap(const std::vector<T*>& data, const std::vector<Shape>& shapes, const std::string& layout = {},
                    std::shared_ptr<void> owner = nullptr, const Device& device = {}) {
    return wrap(data, element_type<T>(), shapes, {}, layout, std::move(owner), device);
  }
  // The same with an element type that is known at run time, as that of a network's input or of a cv::Mat, and with
  // strides, in elements, for each sample; none: row-major. T may be void.
  template <class T>
  static Batch wrap(const std::vector<T*>& data, DType dtype, const std::vector<Shape>& shapes,
                    const std::vector<Shape>& strides = {}, const std::string& layout = {},
                    std::shared_ptr<void> owner = nullptr, const Device& device = {}) {
    if (data.size() != shapes.size())
      throw Error(PENSTOCK_ERROR_ARGUMENT, "the number of pointers must equal the number of shapes");
    const detail::Row<void*> pointers(data.size());
    for (size_t i = 0; i < data.size(); ++i) pointers[i] = const_cast<std::remove_const_t<T>*>(data[i]);
    Batch made = create(dtype, shapes, layout, pointers.data(), nullptr, std::move(owner), device, strides);
    made.read_only_ = std::is_const_v<T>;
    return made;
  }
  template <class T>
  static Batch wrap(std::initializer_list<T*> data, DType dtype, const std::vector<Shape>& shapes,
                    const std::vector<Shape>& strides = {}, const std::string& layout = {},
                    std::shared_ptr<void> owner = nullptr, const Device& device = {}) {
    return wrap(std::vector<T*>(data), dtype, shapes, strides, layout, std::move(owner), device);
  }
  // One row-major array of shape (N, ...) as N samples.
  template <class T>
  static Batch wrap(T* data, const Shape& shape, const std::string& layout = {}, std::shared_ptr<void> owner = nullptr,
                    const Device& device = {}) {
    return wrap(data, element_type<T>(), shape, {}, layout, std::move(owner), device);
  }
  // The same with an element type that is known at run time, and with strides, in elements, of all dimensions, the
  // first one too. T may be void.
  template <class T>
  static Batch wrap(T* data, DType dtype, const Shape& shape, const Shape& strides = {}, const std::string& layout = {},
                    std::shared_ptr<void> owner = nullptr, const Device& device = {}) {
    const int64_t step = detail::bytes_between_samples(shape, strides, size_of(dtype));
    using Bytes = std::conditional_t<std::is_const_v<T>, const char, char>;
    std::vector<T*> pointers;
    for (int64_t i = 0; i < shape[0]; ++i)
      pointers.push_back(reinterpret_cast<T*>(reinterpret_cast<Bytes*>(data) + i * step));
    const auto n = static_cast<size_t>(shape[0]);
    const std::vector<Shape> shapes(n, Shape(shape.begin() + 1, shape.end()));
    const std::vector<Shape> steps(strides.empty() ? 0 : n,
                                   strides.empty() ? strides : Shape(strides.begin() + 1, strides.end()));
    return wrap(pointers, dtype, shapes, steps, layout, std::move(owner), device);
  }
  // New memory.
  static Batch allocate(DType dtype, const std::vector<Shape>& shapes, const std::string& layout = {},
                        const Allocator& allocator = {}) {
    return create(dtype, shapes, layout, nullptr, allocator.handle(), nullptr, {});
  }
  static Batch allocate(const Device& device, DType dtype, const std::vector<Shape>& shapes,
                        const std::string& layout = {}) {
    return create(dtype, shapes, layout, nullptr, nullptr, nullptr, device);
  }

  // Tensors of other libraries, one per sample, without a copy; the batch takes ownership. On a GPU, `stream` wrote
  // them.
  static Batch from_dlpack(const std::vector<DLManagedTensorVersioned*>& tensors, const std::string& layout = {},
                           void* stream = nullptr) {
    penstock_batch* handle = nullptr;
    check(penstock_batch_from_dlpack_on(tensors.data(), tensors.size(), layout.c_str(), stream, &handle));
    return Batch(handle);
  }
  // One sample; the consumer must delete it. On a GPU the consumer works on `stream`.
  DLManagedTensorVersioned* to_dlpack(int i, void* stream = nullptr) const {
    DLManagedTensorVersioned* tensor = nullptr;
    check(penstock_batch_to_dlpack_on(handle(), i, stream, &tensor));
    return tensor;
  }

  // A copy on that device, enqueued on device.stream; for a copy to the host, on `stream`, and the call waits for it. A
  // batch that is already there is not copied.
  Batch to(const Device& device) const {
    penstock_batch* copy = nullptr;
    check(penstock_batch_copy_to(handle(), device.kind, device.id, device.stream, &copy));
    return Batch(copy);
  }
  Batch cpu(void* stream = nullptr) const { return to({PENSTOCK_CPU, 0, stream}); }
  Batch gpu(int id = 0, void* stream = nullptr) const { return to(Device::gpu(id, stream)); }
  // Work that is enqueued on the stream from now on may read the memory.
  void order_before(void* stream) const { check(penstock_batch_order_before(handle(), stream)); }
  // The memory is not freed before the work that is on the stream now.
  void used_on(void* stream) const { check(penstock_batch_used_on(handle(), stream)); }
  void wait() const { check(penstock_batch_wait(handle())); }  // blocks the host until everything is written
  // The samples in one row. They may differ in their first extent alone.
  PackedSamples packed() const;
  Device device() const { return {info().device_kind, info().device_id, nullptr}; }
  bool on_gpu() const { return info().device_kind == PENSTOCK_GPU; }

  explicit operator bool() const { return handle_ != nullptr; }
  int size() const { return info().num_samples; }
  int ndim() const { return info().ndim; }
  DType dtype() const { return static_cast<DType>(info().dtype); }
  std::string layout() const { return info().layout; }
  bool is_dense() const { return info().is_dense != 0; }  // one (N, ...) array that starts at the first sample
  Tensor operator[](int i) const& {
    penstock_sample s{};
    s.struct_size = sizeof s;
    check(penstock_batch_get_sample(handle(), i, &s));
    return {s.data,
            dtype(),
            Shape(s.shape, s.shape + s.ndim),
            Shape(s.strides, s.strides + s.ndim),
            s.bytes,
            layout(),
            s.source,
            handle_,
            read_only_};
  }
  LastTensor operator[](int i) && { return LastTensor(static_cast<const Batch&>(*this)[i]); }
  // Sample i of a batch over the caller's memory, made without an owner, lies here from now on.
  template <class T> void set_sample(int i, T* data, const Shape& shape, const Shape& strides = {}) {
    if (static_cast<int>(shape.size()) != ndim() || (!strides.empty() && strides.size() != shape.size()))
      throw Error(PENSTOCK_ERROR_TYPE, "the sample must have the rank of the batch");
    if constexpr (!std::is_void_v<T>)
      if (dtype_of<std::remove_const_t<T>> != dtype())
        throw Error(PENSTOCK_ERROR_TYPE, "the sample must have the element type of the batch");
    if (std::is_const_v<T> && !read_only_)
      throw Error(PENSTOCK_ERROR_TYPE, "const memory needs a batch that was made over const memory");
    check(penstock_batch_set_sample(handle(), i, const_cast<std::remove_const_t<T>*>(data), shape.data(),
                                    strides.empty() ? nullptr : strides.data()));
  }
  // True for a batch over const memory: no call writes to it.
  bool read_only() const { return read_only_; }

  // for (const Tensor& sample : batch)
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Tensor;
    using difference_type = std::ptrdiff_t;
    using pointer = const Tensor*;
    using reference = Tensor;
    Iterator() = default;
    Iterator(const Batch& batch, int at) : batch_(&batch), at_(at) {}
    Tensor operator*() const { return (*batch_)[at_]; }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return {*batch_, at_++}; }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const Batch* batch_ = nullptr;
    int at_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }
  penstock_batch* handle() const { return handle_.get(); }

  // Of sample i of a result, if the call was asked for statuses (CallOptions); else OK.
  SampleStatus status(int i) const {
    if (i < 0 || i >= size()) throw Error(PENSTOCK_ERROR_ARGUMENT, "there is no sample " + std::to_string(i));
    return statuses_ ? (*statuses_)[static_cast<size_t>(i)] : SampleStatus{};
  }
  void set_statuses(std::shared_ptr<const std::vector<SampleStatus>> statuses) { statuses_ = std::move(statuses); }

 private:
  template <class T> static constexpr DType element_type() {
    constexpr DType type = dtype_of<std::remove_const_t<T>>;
    static_assert(type != DType::none, "no element type of Penstock: specialize penstock::dtype_of, or give a DType");
    return type;
  }
  penstock_batch_info info() const {
    penstock_batch_info i{};
    i.struct_size = sizeof i;
    check(penstock_batch_get_info(handle(), &i));
    return i;
  }
  static Batch create(DType dtype, const std::vector<Shape>& shapes, const std::string& layout, void* const* data,
                      const penstock_allocator* allocator, std::shared_ptr<void> owner, const Device& device,
                      const std::vector<Shape>& strides = {}) {
    if (!strides.empty() && strides.size() != shapes.size())
      throw Error(PENSTOCK_ERROR_ARGUMENT, "the number of strides must equal the number of shapes");
    for (size_t i = 0; i < strides.size(); ++i)
      if (strides[i].size() != shapes[i].size())
        throw Error(PENSTOCK_ERROR_ARGUMENT, "a sample must have a stride for each of its extents");
    const size_t rank = shapes.empty() ? 0 : shapes[0].size();
    for (const Shape& s : shapes)
      if (s.size() != rank) throw Error(PENSTOCK_ERROR_TYPE, "all samples must have the same rank");
    const detail::Row<int64_t> extents(rank * shapes.size()), steps(rank * strides.size());
    for (size_t i = 0; i < extents.size(); ++i) extents[i] = shapes[i / rank][i % rank];
    for (size_t i = 0; i < steps.size(); ++i) steps[i] = strides[i / rank][i % rank];
    penstock_batch_description d{};
    d.struct_size = sizeof d;
    d.dtype = static_cast<penstock_dtype>(dtype);
    d.ndim = static_cast<int>(rank);
    d.layout = layout.c_str();
    d.num_samples = static_cast<int>(shapes.size());
    d.shapes = extents.data();
    d.data = data;
    d.strides = steps.data();
    d.allocator = allocator;
    d.device_kind = device.kind, d.device_id = device.id, d.stream = device.stream;
    struct Kept {
      std::shared_ptr<void>* owner;
      ~Kept() { delete owner; }
    } kept{owner ? new std::shared_ptr<void>(std::move(owner)) : nullptr};
    if (kept.owner) d.release = [](void* u) { delete static_cast<std::shared_ptr<void>*>(u); };
    d.release_user = kept.owner;
    penstock_batch* handle = nullptr;
    check(penstock_batch_create(&d, &handle));
    kept.owner = nullptr;
    return Batch(handle);
  }
  std::shared_ptr<penstock_batch> handle_;
  std::shared_ptr<const std::vector<SampleStatus>> statuses_;
  bool read_only_ = false;
};

// Samples in one row, as attention of variable length takes them: each a batch of one sample, on the device of the
// batch.
struct PackedSamples {
  Batch values;         // the samples one after another along their first dimension
  Batch offsets;        // int32, one more than samples: where each begins in the row, and where the last one ends
  Batch positions;      // int32, as long as the row: the place in its sample of each entry
  int64_t longest = 0;  // entries of the longest sample
};

inline PackedSamples Batch::packed() const {
  penstock_batch *values = nullptr, *offsets = nullptr, *positions = nullptr;
  PackedSamples p;
  check(penstock_batch_pack(handle(), &values, &offsets, &positions, &p.longest));
  p.values = Batch(values), p.offsets = Batch(offsets), p.positions = Batch(positions);
  return p;
}

}  // namespace api
}  // namespace penstock
