// SPDX-License-Identifier: Apache-2.0
// The inputs of a request as batches over the request's own memory.
#pragma once
#include <memory>
#include <vector>

#include "batch/batch.h"
#include "triton/signature.h"

namespace penstock::triton {

// One batch per input of the signature. Samples lie in the request's memory, which must live as long as they are read;
// it may be that of a GPU if the input's source is there, too. An input that came in several pieces is joined in a
// block of its own on the host, and so is one on a GPU whose source is on the host. Throws what a client did wrong: a
// type, a rank, elements that are cut, inputs of unlike numbers of samples.
std::vector<Batch> request_inputs(TRITONBACKEND_Request* request, const Signature& signature);

}  // namespace penstock::triton
