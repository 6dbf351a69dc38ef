// SPDX-License-Identifier: Apache-2.0
// `out=` and `stream=` of an immediate call: arrays of the program that its results are written into, and its stream.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "interop.h"

namespace penstock::python {

// A tuple has an entry for each result, or None for a new one; anything else is the place of the only result. A place
// is an array for a single sample, and for a batch a Batch, a list of arrays, or an array whose first dimension counts
// the samples.
class CallTargets {
 public:
  explicit CallTargets(PyObject* given) : given_(given) {}

  // For a call with so many results. The pointers are null where a result is new.
  std::span<const Batch* const> places(int results, bool batched);
  // What the call returns in the place of result k: the program's own object, or null.
  PyObject* object(size_t k) const { return k < objects_.size() ? objects_[k] : nullptr; }
  // The framework of the first place, whose stream the call uses; none: numpy.
  Kind kind() const;
  // Lets later work on the program's objects wait for what the call has enqueued.
  void order(std::span<const Batch> results) const;

 private:
  PyObject* given_;  // lives as long as the call
  std::vector<PyObject*> objects_;
  std::vector<Batch> batches_;
  std::vector<const Batch*> pointers_;
};

// A stream of CUDA as a number, or an object of torch, CuPy, CV-CUDA or another library that has one.
StreamHandle stream_of_user(PyObject* object);

}  // namespace penstock::python
