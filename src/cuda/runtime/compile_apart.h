// SPDX-License-Identifier: Apache-2.0
// NVRTC in a separate process: a program may end while a kernel is being compiled (docs/decisions/0030).
#pragma once
#include "cuda/runtime/nvrtc.h"

namespace penstock {

// Whether the program for it, penstock_kernel_compiler, is beside this library.
bool can_compile_apart();
// Returns what nvrtc.compile() would. A thread that waits here uses nothing that an exit destroys. If no process can be
// started, this process compiles. Thread-safe.
KernelImage compile_apart(const Nvrtc& nvrtc, const std::string& text, const std::string& entry,
                          const std::vector<std::string>& options);

}  // namespace penstock
