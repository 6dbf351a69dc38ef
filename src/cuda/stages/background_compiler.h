// SPDX-License-Identifier: Apache-2.0
// A thread that compiles kernels while others run. Nobody ever waits for its end: a program that ends leaves it
// standing, in whatever it does (docs/decisions/0030).
#pragma once
#include <future>
#include <optional>

#include "base/error.h"
#include "cuda/runtime/driver.h"

namespace penstock {

// Ready when Driver::compilation() has been done, with what it failed by; invalid where there is nothing to do, and
// Driver::kernel() answers at once. Requests that are made at the same time for one text are one. The driver must live
// until then.
std::shared_future<std::optional<Error>> compile_in_background(Driver& driver, int device, const std::string& text,
                                                               const std::string& entry);

}  // namespace penstock
