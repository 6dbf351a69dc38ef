// SPDX-License-Identifier: Apache-2.0
#include "numpy_abi.h"

#include "interop.h"

namespace penstock::python {
namespace {

using NewArray = PyObject* (*)(PyTypeObject*, int, const Py_ssize_t*, int, const Py_ssize_t*, void*, int, int,
                               PyObject*);
using SetBase = int (*)(PyObject*, PyObject*);

PyTypeObject* array_type = nullptr;
NewArray new_array = nullptr;
SetBase set_base = nullptr;

// Slots of the function table, and flags, as NumPy documents them.
constexpr int kSlotType = 2, kSlotNew = 93, kSlotSetBase = 282;
constexpr int kWriteableAligned = 0x0100 | 0x0400;

// NumPy's type numbers; long has 64 bits on the supported platforms.
static_assert(sizeof(long) == 8);
constexpr DType kFromNumber[] = {DType::bool_,  DType::int8,    DType::uint8,  DType::int16,  DType::uint16,
                                 DType::int32,  DType::uint32,  DType::int64,  DType::uint64, DType::int64,
                                 DType::uint64, DType::float32, DType::float64};
constexpr int kHalf = 23;
// By DType. NumPy knows bfloat16 by the package ml_dtypes alone: such an array is one of uint16 first.
constexpr int kToNumber[kTypes] = {2, 4, 6, 8, 1, 3, 5, 7, kHalf, 11, 12, 0, -1, 4};

PyObject* call_numpy(const char* function, PyObject* argument) {
  nb::object numpy = nb::module_::import_("numpy");
  return numpy.attr(function)(nb::handle(argument)).release().ptr();
}

nb::object bfloat16_type() {
  try {
    return nb::module_::import_("ml_dtypes").attr("bfloat16");
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_ImportError)) throw;
    bad_type("NumPy has bfloat16 by the package ml_dtypes alone: install it, cast to float32, or take torch's arrays");
  }
}

void delete_tensor(PyObject* capsule) { delete static_cast<Tensor*>(PyCapsule_GetPointer(capsule, "penstock.tensor")); }

}  // namespace

void load_numpy() {
  if (array_type) return;
  nb::object numpy = nb::module_::import_("numpy");
  nb::object core;
  try {
    core = nb::module_::import_("numpy._core._multiarray_umath");
  } catch (nb::python_error&) {
    core = nb::module_::import_("numpy.core._multiarray_umath");
  }
  nb::object capsule = core.attr("_ARRAY_API");
  void** table = static_cast<void**>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (!table) throw nb::python_error();
  new_array = reinterpret_cast<NewArray>(table[kSlotNew]);
  set_base = reinterpret_cast<SetBase>(table[kSlotSetBase]);
  array_type = static_cast<PyTypeObject*>(table[kSlotType]);
}

bool is_numpy_array_type(PyTypeObject* type) { return type == array_type; }

Tensor tensor_from_numpy(PyObject* object) {
  load_numpy();
  auto* a = reinterpret_cast<ArrayObject*>(object);
  const int number = a->descr->type_num;
  Tensor t;
  if (number == kHalf) {
    t.view.dtype = DType::float16;
  } else if (number >= 0 && number <= 12) {
    t.view.dtype = kFromNumber[number];
  } else {  // types that packages register have no numbers of their own
    const auto name = nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<PyObject*>(a->descr))));
    if (name != name_of(DType::bfloat16)) bad_type("arrays of dtype {} are not supported", name);
    t.view.dtype = DType::bfloat16;
  }
  const auto size = static_cast<Py_ssize_t>(size_of(t.view.dtype));
  bool usable = a->descr->byteorder != '>';
  for (int i = 0; i < a->nd && usable; ++i) usable = a->strides[i] % size == 0;
  if (!usable) {
    nb::object native = nb::steal(call_numpy("ascontiguousarray", object));
    if (a->descr->byteorder == '>') native = native.attr("astype")(native.attr("dtype").attr("newbyteorder")("="));
    return tensor_from_numpy(native.ptr());
  }
  t.owner = keep(object);
  t.view.data = a->data;
  for (int i = 0; i < a->nd; ++i) {
    t.view.shape.push_back(a->dimensions[i]);
    t.view.strides.push_back(a->strides[i] / size);
  }
  return t;
}

PyObject* numpy_from_tensor(Tensor tensor) {
  load_numpy();
  check_where(tensor.device, Where::host);
  tensor = copied_to_host(tensor);
  const View& v = tensor.view;
  const auto size = static_cast<Py_ssize_t>(size_of(v.dtype));
  Py_ssize_t dimensions[Shape::kMaxDims], strides[Shape::kMaxDims];
  for (int i = 0; i < v.shape.size(); ++i) dimensions[i] = v.shape[i], strides[i] = v.strides[i] * size;
  const bool bfloat16 = v.dtype == DType::bfloat16;
  if (bfloat16) bfloat16_type();  // before there is an array, for it may be missing
  PyObject* array = new_array(array_type, v.shape.size(), dimensions, kToNumber[static_cast<int>(v.dtype)], strides,
                              v.data, 0, kWriteableAligned, nullptr);
  if (!array) throw nb::python_error();
  auto* owner = new Tensor(std::move(tensor));
  PyObject* base = PyCapsule_New(owner, "penstock.tensor", &delete_tensor);
  if (!base || set_base(array, base) < 0) {
    if (!base) delete owner;
    Py_DecRef(array);
    throw nb::python_error();
  }
  return bfloat16 ? nb::steal(array).attr("view")(bfloat16_type()).release().ptr() : array;
}

}  // namespace penstock::python
