// SPDX-License-Identifier: Apache-2.0
// A thread that compiles kernels while others run. Nobody ever waits for its end: a program that ends leaves it as it
// is, whatever it does (docs/decisions/0030).
#pragma once
#include <future>
#include <optional>

#include "base/error.h"
#include "cuda/runtime/driver.h"

namespace penstock {

// Ready when Driver::compilation() has finished, with its error if it failed; invalid if there is nothing to do and
// Driver::kernel() returns at once. Simultaneous requests for one text are combined. The driver must live until then.
std::shared_future<std::optional<Error>> compile_in_background(Driver& driver, int device, const std::string& text,
                                                               const std::string& entry);

}  // namespace penstock
