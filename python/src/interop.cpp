// SPDX-License-Identifier: Apache-2.0
#include "base/gpu_library.h"
#include "interop.h"

#include <cmath>
#include <mutex>
#include <unordered_map>

#include "numpy_abi.h"

namespace penstock::python {
namespace {

PyObject* node_type = nullptr;

// The class `name` of a module that is already imported, or null: a module that was never imported has no instances.
nb::object imported_class(const char* module, const char* name) {
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* m = PyDict_GetItemString(modules, module);
  if (!m) return {};
  PyObject* c = PyObject_GetAttrString(m, name);
  if (!c) PyErr_Clear();
  return nb::steal(c);
}

bool is_subclass(PyTypeObject* type, nb::handle base) {
  return base.is_valid() && PyType_Check(base.ptr()) &&
         PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(base.ptr()));
}

Kind classify(PyTypeObject* type) {
  if (is_subclass(type, nb::type<Batch>())) return Kind::batch;
  if (is_subclass(type, nb::type<Tensor>())) return Kind::tensor;
  if (node_type && is_subclass(type, node_type)) return Kind::node;
  if (is_subclass(type, imported_class("numpy", "number"))) return Kind::other;  // numpy.float64 is a float as well
  if (PyType_IsSubtype(type, &PyLong_Type) || PyType_IsSubtype(type, &PyFloat_Type)) return Kind::number;
  if (PyType_IsSubtype(type, &PyUnicode_Type)) return Kind::text;
  if (PyType_IsSubtype(type, &PyBytes_Type)) return Kind::bytes;
  if (PyType_IsSubtype(type, &PyList_Type) || PyType_IsSubtype(type, &PyTuple_Type)) return Kind::sequence;
  if (is_subclass(type, imported_class("numpy", "ndarray"))) return Kind::numpy;
  if (is_subclass(type, imported_class("torch", "Tensor"))) return Kind::torch;
  if (is_subclass(type, imported_class("cupy", "ndarray"))) return Kind::cupy;
  if (is_subclass(type, imported_class("PIL.Image", "Image"))) return Kind::pillow;
  return Kind::other;
}

DType dtype_from_typestr(const std::string& s) {  // "<f4", "|u1"
  if (s.size() < 3 || s[0] == '>') bad_type("an array interface of type '{}' is not supported", s);
  const std::string what = s.substr(1);
  constexpr std::pair<const char*, DType> known[] = {
      {"u1", DType::uint8},   {"u2", DType::uint16},  {"u4", DType::uint32},  {"u8", DType::uint64},
      {"i1", DType::int8},    {"i2", DType::int16},   {"i4", DType::int32},   {"i8", DType::int64},
      {"f2", DType::float16}, {"f4", DType::float32}, {"f8", DType::float64}, {"b1", DType::bool_}};
  for (const auto& [name, t] : known)
    if (what == name) return t;
  bad_type("an array interface of type '{}' is not supported", s);
}

Tensor tensor_from_bytes(PyObject* bytes) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes, &data, &size) < 0) throw nb::python_error();
  Tensor t;
  t.owner = keep(bytes);
  t.view = {data, DType::uint8, {}, Shape{size}, Shape{1}};
  return t;
}

// The array interface, and the CUDA array interface, in which the address is on a GPU.
Tensor tensor_from_array_interface(PyObject* object, nb::handle interface) {
  nb::dict d = nb::cast<nb::dict>(interface);
  Tensor t;
  t.view.dtype = dtype_from_typestr(nb::cast<std::string>(d["typestr"]));
  for (nb::handle e : nb::cast<nb::tuple>(d["shape"])) t.view.shape.push_back(nb::cast<int64_t>(e));
  check_extents(t.view.shape, t.view.dtype);
  t.view.strides = dense_strides(t.view.shape);
  if (d.contains("strides") && !d["strides"].is_none()) {
    nb::tuple strides = nb::cast<nb::tuple>(d["strides"]);
    if (static_cast<int>(strides.size()) != t.view.shape.size())
      bad_type("the strides of an array interface do not match its shape");
    for (int i = 0; i < t.view.shape.size(); ++i) {
      const int64_t bytes = nb::cast<int64_t>(strides[i]), size = static_cast<int64_t>(size_of(t.view.dtype));
      if (bytes % size != 0) bad_type("strides that split elements are not supported");
      t.view.strides[i] = bytes / size;
    }
  }
  nb::object data = d["data"];
  if (PyBytes_Check(data.ptr())) {
    char* p = nullptr;
    Py_ssize_t size = 0;
    PyBytes_AsStringAndSize(data.ptr(), &p, &size);
    if (static_cast<size_t>(size) < checked_bytes(t.view.volume(), size_of(t.view.dtype)))
      bad_type("the data of an array interface is too short");
    t.owner = keep(data.ptr());
    t.view.data = p;
  } else {
    t.owner = keep(object);
    nb::tuple pair = nb::cast<nb::tuple>(data);
    if (pair.size() != 2) bad_type("the array interface has no address");
    t.view.data = reinterpret_cast<void*>(nb::cast<uintptr_t>(pair[0]));
    if (!t.view.data && t.view.volume() > 0) bad_type("the address of an array interface is null");
  }
  return t;
}

