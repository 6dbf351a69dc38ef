// SPDX-License-Identifier: Apache-2.0
// The user's Python code in a pipeline: sources and functions.
#pragma once
#include <nanobind/nanobind.h>

#include <deque>
#include <memory>
#include <string>

#include "exec/callback.h"
#include "readers/external_source.h"

namespace nb = nanobind;

namespace penstock::python {

// While this thread runs the user's code. There Python's garbage collector may find a pipeline that nobody uses any
// longer, maybe the one whose thread this is.
struct InsideUserCode {
  static thread_local int depth;
  InsideUserCode() { ++depth; }
  ~InsideUserCode() { --depth; }
};

// The executor carries C++ errors; Python's own exception waits here until run() raises it unchanged. Guarded by the
// GIL.
class RaisedErrors {
 public:
  // For the exception in flight: keeps it and throws an Error with its text.
  [[noreturn]] void keep(nb::python_error& e);
  std::unique_ptr<nb::python_error> take(const std::string& text);
  void clear() { raised_.clear(); }

 private:
  static constexpr size_t kMostRaised = 16;  // more than the iterations in flight; errors that nobody takes are dropped
  std::deque<std::pair<std::string, std::unique_ptr<nb::python_error>>> raised_;
};

// Calls the object of an external_source node: next(iteration, in_epoch, epoch, batch_size) -> batches.
std::shared_ptr<ExternalFeed> python_feed(nb::object source, std::shared_ptr<RaisedErrors> errors);
// Calls the object of a python_function node: call(batches, [(epoch, position, place)]) -> (batches, [(sample, why its
// data is bad)]).
std::shared_ptr<Callback> python_callback(nb::object function, std::shared_ptr<RaisedErrors> errors);
// From penstock.plugin.numba's object, which has the addresses.
std::shared_ptr<Callback> compiled_callback(nb::handle code);

}  // namespace penstock::python
