// SPDX-License-Identifier: Apache-2.0
// Python objects as constant arguments of operators.
#include "interop.h"
#include "operator/argument_kinds.h"

namespace penstock::python {
namespace {

std::string type_name(PyObject* o) { return nb::cast<std::string>(nb::handle(o).type().attr("__name__")); }

std::string text_of(PyObject* o) {
  Py_ssize_t size = 0;
  const char* s = PyUnicode_AsUTF8AndSize(o, &size);
  if (!s) throw nb::python_error();
  return {s, static_cast<size_t>(size)};
}

Value from_tensor(const Tensor& t) {
  const int64_t n = t.view.volume();
  const bool real = is_float(t.view.dtype);
  if (t.view.shape.empty()) {
    if (real) return element_as_double(t.view, 0);
    if (t.view.dtype == DType::bool_) return element_as_int(t.view, 0) != 0;
    return element_as_int(t.view, 0);
  }
  std::vector<double> reals;
  std::vector<int64_t> integers;
  for (int64_t i = 0; i < n; ++i) {
    if (real) reals.push_back(element_as_double(t.view, i));
    else integers.push_back(element_as_int(t.view, i));
  }
  if (real) return reals;
  return integers;
}

// Flattens lists, also nested ones (matrices), in order.
void flatten(PyObject* o, std::vector<double>& reals, std::vector<int64_t>& integers, std::vector<std::string>& texts) {
  const Py_ssize_t n = length_of(o);
  for (Py_ssize_t i = 0; i < n; ++i) {
    nb::object item = item_of(o, i);
    PyObject* p = item.ptr();
    if (PyList_Check(p) || PyTuple_Check(p)) {
      flatten(p, reals, integers, texts);
    } else if (PyUnicode_Check(p)) {
      texts.push_back(text_of(p));
    } else if (PyFloat_Check(p)) {
      reals.push_back(PyFloat_AsDouble(p));
    } else if (PyIndex_Check(p)) {
      nb::object index = nb::steal(PyNumber_Index(p));
      const int64_t v = index.is_valid() ? PyLong_AsLongLong(index.ptr()) : -1;
      if (v == -1 && PyErr_Occurred()) throw nb::python_error();
      integers.push_back(v);
      reals.push_back(static_cast<double>(v));
    } else {
      const double d = PyFloat_AsDouble(p);
      if (d == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        if (PyObject_HasAttrString(p, "__fspath__")) {
          texts.push_back(text_of(nb::object(item.attr("__fspath__")()).ptr()));
          continue;
        }
        bad_type("a list of numbers or strings cannot contain a value of type {}", type_name(p));
      }
      reals.push_back(d);
    }
  }
}

}  // namespace

DType dtype_from(PyObject* o) {
  if (PyLong_Check(o)) {
    const long long number = PyLong_AsLongLong(o);
    if (number == -1 && PyErr_Occurred()) PyErr_Clear(), bad_type("this integer is not an element type");
    return value_as<DType>(Value{static_cast<int64_t>(number)});
  }
  if (PyUnicode_Check(o)) return dtype_from_name(text_of(o));
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::bool_;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::int32;
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::float32;
  nb::handle h(o);
  if (PyFloat_Check(o)) bad_type("{} is not an element type, such as 'uint8' or 'float32'", PyFloat_AsDouble(o));
  std::string name;
  if (PyType_Check(o)) name = nb::cast<std::string>(h.attr("__name__"));                     // numpy.uint8
  else if (PyObject_HasAttrString(o, "name")) name = nb::cast<std::string>(h.attr("name"));  // numpy.dtype("uint8")
  else name = nb::cast<std::string>(nb::str(h));                                             // torch.uint8
  if (const size_t dot = name.rfind('.'); dot != std::string::npos) name = name.substr(dot + 1);
  if (!name.empty() && name.back() == '_') name.pop_back();  // numpy.bool_
  return dtype_from_name(name);
}

Value value_from(PyObject* o, const ArgInfo& info) {
  if (info.type == ArgType::dtype) try {
      return static_cast<int64_t>(dtype_from(o));
    } catch (const Error& e) {
      throw Error(e.kind(), fmt::format("{}: {}", info.name, e.what()));
    }
  if (PyBool_Check(o)) return o == Py_True;
  if (PyFloat_Check(o)) return PyFloat_AsDouble(o);
  if (PyLong_Check(o)) {
    const long long v = PyLong_AsLongLong(o);
    if (v == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      bad_argument("{}: the integer does not fit into 64 bits", info.name);
    }
    return static_cast<int64_t>(v);
  }
  if (PyUnicode_Check(o)) return text_of(o);
  if (PyList_Check(o) || PyTuple_Check(o)) {
    std::vector<double> reals;
    std::vector<int64_t> integers;
    std::vector<std::string> texts;
    flatten(o, reals, integers, texts);
    if (!texts.empty() && !reals.empty()) bad_type("{}: a list can contain numbers or strings, not both", info.name);
    if (!texts.empty()) return texts;
    if (integers.size() == reals.size() && info.type != ArgType::reals && info.type != ArgType::real) return integers;
    if (info.type == ArgType::texts) return texts;
    return reals;
  }
  const Kind kind = kind_of(o);
  if (kind == Kind::bytes) {
    char* data = nullptr;
    Py_ssize_t size = 0;
    PyBytes_AsStringAndSize(o, &data, &size);
    return std::string(data, static_cast<size_t>(size));
  }
  const auto here = [&] { return from_tensor(copied_to_host(tensor_from(o, Where::anywhere))); };
  if (kind == Kind::numpy || kind == Kind::torch || kind == Kind::cupy || kind == Kind::tensor) return here();
  if (PyIndex_Check(o)) {
    nb::object index = nb::steal(PyNumber_Index(o));
    if (!index.is_valid()) throw nb::python_error();
    return value_from(index.ptr(), info);
  }
  nb::handle h(o);
  if (PyObject_HasAttrString(o, "__fspath__")) return text_of(nb::object(h.attr("__fspath__")()).ptr());
  if (PyObject_HasAttrString(o, "__dlpack__") || PyObject_HasAttrString(o, "__array_interface__") ||
      PyObject_HasAttrString(o, "__cuda_array_interface__"))
    return here();  // also NumPy's scalars
  bad_type("{}: expected {}, got a value of type {}", info.name, meaning_of(info.type), type_name(o));
}

}  // namespace penstock::python
