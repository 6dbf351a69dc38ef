// SPDX-License-Identifier: Apache-2.0
// Kernels whose texts are known when the library is built. If nvcc is found, they are compiled then, and
// Driver::kernel() finds them by their text: they run without NVRTC, and at once. cmake/gpu.cmake lists the same names.
#pragma once
#include <span>
#include <string>

namespace penstock {

struct PrebuiltText {
  const char* name;
  const std::string& (*text)();  // self-contained, with one or more entries
};
std::span<const PrebuiltText> prebuilt_texts();

}  // namespace penstock