// The order that the interface states: the stream that wrote the array; 1 and 2 are CUDA's two streams without a
// handle. It does not state in which order the memory is freed, so we keep it until our own work is done.
Tensor tensor_from_cuda_array_interface(PyObject* object, nb::handle interface, Where where) {
  nb::dict d = nb::cast<nb::dict>(interface);
  if (d.contains("mask") && !d["mask"].is_none()) bad_type("arrays with a mask are not supported");
  Tensor t = tensor_from_array_interface(object, interface);
  GpuLibrary& gpu = gpu_library();
  const int found = gpu.why_not().empty() && t.view.data ? gpu.runtime().device_of(t.view.data) : 0;
  if (found < 0) bad_type("the memory of a CUDA array is not on a GPU");
  t.device = {DeviceKind::gpu, static_cast<int16_t>(found)};
  check_where(t.device, where);
  if (d.contains("stream") && !d["stream"].is_none()) {
    const auto number = nb::cast<uintptr_t>(d["stream"]);
    if (number == 0) bad_argument("stream 0 is not allowed in a CUDA array interface");
    t.stream = stream_of_number(number);
  }
  const StreamHandle ours = thread_stream(found);
  order_before(t, ours);
  t.stream = ours;
  t.owner = owner_until_done(std::move(t.owner), found, ours);
  return t;
}

// Pixels as (height, width, channels); palettes and bitmaps become RGB and gray.
Tensor tensor_from_pillow(PyObject* image) {
  nb::object held = nb::borrow(image);
  const auto mode = nb::cast<std::string>(held.attr("mode"));
  if (mode == "P" || mode == "PA") held = held.attr("convert")(mode == "P" ? "RGB" : "RGBA");
  if (mode == "1") held = held.attr("convert")("L");
  Tensor t = tensor_from_array_interface(held.ptr(), held.attr("__array_interface__"));
  if (t.view.shape.size() == 2) {
    t.view.shape.push_back(1);
    t.view.strides = dense_strides(t.view.shape);
  }
  t.view.layout = "HWC";
  return t;
}

PyObject* pillow_from_tensor(Tensor tensor) {
  const View& v = tensor.view;
  const int rank = v.shape.size();
  const int64_t channels = rank == 3 ? v.shape[2] : 1;
  const char* mode = channels == 1 ? "L" : channels == 3 ? "RGB" : channels == 4 ? "RGBA" : nullptr;
  const bool picture = v.dtype == DType::uint8 && (rank == 2 || rank == 3) && mode && v.dense() && v.volume() > 0 &&
                       (v.layout.empty() || v.layout == Layout("HWC") || v.layout == Layout("HW"));
  if (!picture) return numpy_from_tensor(std::move(tensor));
  nb::tuple size = nb::make_tuple(v.shape[1], v.shape[0]);
  nb::object bytes = nb::steal(PyBytes_FromStringAndSize(v.as<char>(), v.volume()));
  if (!bytes.is_valid()) throw nb::python_error();
  return nb::module_::import_("PIL.Image").attr("frombytes")(mode, size, bytes).release().ptr();
}

struct Numbers {
  Shape shape;
  std::vector<double> reals;
  std::vector<int64_t> integers;
  bool any_real = false, all_bool = true, wide = false;

  void add(PyObject* o, int depth) {
    if (PyList_Check(o) || PyTuple_Check(o)) {
      const Py_ssize_t n = length_of(o);
      if (depth == shape.size()) shape.push_back(n);
      else if (shape[depth] != n) bad_type("the rows of a nested list differ in length");
      for (Py_ssize_t i = 0; i < n; ++i) {
        nb::object item = item_of(o, i);
        add(item.ptr(), depth + 1);
      }
      return;
    }
    if (depth != shape.size()) bad_type("the rows of a nested list differ in depth");
    if (!PyBool_Check(o)) all_bool = false;
    if (PyIndex_Check(o)) {
      nb::object index = nb::steal(PyNumber_Index(o));
      const int64_t i = index.is_valid() ? PyLong_AsLongLong(index.ptr()) : -1;
      if (i == -1 && PyErr_Occurred()) throw nb::python_error();
      wide = wide || i != static_cast<int32_t>(i);
      integers.push_back(i);
      reals.push_back(static_cast<double>(i));
      return;
    }
    const double d = PyFloat_AsDouble(o);
    if (d == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      bad_type("expected a number, got {}", nb::cast<std::string>(nb::handle(o).type().attr("__name__")));
    }
    any_real = true;
    reals.push_back(d);
    integers.push_back(0);
  }
};

}  // namespace

