// SPDX-License-Identifier: Apache-2.0
// Penstock for C++17 and later: a header over the C interface. penstock/fn.h has typed calls of every operator.
//
// Handles are reference-counted: copies are cheap and share what they refer to. Errors are exceptions of class Error.
#pragma once
#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <memory_resource>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

#include "penstock/penstock.h"

namespace penstock {
inline namespace api {  // separates these names from the library's own at link time

// ---- Errors ----

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

// ---- Types ----

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
  bool_
};

// Values of the arguments interp_type, min_filter and mag_filter.
struct Interpolation {
  enum : int64_t {
    nearest = 0,
    linear = 1,
    cubic = 2,
    lanczos3 = 3,
    triangular = 4,
    gaussian = 5,
    box = 6,
    hamming = 7,
    area = 8
  };
};
// Values of the arguments output_type and image_type.
struct ImageType {
  enum : int64_t { rgb = 0, bgr = 1, gray = 2, ycbcr = 3, any_data = 4 };
};
// The same of color_space_conversion.
struct ColorFormat {
  // clang-format off
  enum : int64_t { rgb, bgr, gray, ycbcr, rgba = 5, bgra, hsv, hsv_full, hls, hls_full, lab, luv, xyz, ycrcb, yuv,
                   nv12, nv21, i420, yv12, yuyv, uyvy, yvyu, nv16, nv24, bgr565, bgr555 };
  // clang-format on
};

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

using Shape = std::vector<int64_t>;

// ---- Memory and threads ----

// Where results are allocated; an empty Allocator means the default.
class Allocator {
 public:
  Allocator() = default;
  // Several threads may call the resource at once.
  explicit Allocator(std::shared_ptr<std::pmr::memory_resource> resource) {
    using Resource = std::shared_ptr<std::pmr::memory_resource>;
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
    handle_.reset(handle, penstock_allocator_destroy);
  }
  penstock_allocator* handle() const { return handle_.get(); }

