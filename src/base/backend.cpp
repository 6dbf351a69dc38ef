// SPDX-License-Identifier: Apache-2.0
#include "base/backend.h"

#include "base/error.h"

namespace penstock {

static std::unique_ptr<Backend>& slot(DeviceKind kind) {
  static std::unique_ptr<Backend> backends[2];
  return backends[static_cast<int>(kind)];
}

void register_backend(DeviceKind kind, std::unique_ptr<Backend> b) { slot(kind) = std::move(b); }

Backend& backend(DeviceKind kind) {
  if (auto& b = slot(kind)) return *b;
  fail(ErrorKind::internal, "no backend for this device is built in");
}

}  // namespace penstock
