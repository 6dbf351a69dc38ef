// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <exception>
#include <new>
#include <optional>

#include "base/error.h"

namespace penstock {

// The exception that `step` threw, as an Error (bad_alloc and others are converted); nothing if it succeeded.
template <class Step>
std::optional<Error> error_of(Step&& step) {
  try {
    step();
    return std::nullopt;
  } catch (const Error& e) {
    return e;
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::out_of_memory, "out of memory");
  } catch (const std::exception& e) {
    return Error(ErrorKind::internal, e.what());
  }
}

}  // namespace penstock
