// SPDX-License-Identifier: Apache-2.0
// Element types as Triton numbers and spells them.
#pragma once
#include <string>

#include "base/dtype.h"
#include "triton/server_api.h"

namespace penstock::triton {

TRITONSERVER_DataType server_type(DType type);                  // INVALID for DType::none
DType element_type(TRITONSERVER_DataType type);                 // uint8 for BYTES: each element is a sample of bytes
const char* config_name(TRITONSERVER_DataType type);            // "TYPE_FP32", as config.pbtxt has it
TRITONSERVER_DataType type_of_config(const std::string& name);  // INVALID for an unknown name

}  // namespace penstock::triton
