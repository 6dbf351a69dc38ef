// SPDX-License-Identifier: Apache-2.0
#include "torch_layout.h"

#include <algorithm>
#include <charconv>

#include "warning.h"

namespace penstock::python {
namespace {

PyObject* attribute() {
  static PyObject* name = PyUnicode_InternFromString("_penstock_layout");
  return name;
}

// "HWC 32,48,3 144,3,1": the stride of an extent of 1 means nothing, and torch changes it.
std::string mark_of(const View& v, const Layout& layout) {
  std::string mark(layout.view());
  const auto add = [&](char before, int64_t number) {  // runs for each tensor, hence without a formatter
    char digits[24];
    mark += before;
    mark.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  };
  for (int64_t e : v.shape) add(' ', e);
  for (int d = 0; d < v.shape.size(); ++d)
    if (v.shape[d] > 1) add(',', v.strides[d]);
  return mark;
}

}  // namespace

void remember_layout(PyObject* tensor, const View& view) {
  if (view.layout.empty() || view.layout.size() != view.shape.size()) return;
  const nb::str mark(mark_of(view, view.layout).c_str());
  if (PyObject_SetAttr(tensor, attribute(), mark.ptr()) < 0) throw nb::python_error();
}

Layout remembered_layout(PyObject* tensor, const View& view) {
  if (view.shape.empty() || !PyObject_HasAttr(tensor, attribute())) return {};  // an AttributeError takes much longer
  const nb::object found = nb::steal(PyObject_GetAttr(tensor, attribute()));
  if (!found.is_valid()) {
    PyErr_Clear();
    return {};
  }
  Py_ssize_t size = 0;
  const char* text = PyUnicode_Check(found.ptr()) ? PyUnicode_AsUTF8AndSize(found.ptr(), &size) : nullptr;
  if (!text) {
    PyErr_Clear();
    return {};
  }
  const std::string_view mark(text, static_cast<size_t>(size));
  const auto letters = static_cast<size_t>(view.shape.size());
  if (letters > 8 || mark.size() < letters) return {};
  const Layout layout(mark.substr(0, letters));
  return mark == mark_of(view, layout) ? layout : Layout{};
}

Layout layout_by_extents(std::span<const Shape> shapes, bool asks) {
  const int ndim = shapes.empty() ? 0 : shapes[0].size();
  if (ndim != 3 && ndim != 4) return {};
  const auto all = [&](int dim) {
    return std::all_of(shapes.begin(), shapes.end(),
                       [&](const Shape& s) { return s.size() == ndim && (s[dim] == 1 || s[dim] == 3 || s[dim] == 4); });
  };
  const bool first = all(ndim - 3), last = all(ndim - 1);
  const char *channels_first = ndim == 3 ? "CHW" : "NCHW", *channels_last = ndim == 3 ? "HWC" : "NHWC";
  if (first && !last) return channels_first;
  if (!asks) return {};
  if (last && !first) {
    const std::string text = fmt::format(
        "a torch tensor of shape {} is read as {}, because only its last extent can "
        "be channels; penstock.tensor(x, \"{}\") states the layout",
        shapes[0].text(), channels_last, channels_last);
    warn(text, PyExc_UserWarning);
    return channels_last;
  }
  bad_type(
      "a torch tensor of shape {} has no layout, and its extents are ambiguous: set the layout with "
      "penstock.{}(x, \"CHW\") or \"HWC\"",
      shapes[0].text(), ndim == 3 ? "tensor" : "batch");
}

Batch split_samples(const Tensor& t) {
  const View& v = t.view;
  if (v.shape[0] == 0) bad_argument("a batch needs at least one sample");
  std::vector<Tensor> samples;
  samples.reserve(static_cast<size_t>(v.shape[0]));
  Tensor one = t;
  one.view.layout = v.layout.empty() ? Layout{} : Layout(v.layout.view().substr(1));
  one.view.shape = Shape(std::span(v.shape.begin() + 1, v.shape.size() - 1));
  one.view.strides = Shape(std::span(v.strides.begin() + 1, v.strides.size() - 1));
  for (int64_t i = 0; i < v.shape[0]; ++i) {
    one.view.data = v.as<char>() + i * v.strides[0] * static_cast<int64_t>(size_of(v.dtype));
    samples.push_back(one);
  }
  return Batch::from_tensors(std::move(samples));
}

}  // namespace penstock::python