void set_node_type(nb::handle type) { node_type = type.inc_ref().ptr(); }

Kind kind_of(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (is_numpy_array_type(type)) return Kind::numpy;
  if (object == Py_None) return Kind::none;
  static auto* known = new std::unordered_map<PyTypeObject*, Kind>;  // guarded by the GIL; keeps its types alive
  if (auto it = known->find(type); it != known->end()) return it->second;
  const Kind kind = classify(type);
  if (kind != Kind::other) {
    Py_IncRef(reinterpret_cast<PyObject*>(type));
    known->emplace(type, kind);
    if (kind == Kind::numpy) load_numpy();
  }
  return kind;
}

namespace {

// Objects that threads without a Python thread state have dropped: such threads, a pipeline's, do not wait for the GIL.
struct Dropped {
  std::mutex mutex;
  std::vector<PyObject*> objects;
  bool asked = false;  // Python's main thread was asked to call drop()
};
Dropped& dropped() {
  static auto* d = new Dropped;
  return *d;
}

int drop(void*) {  // holds the GIL
  std::vector<PyObject*> objects;
  {
    std::lock_guard lock(dropped().mutex);
    dropped().asked = false;
    objects.swap(dropped().objects);
  }
  for (PyObject* o : objects) Py_DecRef(o);
  return 0;
}

void drop_later(PyObject* object) {
  std::lock_guard lock(dropped().mutex);
  dropped().objects.push_back(object);
  if (!dropped().asked) dropped().asked = Py_AddPendingCall(&drop, nullptr) == 0;
}

}  // namespace

std::shared_ptr<void> keep(PyObject* object) {
  drop(nullptr);
  Py_IncRef(object);
  return std::shared_ptr<void>(object, [](void* p) {
    if (!Py_IsInitialized()) return;
    if (!PyGILState_GetThisThreadState()) {
      drop_later(static_cast<PyObject*>(p));
      return;
    }
    const HoldGil gil;
    Py_DecRef(static_cast<PyObject*>(p));
  });
}

Tensor tensor_from_numbers(PyObject* object) {
  Numbers n;
  n.add(object, 0);
  if (n.reals.empty()) n.any_real = true, n.all_bool = false;
  const bool booleans = n.all_bool && !n.any_real;
  const DType dtype = booleans ? DType::bool_ : n.any_real ? DType::float32 : n.wide ? DType::int64 : DType::int32;
  Tensor t = Tensor::empty(dtype, n.shape);
  dispatch(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (size_t i = 0; i < n.reals.size(); ++i) {
      if constexpr (std::is_integral_v<T>) t.view.as<T>()[i] = static_cast<T>(n.integers[i]);
      else t.view.as<T>()[i] = static_cast<T>(static_cast<float>(n.reals[i]));
    }
  });
  return t;
}

bool is_number_list(PyObject* o) {
  const Py_ssize_t n = length_of(o);
  for (Py_ssize_t i = 0; i < n; ++i) {
    nb::object item = item_of(o, i);
    if (PyList_Check(item.ptr()) || PyTuple_Check(item.ptr())) {
      if (!is_number_list(item.ptr())) return false;
    } else if (kind_of(item.ptr()) != Kind::number) {
      return false;
    }
  }
  return n > 0;
}

void check_where(Device device, Where where) {
  if (device.kind == DeviceKind::cpu) return;
  if (where == Where::host) bad_type("the array is on {}: copy it to the host with .cpu() first", name_of(device));
  if (const std::string why = gpu_library().why_not(); !why.empty())
    bad_type("the array is on {}, but no GPU can be used: {}", name_of(device), why);
}

static std::string name_of_type(nb::handle h) { return nb::cast<std::string>(h.type().attr("__name__")); }

