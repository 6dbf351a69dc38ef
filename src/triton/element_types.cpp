// SPDX-License-Identifier: Apache-2.0
#include "triton/element_types.h"

#include <iterator>

namespace penstock::triton {
namespace {

struct Row {
  TRITONSERVER_DataType server;
  DType own;
  const char* name;
};
constexpr Row kTypes[] = {
    {TRITONSERVER_TYPE_BOOL, DType::bool_, "TYPE_BOOL"},
    {TRITONSERVER_TYPE_UINT8, DType::uint8, "TYPE_UINT8"},
    {TRITONSERVER_TYPE_UINT16, DType::uint16, "TYPE_UINT16"},
    {TRITONSERVER_TYPE_UINT32, DType::uint32, "TYPE_UINT32"},
    {TRITONSERVER_TYPE_UINT64, DType::uint64, "TYPE_UINT64"},
    {TRITONSERVER_TYPE_INT8, DType::int8, "TYPE_INT8"},
    {TRITONSERVER_TYPE_INT16, DType::int16, "TYPE_INT16"},
    {TRITONSERVER_TYPE_INT32, DType::int32, "TYPE_INT32"},
    {TRITONSERVER_TYPE_INT64, DType::int64, "TYPE_INT64"},
    {TRITONSERVER_TYPE_FP16, DType::float16, "TYPE_FP16"},
    {TRITONSERVER_TYPE_FP32, DType::float32, "TYPE_FP32"},
    {TRITONSERVER_TYPE_FP64, DType::float64, "TYPE_FP64"},
    {TRITONSERVER_TYPE_BF16, DType::bfloat16, "TYPE_BF16"},
    {TRITONSERVER_TYPE_BYTES, DType::uint8, "TYPE_STRING"},  // the last one: uint8 is UINT8 first
};

}  // namespace

TRITONSERVER_DataType server_type(DType type) {
  for (const Row& r : kTypes)
    if (r.own == type) return r.server;
  return TRITONSERVER_TYPE_INVALID;
}

DType element_type(TRITONSERVER_DataType type) {
  for (const Row& r : kTypes)
    if (r.server == type) return r.own;
  return DType::none;
}

const char* config_name(TRITONSERVER_DataType type) {
  for (const Row& r : kTypes)
    if (r.server == type) return r.name;
  return "TYPE_INVALID";
}

TRITONSERVER_DataType type_of_config(const std::string& name) {
  for (const Row& r : kTypes)
    if (name == r.name) return r.server;
  return TRITONSERVER_TYPE_INVALID;
}

}  // namespace penstock::triton
