// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace penstock {

static constexpr const char* kNames[kTypes] = {"uint8", "uint16",  "uint32",  "uint64",  "int8", "int16", "int32",
                                               "int64", "float16", "float32", "float64", "bool", "",      "bfloat16"};

const char* name_of(DType t) { return t == DType::none ? "none" : kNames[static_cast<int>(t)]; }

DType dtype_from_name(const std::string& s) {
  std::vector<std::string> names;
  for (int i = 0; i < kTypes; ++i) {
    if (!is_type(i)) continue;
    if (s == kNames[i]) return static_cast<DType>(i);
    names.emplace_back(kNames[i]);
  }
  if (s == "float") return DType::float32;
  const std::string near = did_you_mean(s, names);
  bad_type("'{}' is not an element type{}", s, near.empty() ? ", such as 'uint8' or 'float32'" : near);
}

void fail_dispatch(DType t) {
  if (t == DType::bfloat16) bad_type("does not compute with bfloat16: cast to float32 or float16 first");
  fail(ErrorKind::internal, "a value without an element type");
}

}  // namespace penstock