Tensor tensor_from(PyObject* o, Where where) {
  switch (kind_of(o)) {
    case Kind::numpy: return tensor_from_numpy(o);
    case Kind::tensor: {
      const Tensor& t = *nb::inst_ptr<Tensor>(nb::handle(o));
      check_where(t.device, where);
      return t;
    }
    case Kind::torch:
    case Kind::cupy: return tensor_from_dlpack(o, where);
    case Kind::pillow: return tensor_from_pillow(o);
    case Kind::bytes: return tensor_from_bytes(o);
    case Kind::number: return tensor_from_numbers(o);
    case Kind::sequence: return tensor_from_numbers(o);
    case Kind::batch: bad_type("expected one sample, got a Batch");
    case Kind::node: bad_type("a DataNode is a value of a pipeline: use it in the pipeline's function");
    case Kind::none: bad_type("expected an array, got None");
    case Kind::text: bad_type("expected an array, got a string; encoded files are passed as bytes");
    case Kind::other: break;
  }
  nb::handle h(o);
  if (PyCapsule_CheckExact(o) || PyObject_HasAttrString(o, "__dlpack__")) return tensor_from_dlpack(o, where);
  if (PyObject_HasAttrString(o, "__cuda_array_interface__"))
    return tensor_from_cuda_array_interface(o, h.attr("__cuda_array_interface__"), where);
  // The array interface of a NumPy scalar points to an array that no longer exists when it is read.
  const bool numpy_scalar = nb::cast<std::string>(h.type().attr("__module__")) == "numpy";
  if (!numpy_scalar && PyObject_HasAttrString(o, "__array_interface__"))
    return tensor_from_array_interface(o, h.attr("__array_interface__"));
  if (PyObject_HasAttrString(o, "__array__")) {
    const nb::object array = h.attr("__array__")();
    if (kind_of(array.ptr()) != Kind::numpy) bad_type("__array__() of {} gives no array of NumPy", name_of_type(h));
    return tensor_from(array.ptr(), where);
  }
  if (nb::steal(PyMemoryView_FromObject(o)).is_valid()) {  // bytearray, memoryview, array.array, mmap
    nb::object array = nb::module_::import_("numpy").attr("asarray")(h);
    return tensor_from_numpy(array.ptr());
  }
  PyErr_Clear();
  bad_type("expected an array, a tensor or a picture, got {}", name_of_type(h));
}

Batch batch_from_sequence(PyObject* sequence, Where where) {
  std::vector<Tensor> tensors;
  const Py_ssize_t n = length_of(sequence);
  tensors.reserve(n);
  for (Py_ssize_t i = 0; i < n; ++i) {
    nb::object item = item_of(sequence, i);
    tensors.push_back(tensor_from(item.ptr(), where));
  }
  return Batch::from_tensors(std::move(tensors));
}

Batch batch_from(PyObject* o, Where where) {
  const Kind kind = kind_of(o);
  if (kind == Kind::batch) {
    const Batch& b = *nb::inst_ptr<Batch>(nb::handle(o));
    check_where(b.device(), where);
    return b;
  }
  if (kind == Kind::sequence && !is_number_list(o)) return batch_from_sequence(o, where);
  std::vector<Tensor> one;
  one.push_back(tensor_from(o, where));
  return Batch::from_tensors(std::move(one));
}

PyObject* to_python(Tensor tensor, Kind like) {
  const bool on_gpu = tensor.device.kind == DeviceKind::gpu;
  if (like == Kind::torch) return torch_from_tensor(std::move(tensor));
  if (like == Kind::cupy && on_gpu) return cupy_from_tensor(std::move(tensor));
  if (on_gpu) like = Kind::tensor;
  switch (like) {
    case Kind::pillow: return pillow_from_tensor(std::move(tensor));
    case Kind::tensor: return nb::cast(std::move(tensor)).release().ptr();
    default: return numpy_from_tensor(std::move(tensor));
  }
}

Errors& errors() {
  static auto* e = new Errors;
  return *e;
}

nb::str readable(std::string_view text) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

static void set_error(PyObject* type, std::string_view text) {
  if (const nb::str message = readable(text); message.is_valid())
    PyErr_SetObject(type, message.ptr());  // else: no memory, which is the error
}

void set_python_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const Error& e) {
    PyObject* type = PyExc_RuntimeError;
    switch (e.kind()) {
      case ErrorKind::argument: type = PyExc_ValueError; break;
      case ErrorKind::type:
      case ErrorKind::key: type = PyExc_TypeError; break;
      case ErrorKind::file_missing: type = PyExc_FileNotFoundError; break;
      case ErrorKind::data: type = errors().data.ptr(); break;
      case ErrorKind::stopped: type = PyExc_StopIteration; break;
      case ErrorKind::cancelled: type = PyExc_KeyboardInterrupt; break;
      case ErrorKind::out_of_memory: type = PyExc_MemoryError; break;
      case ErrorKind::internal: break;
    }
    if (e.kind() == ErrorKind::cancelled && PyErr_Occurred()) return;  // the signal handler's own exception
    set_error(type, e.full_message());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::bad_cast&) {  // nanobind: a Python object has another type than required
    PyErr_SetString(PyExc_TypeError, "an object contains a value of an unexpected type");
  } catch (const std::exception& e) {
    set_error(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an unknown error");
  }
}

}  // namespace penstock::python
