// SPDX-License-Identifier: Apache-2.0
// For penstock/_commands.py.
#include "readers/file_tools.h"

#include <utility>

#include "base/progress.h"
#include "bindings.h"
#include "codecs/file_formats.h"
#include "gil.h"
#include "interop.h"

namespace penstock::python {
namespace {

// Paths are converted like Python's file names: bytes that are not UTF-8 are kept.
std::string path_from(nb::handle h) {
  PyObject* bytes = nullptr;
  if (!PyUnicode_FSConverter(h.ptr(), &bytes)) throw nb::python_error();
  const nb::object owned = nb::steal(bytes);
  return {PyBytes_AsString(bytes), static_cast<size_t>(PyBytes_Size(bytes))};
}
nb::object path_to(const std::string& path) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

// Lives as long as the process: work on any thread may report.
PyObject* shows_progress = nullptr;

void report_progress(const ProgressState& s) {
  HoldGil gil;
  if (!shows_progress) return;
  try {
    called(shows_progress, nb::make_tuple(s.id, readable(s.what), s.unit, s.done, s.total, s.ended));
  } catch (nb::python_error& e) {
    e.discard_as_unraisable("penstock.progress");  // the work goes on
  }
}

}  // namespace

void bind_file_tools(nb::module_& m) {
  m.def(
      "set_progress",
      [](nb::handle function, double quiet) {
        Py_XDECREF(std::exchange(shows_progress, function.is_none() ? nullptr : function.inc_ref().ptr()));
        const auto time = std::chrono::milliseconds(static_cast<int64_t>(quiet * 1000));
        set_progress_report(shows_progress ? &report_progress : nullptr, time);
      },
      nb::arg("function").none(), nb::arg("quiet"));
  m.def("verify_file", [](nb::handle path, int64_t max_pixels) {
    const std::string p = path_from(path);
    const auto found = without_gil([&] { return verify_file(p, max_pixels); });
    nb::list l;
    for (const Finding& f : found) l.append(nb::make_tuple(f.kind, f.text));
    return l;
  });
  m.def("file_formats", [] {
    nb::list l;
    for (const FileFormat& f : file_formats()) {
      nb::list endings;
      for (const std::string_view e : f.suffixes) endings.append(std::string(e));
      const char* kind = f.kind == FileFormat::picture ? "picture" : "sound";
      l.append(nb::make_tuple(kind, std::string(f.id), std::string(f.title), endings));
    }
    return l;
  });
  m.def("transcode_file", [](nb::handle from, nb::handle to) {
    const std::string a = path_from(from), b = path_from(to);
    return without_gil([&] { return transcode_file(a, b); });
  });
  nb::class_<IndexBuilder>(m, "IndexBuilder")
      .def("__init__",
           [](IndexBuilder* self, nb::handle option, nb::handle data_set, int step, int threads) {
             new (self) IndexBuilder(path_from(option), path_from(data_set), step, threads);
           })
      .def("add",
           [](IndexBuilder& b, nb::list files) {
             std::vector<std::string> paths;
             for (nb::handle f : files) paths.push_back(path_from(f));
             const IndexReport r = without_gil([&] { return b.add(paths); });
             nb::list failed;
             for (const auto& [path, why] : r.failed) failed.append(nb::make_tuple(path_to(path), why));
             return nb::make_tuple(r.made, r.kept, r.left_out, failed);
           })
      .def("finish", [](IndexBuilder& b) { without_gil([&] { return b.finish(), 0; }); })
      .def("path", [](const IndexBuilder& b) { return path_to(b.path()); });
}

}  // namespace penstock::python
