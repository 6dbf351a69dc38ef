// SPDX-License-Identifier: Apache-2.0
// What the text of a kernel begins with: the headers that operators' pixel functions, loads, stores and sources are
// written with, as text. Compiled by NVRTC (C++20, no includes) and, in the tests, by the host's compiler.
#pragma once
#include <string>
#include <vector>

namespace penstock {

struct VocabularyPart {
  const char* header;  // its path under src/
  const char* text;
};
// In the order in which a compiler wants them. Generated at build time.
const std::vector<VocabularyPart>& vocabulary_parts();

// All of them, or without transcendental.h and taps.h, which a fifth of the compiler's time goes to.
const std::string& vocabulary(bool transcendental = true);
// What whole operators are written with comes behind it: stored.h, philox.h.
const std::string& whole_vocabulary();

}  // namespace penstock
