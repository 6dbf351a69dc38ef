// SPDX-License-Identifier: Apache-2.0
// Tensor and Batch.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "batch/joined_samples.h"
#include "bindings.h"
#include "container_texts.h"
#include "exports.h"
#include "interop.h"
#include "numpy_abi.h"
#include "operator/stored.h"
#include "torch_layout.h"

namespace penstock::python {
namespace {

nb::list shape_list(const Shape& s) {
  nb::list l;
  for (int64_t e : s) l.append(nb::cast(e));
  return l;
}

nb::object dtype_object(DType t) {
  static PyObject* enumeration = nb::module_::import_("penstock.types").attr("DType").inc_ref().ptr();
  return nb::handle(enumeration)(static_cast<int>(t));
}

template <class T> T on_gpu(const T& t, int gpu) {
  ReleaseGil release;
  runtime_of(gpu);
  return copy_to(t, {DeviceKind::gpu, static_cast<int16_t>(gpu)});
}
nb::object device_number(Device d) { return d.kind == DeviceKind::gpu ? nb::cast(static_cast<int>(d.id)) : nb::none(); }
nb::object stream_number(Device d, StreamHandle s) {
  return d.kind == DeviceKind::gpu && s ? nb::cast(number_of_stream(s)) : nb::none();
}
const char* device_kind(Device d) { return d.kind == DeviceKind::gpu ? "gpu" : "cpu"; }
std::string place_text(Device d) { return d.kind == DeviceKind::gpu ? ", " + name_of(d) : std::string(); }

std::string sample_text(const Batch& b) {
  std::string shapes;
  for (int i = 0; i < b.size() && i < 4; ++i) shapes += (i ? ", " : "") + b.shape(i).text();
  if (b.size() > 4) shapes += ", ...";
  return fmt::format("Batch({} samples, {}, layout '{}', shapes {}{})", b.size(), name_of(b.dtype()), b.layout().str(),
                     b.size() && b.has_uniform_shapes() ? b.shape(0).text() : shapes, place_text(b.device()));
}

int wrapped(const Batch& b, int64_t i) {
  const int64_t k = i < 0 ? i + b.size() : i;
  if (k < 0 || k >= b.size())
    throw nb::index_error(fmt::format("sample {} is out of range for a batch of {}", i, b.size()).c_str());
  return static_cast<int>(k);
}

Tensor make_tensor(nb::handle data, const std::string& layout, nb::handle dtype) {
  Tensor t = tensor_from(data.ptr(), Where::anywhere);
  if (!layout.empty()) {
    const Layout l(layout);
    if (l.size() != t.view.shape.size())
      bad_argument("layout '{}' has {} letters for {} dimensions", layout, l.size(), t.view.shape.size());
    t.view.layout = l;
  }
  if (!dtype.is_none() && dtype_from(dtype.ptr()) != t.view.dtype) {
    const DType to = dtype_from(dtype.ptr());
    const Device device = t.device;
    t = copied_to_host(t);
    Tensor other = Tensor::empty(to, t.view.shape, t.view.layout);
    const int64_t n = t.view.volume();
    dispatch_stored(to, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t i = 0; i < n; ++i) {
        if constexpr (kStoresFloat<T>) store_value(other.view, i, element_as_double(t.view, i));
        else if constexpr (std::is_same_v<T, bool>) other.view.as<T>()[i] = element_as_double(t.view, i) != 0;
        else if constexpr (std::is_integral_v<T>) other.view.as<T>()[i] = static_cast<T>(element_as_int(t.view, i));
        else other.view.as<T>()[i] = T(element_as_double(t.view, i));
      }
    });
    t = device.kind == DeviceKind::cpu ? std::move(other) : copy_to(other, device);
  }
  return t;
}

// Torch tensors without a layout get one from their extents, if those are unambiguous; but not with DALI's names.
enum class TorchLayout : bool { as_given, by_extents };

Tensor make_tensor(nb::handle data, const std::string& layout, nb::handle dtype, TorchLayout torch) {
  Tensor t = make_tensor(data, layout, dtype);
  if (torch == TorchLayout::by_extents && t.view.layout.empty() && kind_of(data.ptr()) == Kind::torch)
    t.view.layout = layout_by_extents(std::span(&t.view.shape, 1), false);
  return t;
}

