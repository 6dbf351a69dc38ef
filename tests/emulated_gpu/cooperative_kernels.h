// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads work together, built into the emulated GPU from the sources that their texts are made of, so
// that sanitizers and fuzzers see them.
#pragma once
#include <string>

namespace penstock {

using CooperativeKernel = void (*)(const char* table);
// Null where `text` is not of one of these.
CooperativeKernel find_cooperative(const std::string& text, const std::string& entry);
void run_cooperative(CooperativeKernel kernel, long blocks, int threads, const char* table);

}  // namespace penstock
