// SPDX-License-Identifier: Apache-2.0
#include "warning.h"

#include "base/notice.h"
#include "bindings.h"

namespace penstock::python {

static PyObject* warn_at_user = nullptr;  // Python: (text, category)

void warn(const std::string& text, PyObject* category) {
  if (warn_at_user) nb::handle{warn_at_user}(text, nb::handle{category});
  else if (PyErr_WarnEx(category, text.c_str(), 1) < 0) throw nb::python_error();
}

void tell_notices() {
  for (const std::string& text : take_notices()) warn(text, PyExc_UserWarning);
}

void bind_warnings(nb::module_& m) {
  m.def("set_warning_hook", [](nb::object hook) { warn_at_user = hook.release().ptr(); });
}

}  // namespace penstock::python
