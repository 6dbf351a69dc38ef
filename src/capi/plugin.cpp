// SPDX-License-Identifier: Apache-2.0
#include "base/plugin.h"

#include "capi/edge.h"

using namespace penstock;

penstock_status penstock_load_library(const char* path) {
  return guarded([&] { load_plugin(&required(path, "the path of the library")); });
}
