// SPDX-License-Identifier: Apache-2.0
// A thread that compiles kernels while others run.
#pragma once
#include <future>
#include <optional>

#include "cuda/driver.h"

namespace penstock {

struct CompiledKernel {
  std::shared_ptr<const DeviceKernel> kernel;  // null: texts cannot be compiled here, and `why`
  std::string why;
  std::optional<Error> error;
};
// What Driver::kernel() gives, once it does; requests that are made at the same time for one text are one. The driver
// must live until then.
std::shared_future<CompiledKernel> compile_in_background(Driver& driver, int device, std::string text,
                                                         std::string entry);

}  // namespace penstock
