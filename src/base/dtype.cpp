// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

#include "base/error.h"

namespace penstock {

static constexpr const char* kNames[] = {"uint8", "uint16", "uint32",  "uint64",  "int8",    "int16",
                                         "int32", "int64",  "float16", "float32", "float64", "bool"};

const char* name_of(DType t) { return t == DType::none ? "none" : kNames[static_cast<int>(t)]; }

DType dtype_from_name(const std::string& s) {
  for (int i = 0; i < 12; ++i)
    if (s == kNames[i]) return static_cast<DType>(i);
  if (s == "float") return DType::float32;
  const std::string near = did_you_mean(s, {std::begin(kNames), std::end(kNames)});
  bad_type("'{}' is not an element type{}", s, near.empty() ? ", such as 'uint8' or 'float32'" : near);
}

void fail_no_dtype() { fail(ErrorKind::internal, "a value without an element type"); }

}  // namespace penstock