 private:
  std::shared_ptr<penstock_allocator> handle_;
};

inline void set_default_allocator(const Allocator& a) { check(penstock_set_default_allocator(a.handle())); }
// Threads of immediate calls, including the caller's; 0: the cores that the process may use.
inline void set_threads(int threads) { check(penstock_set_threads(threads)); }

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

// Stream-ordered memory of a GPU; see penstock_device_allocator_functions.
struct DeviceAllocator {
  std::function<void*(size_t bytes, void* stream)> allocate;  // returns nullptr if there is no memory
  std::function<void(void* data, size_t bytes, void* stream)> deallocate;
};
// From now on, all memory on that GPU comes from these functions. Several threads may call them at once.
inline void set_device_allocator(int device, DeviceAllocator allocator) {
  auto user = std::make_unique<DeviceAllocator>(std::move(allocator));
  penstock_device_allocator_functions f{};
  f.struct_size = sizeof f;
  f.user = user.get();
  f.allocate = [](void* u, size_t bytes, void* stream) -> void* {
    try {
      return static_cast<DeviceAllocator*>(u)->allocate(bytes, stream);
    } catch (...) {
      return nullptr;
    }
  };
  f.deallocate = [](void* u, void* p, size_t bytes, void* stream) {
    static_cast<DeviceAllocator*>(u)->deallocate(p, bytes, stream);
  };
  f.release = [](void* u) { delete static_cast<DeviceAllocator*>(u); };
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

class Batch {
 public:
  Batch() = default;
  explicit Batch(penstock_batch* owned) : handle_(owned, penstock_batch_destroy) {}

  // Row-major samples in the caller's memory, without a copy. `owner` is kept until nothing refers to the memory;
  // without one, the memory must outlive the batch and everything that refers to it. Operators only read their inputs.
  // On a GPU, device.stream is the stream that wrote the memory; `owner` is released when that stream may free it.
  template <class T>
  static Batch wrap(const std::vector<T*>& data, const std::vector<Shape>& shapes, const std::string& layout = {},
                    std::shared_ptr<void> owner = nullptr, const Device& device = {}) {
    if (data.size() != shapes.size())
      throw Error(PENSTOCK_ERROR_ARGUMENT, "the number of pointers must equal the number of shapes");
    std::vector<void*> pointers;
    for (T* p : data) pointers.push_back(const_cast<std::remove_const_t<T>*>(p));
    const DType dtype = dtype_of<std::remove_const_t<T>>;
    Batch made = create(dtype, shapes, layout, pointers.data(), nullptr, std::move(owner), device);
    made.read_only_ = std::is_const_v<T>;
    return made;
  }
  // One row-major array of shape (N, ...) as N samples.
  template <class T>
  static Batch wrap(T* data, const Shape& shape, const std::string& layout = {}, std::shared_ptr<void> owner = nullptr,
                    const Device& device = {}) {
    if (shape.empty() || shape[0] < 1)
      throw Error(PENSTOCK_ERROR_ARGUMENT, "the first extent must be the number of samples");
    int64_t step = 1;
    for (size_t d = 1; d < shape.size(); ++d) step *= shape[d];
    std::vector<T*> pointers;
    for (int64_t i = 0; i < shape[0]; ++i) pointers.push_back(data + i * step);
    const std::vector<Shape> shapes(static_cast<size_t>(shape[0]), Shape(shape.begin() + 1, shape.end()));
    return wrap(pointers, shapes, layout, std::move(owner), device);
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

 private:
  penstock_batch_info info() const {
    penstock_batch_info i{};
    i.struct_size = sizeof i;
    check(penstock_batch_get_info(handle(), &i));
    return i;
  }
  static Batch create(DType dtype, const std::vector<Shape>& shapes, const std::string& layout, void* const* data,
                      const penstock_allocator* allocator, std::shared_ptr<void> owner, const Device& device) {
    std::vector<int64_t> extents;
    for (const Shape& s : shapes) {
      if (s.size() != shapes[0].size()) throw Error(PENSTOCK_ERROR_TYPE, "all samples must have the same rank");
      extents.insert(extents.end(), s.begin(), s.end());
    }
    penstock_batch_description d{};
    d.struct_size = sizeof d;
    d.dtype = static_cast<penstock_dtype>(dtype);
    d.ndim = shapes.empty() ? 0 : static_cast<int>(shapes[0].size());
    d.layout = layout.c_str();
    d.num_samples = static_cast<int>(shapes.size());
    d.shapes = extents.data();
    d.data = data;
    d.allocator = allocator;
    d.device_kind = device.kind, d.device_id = device.id, d.stream = device.stream;
    std::unique_ptr<std::shared_ptr<void>> user;
    if (owner) {
      user = std::make_unique<std::shared_ptr<void>>(std::move(owner));
      d.release = [](void* u) { delete static_cast<std::shared_ptr<void>*>(u); };
      d.release_user = user.get();
    }
    penstock_batch* handle = nullptr;
    check(penstock_batch_create(&d, &handle));
    user.release();
    return Batch(handle);
  }
  std::shared_ptr<penstock_batch> handle_;
  bool read_only_ = false;
};

// ---- Arguments and calls ----

using Value = penstock_value;  // a result in a Graph

namespace detail {
template <class T> struct is_list : std::false_type {};
template <class E> struct is_list<std::vector<E>> : std::true_type {};
template <class T> struct element {
  using type = T;
};
template <class E> struct element<std::vector<E>> {
  using type = E;
};
// What a field of type T accepts: no integers from floating-point numbers.
template <class U, class T>
constexpr bool takes =
    !is_list<T>::value && std::is_convertible_v<U, T> &&
    (!std::is_integral_v<T> || std::is_integral_v<std::decay_t<U>> || std::is_enum_v<std::decay_t<U>>);
template <class U, class T>
constexpr bool element_of =
    is_list<T>::value && std::is_arithmetic_v<U> && std::is_arithmetic_v<typename element<T>::type> &&
    (std::is_integral_v<U> || !std::is_integral_v<typename element<T>::type>);
// The element type of std::vector, std::array, std::span, an array or a list in braces; void if R is none of these.
template <class R, class = void> struct item {
  using type = void;
};
template <class R>
struct item<
    R, std::void_t<decltype(*std::begin(std::declval<const R&>())), decltype(std::end(std::declval<const R&>()))>> {
  using type = std::decay_t<decltype(*std::begin(std::declval<const R&>()))>;
};
template <class R> using item_t = typename item<R>::type;
template <class R, class T>
constexpr bool range_of = !std::is_same_v<R, T> && !std::is_convertible_v<R, std::string> &&
                          (element_of<item_t<R>, T> || (std::is_same_v<T, std::vector<std::string>> &&
                                                        std::is_constructible_v<std::string, item_t<R>>));
template <class T, class R> T list_of(const R& range) {
  T list;
  for (const auto& value : range) list.push_back(static_cast<typename element<T>::type>(value));
  return list;
}
// The list that an Arguments takes for elements of type U: of integers, of floats, or of strings.
template <class U>
using list_for =
    std::conditional_t<!std::is_arithmetic_v<U>, std::vector<std::string>,
                       std::conditional_t<std::is_integral_v<U>, std::vector<int64_t>, std::vector<double>>>;
}  // namespace detail

class Arguments {
 public:
  Arguments() {
    penstock_arguments* handle = nullptr;
    check(penstock_arguments_create(&handle));
    handle_.reset(handle, penstock_arguments_destroy);
  }
  void set(const char* name, bool v) { check(penstock_set_bool(handle(), name, v)); }
  void set(const char* name, int v) { check(penstock_set_int(handle(), name, v)); }
  void set(const char* name, int64_t v) { check(penstock_set_int(handle(), name, v)); }
  void set(const char* name, double v) { check(penstock_set_float(handle(), name, v)); }
  void set(const char* name, const char* v) { check(penstock_set_string(handle(), name, v)); }
  void set(const char* name, const std::string& v) { check(penstock_set_string(handle(), name, v.c_str())); }
  void set(const char* name, DType v) { check(penstock_set_dtype(handle(), name, static_cast<penstock_dtype>(v))); }
  void set(const char* name, const std::vector<int64_t>& v) {
    check(penstock_set_ints(handle(), name, v.data(), v.size()));
  }
  void set(const char* name, const std::vector<double>& v) {
    check(penstock_set_floats(handle(), name, v.data(), v.size()));
  }
  void set(const char* name, const std::vector<std::string>& v) {
    std::vector<const char*> texts;
    for (const auto& s : v) texts.push_back(s.c_str());
    check(penstock_set_strings(handle(), name, texts.data(), texts.size()));
  }
  // Any other range of numbers or strings: std::vector<float>, std::array, {224, 224}.
  template <class R, std::enable_if_t<detail::range_of<R, detail::list_for<detail::item_t<R>>>, int> = 0>
  void set(const char* name, const R& values) {
    set(name, detail::list_of<detail::list_for<detail::item_t<R>>>(values));
  }
  template <class U> void set(const char* name, std::initializer_list<U> values) {
    set(name, detail::list_of<detail::list_for<U>>(values));
  }
  void set(const char* name, const Batch& per_sample) {
    check(penstock_set_per_sample(handle(), name, per_sample.handle()));
  }
  void set(const char* name, const Value& value) { check(penstock_set_value(handle(), name, value)); }
  penstock_arguments* handle() const { return handle_.get(); }

 private:
  std::shared_ptr<penstock_arguments> handle_;
};

struct CallOptions {
  Allocator allocator{};                           // for the results
  int batch_size = 1;                              // for operators without inputs
  uint64_t seed = 0, epoch = 0, first_sample = 0;  // the key of random operators
  uint32_t node = 0;          // 0: the numbers of an operator with this seed in a pipeline; other values: other numbers
  Device device{};            // where it runs; CPU: where its inputs are. The stream applies in both cases
  std::vector<Batch> into{};  // memory for the results; empty, or one per result (an empty Batch: new memory)
};

// Calls any operator by its name.
inline std::vector<Batch> call(const char* op, const std::vector<Batch>& inputs, const Arguments& arguments = {},
                               const CallOptions& options = {}) {
  size_t num_outputs = 0;
  check(penstock_count_outputs(op, arguments.handle(), &num_outputs));
  if (!options.into.empty() && options.into.size() != num_outputs)
    throw Error(PENSTOCK_ERROR_ARGUMENT, "options.into needs one batch for each output");
  std::vector<const penstock_batch*> in, into;
  for (const Batch& b : inputs) in.push_back(b.handle());
  for (const Batch& b : options.into) {
    if (b.read_only()) throw Error(PENSTOCK_ERROR_ARGUMENT, "options.into holds a batch over const memory");
    into.push_back(b.handle());
  }
  penstock_call_options o{};
  o.struct_size = sizeof o;
  o.allocator = options.allocator.handle();
  o.batch_size = options.batch_size;
  o.seed = options.seed, o.epoch = options.epoch, o.first_sample = options.first_sample, o.node = options.node;
  o.device_kind = options.device.kind, o.device_id = options.device.id, o.stream = options.device.stream;
  o.into = into.empty() ? nullptr : into.data();
  std::vector<Batch> results;
  results.reserve(num_outputs);
  std::vector<penstock_batch*> out(num_outputs, nullptr);
  check(penstock_call(op, in.data(), in.size(), arguments.handle(), &o, out.data(), out.size()));
  for (penstock_batch* b : out) results.emplace_back(b);
  return results;
}

inline std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (size_t i = 0; i < penstock_num_operators(); ++i) names.emplace_back(penstock_operator_name(i));
  return names;
}

// ---- Fields of the argument structs in fn.h ----

// A value or nothing; nothing means the operator's default. Lists are written {224, 224}, or 224 for a list of one.
template <class T> class Optional {
 public:
  using Element = typename detail::element<T>::type;
  Optional() = default;
  Optional(const T& value) : value_(value) {}
  template <class U, std::enable_if_t<detail::takes<U, T>, int> = 0>
  Optional(U&& value) : value_(static_cast<T>(std::forward<U>(value))) {}
  template <class U, std::enable_if_t<detail::element_of<U, T>, int> = 0>
  Optional(U value) : value_(T{static_cast<Element>(value)}) {}
  // std::vector<float>, std::array, std::span and other ranges.
  template <class R, std::enable_if_t<detail::range_of<R, T>, int> = 0>
  Optional(const R& values) : value_(detail::list_of<T>(values)) {}
  template <class U, std::enable_if_t<detail::element_of<U, T>, int> = 0>
  Optional(std::initializer_list<U> values) : value_(T(values.begin(), values.end())) {}
  template <class E = Element, std::enable_if_t<detail::is_list<T>::value && std::is_same_v<E, Element>, int> = 0>
  Optional(std::initializer_list<Element> values, E* = nullptr) : value_(T(values)) {}

  void add_to(Arguments& arguments, const char* name) const {
    if (value_) arguments.set(name, *value_);
  }

 private:
  std::optional<T> value_;
};

// A value, or one per sample: a Batch in a call, a Value in a Graph.
template <class T> class PerSample : public Optional<T> {
 public:
  using Optional<T>::Optional;
  PerSample() = default;
  PerSample(Batch values) : values_(std::move(values)) {}
  PerSample(Value value) : value_(value) {}
  void add_to(Arguments& arguments, const char* name) const {
    if (values_) arguments.set(name, values_);
    else if (value_) arguments.set(name, *value_);
    else Optional<T>::add_to(arguments, name);
  }

 private:
  Batch values_;
  std::optional<Value> value_;
};

}  // namespace api
}  // namespace penstock

#include "penstock/pipeline.hpp"