Batch without_samples(DType dtype, int ndim, const std::string& layout) {
  Batch b(dtype, ndim, {}, 0);
  if (!layout.empty()) b.set_layout(layout);
  return b;
}

Batch make_batch(nb::handle data, const std::string& layout, nb::handle dtype,
                 TorchLayout torch = TorchLayout::as_given) {
  std::vector<Tensor> tensors;
  if (kind_of(data.ptr()) == Kind::batch) {
    Batch b = *nb::inst_ptr<Batch>(data);
    if (dtype.is_none()) {
      if (!layout.empty()) b.set_layout(layout);
      return b;
    }
    for (int i = 0; i < b.size(); ++i) tensors.push_back(make_tensor(nb::cast(b.tensor(i)), layout, dtype));
    return Batch::from_tensors(std::move(tensors));
  }
  if (PyList_Check(data.ptr()) || PyTuple_Check(data.ptr())) {
    if (nb::len(data) == 0)
      return without_samples(dtype.is_none() ? DType::none : dtype_from(dtype.ptr()), static_cast<int>(layout.size()),
                             layout);
    bool torchs = false;
    std::vector<Shape> shapes;
    for (nb::handle item : data) {
      tensors.push_back(make_tensor(item, layout, dtype));
      torchs = torchs || (kind_of(item.ptr()) == Kind::torch && tensors.back().view.layout.empty());
      if (torchs) shapes.push_back(tensors.back().view.shape);
    }
    Batch b = Batch::from_tensors(std::move(tensors));
    if (torchs && torch == TorchLayout::by_extents && b.layout().empty() && b.ndim() == 3)
      b.set_layout(layout_by_extents(shapes, false));
    return b;
  }
  // One array: its first dimension counts the samples.
  Tensor all = make_tensor(data, "", dtype, layout.empty() ? torch : TorchLayout::as_given);
  if (all.view.shape.empty()) bad_argument("a batch needs at least one sample, and an array for it one axis more");
  if (all.view.shape[0] == 0)
    return without_samples(all.view.dtype, static_cast<int>(all.view.shape.size()) - 1, layout);
  if (!all.view.layout.has('N')) all.view.layout = {};
  Batch b = split_samples(all);
  if (!layout.empty()) b.set_layout(layout);
  return b;
}

// Removes dimensions of extent 1, in place; returns whether there were any.
bool squeeze(Tensor& t, std::optional<int> dim) {
  const int rank = t.view.shape.size();
  if (dim && (*dim < -rank || *dim >= rank))
    bad_argument("dimension {} is out of range for a tensor of {} dimensions", *dim, rank);
  Tensor out = t;
  out.view.shape = out.view.strides = {};
  std::string letters;
  for (int d = 0; d < rank; ++d) {
    if (t.view.shape[d] == 1 && (!dim || (*dim + rank) % rank == d)) continue;
    out.view.shape.push_back(t.view.shape[d]);
    out.view.strides.push_back(t.view.strides[d]);
    if (!t.view.layout.empty()) letters += t.view.layout[d];
  }
  out.view.layout = letters;
  const bool changed = out.view.shape.size() != rank;
  t = std::move(out);
  return changed;
}

void check_reinterpretation(DType from, DType to) {
  if (size_of(from) != size_of(to))
    bad_argument("elements of {} cannot be reinterpreted as {}: their sizes differ", name_of(from), name_of(to));
}

void reinterpret(Tensor& t, nb::handle new_type) {
  const DType to = dtype_from(new_type.ptr());
  check_reinterpretation(t.view.dtype, to);
  t.view.dtype = to;
}

void reinterpret_all(Batch& b, nb::handle new_type) {
  const DType to = dtype_from(new_type.ptr());
  check_reinterpretation(b.dtype(), to);
  std::vector<Tensor> samples;
  for (int i = 0; i < b.size(); ++i) {
    samples.push_back(b.tensor(i));
    samples.back().view.dtype = to;
  }
  b = Batch::from_tensors(std::move(samples));
}

// A NumPy reduction, such as all(), of the elements on the host.
nb::object reduced(const Tensor& t, const char* name, nb::args args, nb::kwargs keywords) {
  return nb::steal(numpy_from_tensor(copied_to_host(t))).attr(name)(*args, **keywords);
}

