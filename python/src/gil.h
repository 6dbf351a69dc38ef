// SPDX-License-Identifier: Apache-2.0
// Python's lock. Where the interpreter is ending, CPython (to 3.13) ends every other thread that asks for its lock, by
// pthread_exit. That unwinds the stack, and at the first destructor or handler of all exceptions in C++ the process
// aborts. A thread that comes through here stands still instead, and the program ends with the status that it chose.
#pragma once
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <cxxabi.h>

namespace nb = nanobind;

namespace penstock::python {

[[noreturn]] inline void stand_still() noexcept {
  for (;;) ::pause();
}

// f(), which may ask for the lock, through C alone.
template <class F> auto through_the_end(F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (abi::__forced_unwind&) {
    stand_still();
  }
}

class HoldGil {  // on any thread; the one that ends the interpreter has the lock
 public:
  HoldGil() {
    if (!Py_IsInitialized()) stand_still();  // what a thread needs to ask for it may be gone
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
  const bool ending_;  // by this thread
  PyThreadState* thread_;
};

// function(*arguments), on a thread of the library's, whose frames an unwinding must not reach.
inline nb::object called(nb::handle function, const nb::tuple& arguments) {
  PyObject* result = through_the_end([&] { return PyObject_CallObject(function.ptr(), arguments.ptr()); });
  if (!result) throw nb::python_error();
  return nb::steal(result);
}

}  // namespace penstock::python
