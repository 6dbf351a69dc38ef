// SPDX-License-Identifier: Apache-2.0
// Python's lock (the GIL). While the interpreter is finalizing, CPython (to 3.13) ends every other thread that requests
// the GIL, by pthread_exit. That unwinds the stack, and at the first C++ destructor or catch-all handler the process
// aborts. A thread that goes through here blocks instead, and the program ends with the status that it chose.
#pragma once
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <cxxabi.h>

namespace nb = nanobind;

namespace penstock::python {

[[noreturn]] inline void stand_still() noexcept {
  for (;;) ::pause();
}

// Calls f(), which may request the GIL, through C frames only.
template <class F> auto through_the_end(F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (abi::__forced_unwind&) {
    stand_still();
  }
}

class HoldGil {  // on any thread; the one that finalizes the interpreter holds the GIL
 public:
  HoldGil() {
    if (!Py_IsInitialized()) stand_still();  // what a thread needs to request it may be gone
    state_ = through_the_end([] { return PyGILState_Ensure(); });
  }
  ~HoldGil() { PyGILState_Release(state_); }
  HoldGil(const HoldGil&) = delete;
  HoldGil& operator=(const HoldGil&) = delete;

 private:
  PyGILState_STATE state_{};
};

class ReleaseGil {
 public:
  ReleaseGil() : ending_(!Py_IsInitialized()), thread_(PyEval_SaveThread()) {}
  ~ReleaseGil() {
    if (!ending_ && !Py_IsInitialized()) stand_still();
    through_the_end([this] { PyEval_RestoreThread(thread_); });
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  const bool ending_;  // this thread is finalizing
  PyThreadState* thread_;
};

template <class F> auto without_gil(F&& f) {
  const ReleaseGil release;
  return f();
}

// function(*arguments), on one of the library's threads, whose frames must not be unwound.
inline nb::object called(nb::handle function, const nb::tuple& arguments) {
  PyObject* result = through_the_end([&] { return PyObject_CallObject(function.ptr(), arguments.ptr()); });
  if (!result) throw nb::python_error();
  return nb::steal(result);
}

}  // namespace penstock::python
