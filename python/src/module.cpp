// SPDX-License-Identifier: Apache-2.0
#include "bindings.h"
#include "interop.h"

NB_MODULE(_core, m) {
  using namespace penstock::python;
  auto error = [&](const char* name, PyObject* base, const char* doc) {
    nb::object type =
        nb::steal(PyErr_NewExceptionWithDoc((std::string("penstock.") + name).c_str(), doc, base, nullptr));
    m.attr(name) = type;
    return type;
  };
  errors().data = error("DataError", PyExc_RuntimeError, "A file or record cannot be read or decoded.");
  errors().device_warning = error("DeviceWarning", PyExc_UserWarning,
                                  "The requested device is not available on this machine or in this build.");
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const penstock::Error&) {
      set_python_error();
    } catch (const std::bad_cast&) {
      set_python_error();
    }
  });
  nb::set_leak_warnings(false);  // operators' functions live as long as the process
  bind_containers(m);
  bind_operators(m);
  bind_pipeline(m);
  bind_function(m);
  bind_debug(m);
  bind_file_tools(m);
  bind_row_packing(m);
  bind_checksum(m);
  bind_gpu(m);
  bind_machine(m);
  bind_device_memory(m);
  bind_remote(m);
  bind_arrow(m);
  bind_warnings(m);
}
