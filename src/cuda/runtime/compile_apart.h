// SPDX-License-Identifier: Apache-2.0
// NVRTC in a process of its own: a program may end while a kernel is being compiled (docs/decisions/0030).
#pragma once
#include "cuda/runtime/nvrtc.h"

namespace penstock {

// Whether the program for it, penstock_kernel_compiler, lies beside this library.
bool can_compile_apart();
// What nvrtc.compile() gives. A thread that stands in here touches nothing that an exit takes apart. Where no process
// can be begun, this one compiles. Thread-safe.
KernelImage compile_apart(const Nvrtc& nvrtc, const std::string& text, const std::string& entry,
                          const std::vector<std::string>& options);

}  // namespace penstock
