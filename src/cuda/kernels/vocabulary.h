// SPDX-License-Identifier: Apache-2.0
// The beginning of a kernel's text: the headers that operators' pixel functions, loads, stores and sources are written
// with, as text. Compiled by NVRTC (C++20, no includes) and, in the tests, by the host's compiler.
#pragma once
#include <string>
#include <vector>

namespace penstock {

struct VocabularyPart {
  const char* header;  // its path under src/
  const char* text;
};
// In the order that a compiler needs. Generated at build time.
const std::vector<VocabularyPart>& vocabulary_parts();

// All of them, or without transcendental.h and taps.h, which take a fifth of the compiler's time.
const std::string& vocabulary(bool transcendental = true);
// The additional headers for whole operators: stored.h, philox.h. They follow vocabulary().
const std::string& whole_vocabulary();

}  // namespace penstock