// Scalars get one common type, so that [1, 2.5] are two floats.
Batch make_per_sample(nb::handle values) {
  if (kind_of(values.ptr()) == Kind::batch) return *nb::inst_ptr<Batch>(values);
  if (PyList_Check(values.ptr()) || PyTuple_Check(values.ptr())) {
    if (is_number_list(values.ptr())) {
      nb::object all = nb::cast(tensor_from_numbers(values.ptr()));
      return make_batch(all, "", nb::none());
    }
    return make_batch(values, "", nb::none());
  }
  return make_batch(values, "", nb::none());
}

Tensor reshaped(const Batch& b, const std::vector<int64_t>& shape) {
  Tensor t = b.as_tensor();
  const Shape to{std::span<const int64_t>(shape)};
  if (to.volume() != t.view.volume())
    bad_argument("a batch of {} elements cannot have the shape {}", t.view.volume(), to.text());
  t.view.shape = to, t.view.strides = dense_strides(to), t.view.layout = {};
  return t;
}

// ---- What both have.

template <class T> void bind_device(nb::class_<T>& c) {
  c.def(
       "as_cpu", [](const T& t) { return copied_to_host(t); }, "The same data on the host; waits for it.")
      .def(
          "cpu", [](const T& t) { return copied_to_host(t); }, "The same data on the host; waits for it.")
      .def("gpu", &on_gpu<T>, nb::arg("device_id") = 0,
           "The same data on a GPU; the copy is enqueued, and users of the result wait for it on the GPU.")
      .def_prop_ro(
          "device", [](const T& t) { return name_of(place_of(t)); }, "'cpu', 'gpu:0', ...")
      .def_prop_ro(
          "device_type", [](const T& t) { return device_kind(place_of(t)); }, "'cpu' or 'gpu'.")
      .def(
          "device_id", [](const T& t) { return device_number(place_of(t)); },
          "The number of the GPU; None if on the host.")
      .def_prop_ro(
          "stream", [](const T& t) { return stream_number(place_of(t), t.stream); },
          "The handle of the stream that the memory was written on; None if there is none.");
}

// ---- Tensor.

void bind_facts(nb::class_<Tensor>& c) {
  c.def("shape", [](const Tensor& t) { return shape_list(t.view.shape); })
      .def("layout", [](const Tensor& t) { return t.view.layout.str(); })
      .def(
          "source_info", [](const Tensor& t) { return readable(t.source); },
          "The file or record that the sample came from.")
      .def_prop_ro("dtype", [](const Tensor& t) { return dtype_object(t.view.dtype); })
      .def("ndim", [](const Tensor& t) { return t.view.shape.size(); })
      .def_prop_ro("nbytes",
                   [](const Tensor& t) { return t.view.volume() * static_cast<int64_t>(size_of(t.view.dtype)); })
      .def("__len__",
           [](const Tensor& t) {
             if (t.view.shape.empty()) throw nb::type_error("a scalar has no length");
             return t.view.shape[0];
           })
      .def("get_property",
           [](const Tensor& t, const std::string& name) -> nb::object {
             if (name == "layout") return nb::cast(t.view.layout.str());
             if (name == "source_info") return readable(t.source);
             bad_argument("a tensor has the properties 'layout' and 'source_info', not '{}'", name);
           })
      .def("__repr__", [](const Tensor& t) {
        return fmt::format("Tensor({}, layout '{}', shape {}{})", name_of(t.view.dtype), t.view.layout.str(),
                           t.view.shape.text(), place_text(t.device));
      });
}

void bind_elements(nb::class_<Tensor>& c) {
  c.def("__getitem__",
        [](const Tensor& t, nb::handle i) -> nb::object {
          const nb::object array = nb::steal(numpy_from_tensor(t));  // lives until the part of it has been taken
          return array[i];
        })
      .def("__iter__", [](const Tensor& t) { return nb::steal(numpy_from_tensor(t)).attr("__iter__")(); })
      .def("item", [](const Tensor& t) { return nb::steal(numpy_from_tensor(t)).attr("item")(); })
      .def(
          "all", [](const Tensor& t, nb::args a, nb::kwargs k) { return reduced(t, "all", a, k); },
          "Whether all elements are true; the arguments are those of numpy.ndarray.all().")
      .def(
          "any", [](const Tensor& t, nb::args a, nb::kwargs k) { return reduced(t, "any", a, k); },
          "Whether any element is true; the arguments are those of numpy.ndarray.any().")
      .def(
          "__bool__",
          [](const Tensor& t) { return nb::steal(numpy_from_tensor(copied_to_host(t))).attr("__bool__")(); },
          "The truth value of a single element, as in NumPy.");
}

