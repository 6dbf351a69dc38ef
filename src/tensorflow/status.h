// SPDX-License-Identifier: Apache-2.0
//
// Errors of this room: thrown as Fault, and given to TensorFlow where it calls.
#pragma once
#include <memory>
#include <string>

#include "penstock/penstock.h"
#include "tensorflow/c_api.h"

namespace penstock::tensorflow {

struct Fault {
  TF_Code code;
  std::string text;
};

[[noreturn]] inline void invalid(std::string text) { throw Fault{TF_INVALID_ARGUMENT, std::move(text)}; }

// The code of TensorFlow that its users expect for a failure: an image that cannot be decoded is an invalid argument,
// as that of tf.io.decode_jpeg.
inline TF_Code code_of(penstock_status status) {
  switch (status) {
    case PENSTOCK_ERROR_FILE_MISSING: return TF_NOT_FOUND;
    case PENSTOCK_ERROR_OUT_OF_MEMORY: return TF_RESOURCE_EXHAUSTED;
    case PENSTOCK_ERROR_CANCELLED: return TF_CANCELLED;
    case PENSTOCK_ERROR_INTERNAL: return TF_INTERNAL;
    default: return TF_INVALID_ARGUMENT;
  }
}

// Throws where a call of Penstock has failed.
inline void check(penstock_status status) {
  if (status != PENSTOCK_OK) throw Fault{code_of(status), penstock_last_error()};
}

// The status that a call of TensorFlow writes.
class Status {
 public:
  Status() : status_(TF_NewStatus()) {}
  ~Status() { TF_DeleteStatus(status_); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  operator TF_Status*() const { return status_; }
  void check() const {
    if (TF_GetCode(status_) != TF_OK) throw Fault{TF_GetCode(status_), TF_Message(status_)};
  }
  void set(const Fault& fault) const { TF_SetStatus(status_, fault.code, fault.text.c_str()); }

 private:
  TF_Status* status_;
};

struct Destroy {
  void operator()(penstock_batch* batch) const { penstock_batch_destroy(batch); }
  void operator()(penstock_pipeline* pipeline) const { penstock_pipeline_destroy(pipeline); }
  void operator()(penstock_function* function) const { penstock_function_destroy(function); }
  void operator()(TF_Tensor* tensor) const { TF_DeleteTensor(tensor); }
};
using BatchHandle = std::unique_ptr<penstock_batch, Destroy>;
using PipelineHandle = std::unique_ptr<penstock_pipeline, Destroy>;
using FunctionHandle = std::unique_ptr<penstock_function, Destroy>;
using TensorHandle = std::unique_ptr<TF_Tensor, Destroy>;

}  // namespace penstock::tensorflow