// As objects of other libraries, which share the memory, or as a copy at an address.
void bind_exports(nb::class_<Tensor>& c) {
  c.def(
       "numpy", [](const Tensor& t) { return nb::steal(numpy_from_tensor(t)); },
       "A NumPy array that shares the memory.")
      .def(
          "torch", [](const Tensor& t) { return nb::steal(torch_from_tensor(t)); },
          "A torch tensor that shares the memory.")
      .def("as_array", [](const Tensor& t) { return nb::steal(numpy_from_tensor(t)); })
      .def("__array__", &numpy_array, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def_prop_ro("__array_interface__", &array_interface)
      .def_prop_ro("__cuda_array_interface__", &cuda_array_interface)
      .def(
          "__dlpack__",
          [](const Tensor& t, nb::handle stream, nb::handle max_version, nb::handle device, nb::handle copy) {
            return export_dlpack(t, stream, max_version, device, copy);
          },
          nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
          nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack_device__", [](const Tensor& t) { return dlpack_device(t.device); })
      .def(
          "copy_to_external",
          [](const Tensor& t, nb::handle to, nb::handle stream, bool non_blocking, bool) {
            copy_out(t, to, stream, non_blocking);
          },
          nb::arg("ptr"), nb::arg("cuda_stream") = nb::none(), nb::arg("non_blocking") = false,
          nb::arg("use_copy_kernel") = false,
          "Copies the elements, row by row, to an address (an integer or a ctypes pointer). On a GPU the copy is "
          "enqueued on cuda_stream, and the host waits for it unless non_blocking.")
      .def("data_ptr", [](const Tensor& t) { return reinterpret_cast<uintptr_t>(t.view.data); });
}

void bind_changes(nb::class_<Tensor>& c) {
  c.def("squeeze", &squeeze, nb::arg("dim") = nb::none(),
        "Removes one or all dimensions of extent 1, in place; returns whether there were any.")
      .def("reinterpret", &reinterpret, nb::arg("new_type"),
           "Reinterprets the bytes as elements of another type of the same size, in place.")
      .def("set_layout",
           [](Tensor& t, const std::string& layout) { t = make_tensor(nb::cast(t), layout, nb::none()); });
}

void bind_tensor(nb::module_& m) {
  nb::class_<Tensor> c(m, "Tensor",
                       "Holds one sample: elements of one type in memory, with a shape and an optional layout.");
  c.def(
      "__init__",
      [](Tensor* self, nb::handle data, const std::string& layout, nb::handle dtype) {
        new (self) Tensor(make_tensor(data, layout, dtype));
      },
      nb::arg("data"), nb::arg("layout") = "", nb::arg("dtype") = nb::none());
  bind_facts(c);
  bind_elements(c);
  bind_changes(c);
  bind_device(c);
  bind_exports(c);
}

// ---- Batch.

void bind_facts(nb::class_<Batch>& c) {
  c.def(
       "shape",
       [](const Batch& b) {
         nb::list l;
         for (int i = 0; i < b.size(); ++i) l.append(shape_tuple(b.shape(i)));
         return l;
       },
       "The shape of each sample.")
      .def("layout", [](const Batch& b) { return b.layout().str(); })
      .def(
          "sources",
          [](const Batch& b) {
            nb::list l;
            for (int i = 0; i < b.size(); ++i) l.append(readable(b.sample(i).source));
            return l;
          },
          "The file or record of each sample, '' if it is not known.")
      .def_prop_ro("dtype", [](const Batch& b) { return dtype_object(b.dtype()); })
      .def("ndim", &Batch::ndim)
      .def_prop_ro("batch_size", &Batch::size)
      .def_prop_ro("nbytes", &Batch::bytes)
      .def("is_dense_tensor", &Batch::is_dense_tensor)
      .def("is_uniform", &Batch::has_uniform_shapes, "Whether all samples have the same shape.")
      .def("__repr__", &sample_text);
}

void bind_samples(nb::class_<Batch>& c) {
  c.def("__len__", &Batch::size)
      .def("__getitem__",
           [](const Batch& b, nb::handle key) -> nb::object {
             if (PySlice_Check(key.ptr())) {
               const nb::object places = nb::handle(reinterpret_cast<PyObject*>(&PyRange_Type))(b.size())[key];
               std::vector<Tensor> samples;
               for (nb::handle i : places) samples.push_back(b.tensor(nb::cast<int>(i)));
               if (samples.empty()) throw nb::index_error("the slice of the batch has no samples");
               return nb::cast(Batch::from_tensors(std::move(samples)));
             }
             if (!PyIndex_Check(key.ptr()))
               bad_type("the index of a batch must be a sample number or a slice, not {}",
                        nb::cast<std::string>(key.type().attr("__name__")));
             nb::object index = nb::steal(PyNumber_Index(key.ptr()));
             if (!index.is_valid()) throw nb::python_error();
             return nb::cast(b.tensor(wrapped(b, nb::cast<int64_t>(index))));
           })
      .def(
          "at", [](const Batch& b, int64_t i) { return nb::steal(numpy_from_tensor(b.tensor(wrapped(b, i)))); },
          "Sample i as a NumPy array that shares the memory.")
      .def("__iter__",
           [](const Batch& b) {
             nb::list l;
             for (int i = 0; i < b.size(); ++i) l.append(nb::cast(b.tensor(i)));
             return l.attr("__iter__")();
           })
      .def_prop_ro("tensors",
                   [](const Batch& b) {
                     nb::list l;
                     for (int i = 0; i < b.size(); ++i) l.append(nb::cast(b.tensor(i)));
                     return l;
                   })
      .def("as_tensor", &Batch::as_tensor, "The batch as one tensor; TypeError if the samples differ in shape.")
      .def(
          "joined", &joined_samples,
          "The samples one after another along their first dimension, as one tensor: shares the memory of samples that "
          "lie so. TypeError if their other extents differ.")
      .def(
          "packed",
          [](const Batch& b) {
            PackedSamples p = packed_samples(b);
            return nb::make_tuple(std::move(p.values), std::move(p.offsets), std::move(p.positions), p.longest);
          },
          "The samples in one row, as attention of variable length takes them: what joined() returns; int32 offsets, "
          "one more than samples, where each sample begins in the row and where the last one ends; int32 positions, "
          "as long as the row, the place in its sample of each entry; and how many entries the longest sample has. "
          "TypeError if the other extents differ.")
      .def("as_reshaped_tensor", &reshaped, nb::arg("shape"));
}

void bind_exports(nb::class_<Batch>& c) {
  c.def(
       "as_array", [](const Batch& b) { return nb::steal(numpy_from_tensor(b.as_tensor())); },
       "The batch as one NumPy array; TypeError if the samples differ in shape.")
      .def("numpy", [](const Batch& b) { return nb::steal(numpy_from_tensor(b.as_tensor())); })
      .def("torch", [](const Batch& b) { return nb::steal(torch_from_tensor(b.as_tensor())); })
      .def(
          "__array__",
          [](const Batch& b, nb::handle dtype, nb::handle copy) { return numpy_array(b.as_tensor(), dtype, copy); },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def_prop_ro("__array_interface__",
                   [](const Batch& b) {
                     if (!b.is_dense_tensor()) throw nb::attribute_error("the samples are not contiguous in memory");
                     return array_interface(b.as_tensor());
                   })
      .def_prop_ro("__cuda_array_interface__",
                   [](const Batch& b) {
                     if (!b.is_dense_tensor()) throw nb::attribute_error("the samples are not contiguous in memory");
                     return cuda_array_interface(b.as_tensor());
                   })
      .def(
          "__dlpack__",
          [](const Batch& b, nb::handle stream, nb::handle max_version, nb::handle device, nb::handle copy) {
            return export_dlpack(b.as_tensor(), stream, max_version, device, copy);
          },
          nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
          nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack_device__", [](const Batch& b) { return dlpack_device(b.device()); })
      .def(
          "copy_to_external",
          [](const Batch& b, nb::handle to, nb::handle stream, bool non_blocking, bool) {
            copy_out(b.as_tensor(), to, stream, non_blocking);
          },
          nb::arg("ptr"), nb::arg("cuda_stream") = nb::none(), nb::arg("non_blocking") = false,
          nb::arg("use_copy_kernel") = false,
          "Copies all samples, which must have the same shape, to an address (an integer or a ctypes pointer). On a "
          "GPU the "
          "copy is enqueued on cuda_stream, and the host waits for it unless non_blocking.")
      .def("data_ptr", [](const Batch& b) { return reinterpret_cast<uintptr_t>(b.as_tensor().view.data); });
}

void bind_changes(nb::class_<Batch>& c) {
  c.def(
       "set_sources",
       [](Batch& b, const std::vector<std::string>& names) {
         if (static_cast<int>(names.size()) != b.size())
           bad_argument("set_sources() got {} names for a batch of {} samples", names.size(), b.size());
         for (int i = 0; i < b.size(); ++i) b.sample(i).source = names[i];
       },
       nb::arg("names"), "Names the samples, for the errors of a pipeline that gets them.")
      .def("reinterpret", &reinterpret_all, nb::arg("new_type"),
           "Reinterprets the bytes as elements of another type of the same size, in place.")
      .def("set_layout", [](Batch& b, const std::string& layout) { b.set_layout(layout); })
      .def(
          "reset", [](Batch& b) { b = Batch(DType::none, 0, {}, 0); },
          "Removes all samples; memory that nothing else holds is freed.");
}

Batch broadcast(const Tensor& sample, int num_samples) {
  if (num_samples < 1) bad_argument("a batch needs at least one sample, got num_samples={}", num_samples);
  return Batch::from_tensors(std::vector<Tensor>(static_cast<size_t>(num_samples), sample));
}

void bind_batch(nb::module_& m) {
  nb::class_<Batch> c(m, "Batch", "Holds samples of one element type, rank and layout, each with its own shape.");
  c.def(
       "__init__",
       [](Batch* self, nb::handle data, const std::string& layout, nb::handle dtype) {
         new (self) Batch(make_batch(data, layout, dtype));
       },
       nb::arg("data"), nb::arg("layout") = "", nb::arg("dtype") = nb::none())
      .def_static(
          "from_dlpack_list", [](nb::list l, const std::string& layout) { return make_batch(l, layout, nb::none()); },
          nb::arg("list_of_objects"), nb::arg("layout") = "")
      .def_static("broadcast", &broadcast, nb::arg("sample"), nb::arg("num_samples"),
                  "A batch of the same tensor, whose memory all samples share.");
  bind_facts(c);
  bind_samples(c);
  bind_changes(c);
  bind_device(c);
  bind_exports(c);
}

}  // namespace

void bind_containers(nb::module_& m) {
  bind_tensor(m);
  bind_batch(m);
  m.def(
      "tensor",
      [](nb::handle data, const std::string& layout, nb::handle dtype) {
        return make_tensor(data, layout, dtype, TorchLayout::by_extents);
      },
      nb::arg("data"), nb::arg("layout") = "", nb::arg("dtype") = nb::none(), kTensorText);
  m.def(
      "batch",
      [](nb::handle data, const std::string& layout, nb::handle dtype) {
        return make_batch(data, layout, dtype, TorchLayout::by_extents);
      },
      nb::arg("data"), nb::arg("layout") = "", nb::arg("dtype") = nb::none(), kBatchText);
  m.def(
      "fed_tensor", [](nb::handle data) { return make_tensor(data, "", nb::none()); }, nb::arg("data"),
      "Like tensor(), but as in DALI: torch tensors get no layout from their extents.");
  m.def(
      "fed_batch", [](nb::handle data, const std::string& layout) { return make_batch(data, layout, nb::none()); },
      nb::arg("data"), nb::arg("layout") = "",
      "Like batch(), but as in DALI: torch tensors get no layout from their "
      "extents.");
  m.def("dtype_number", [](nb::handle h) { return static_cast<int>(dtype_from(h.ptr())); });
  m.def("per_sample", &make_per_sample, nb::arg("values"), kPerSampleText);
}

}  // namespace penstock::python
