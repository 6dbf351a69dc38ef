// SPDX-License-Identifier: Apache-2.0
// The beginning of a kernel's text: the headers that operators' pixel functions, loads, stores and sources are written
// with, as text. Compiled by NVRTC (C++20, no includes) and, in the tests, by the host's compiler.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

struct VocabularyPart {
  const char* header;  // its path under src/
  const char* text;    // with its includes of other parts
};
// All of them in their order, or those before a header.
std::string text_of_parts(const std::vector<VocabularyPart>& parts, std::string_view before = {});
std::string without_includes(std::string_view text);
// Those that a text includes, in place of its #include lines: each once, at the first. `before`: parts that precede the
// text, and are left out.
std::string with_includes(const std::string& text, const std::vector<const std::vector<VocabularyPart>*>& parts,
                          const std::vector<VocabularyPart>* before = nullptr);

// In the order that a compiler needs. Generated at build time.
const std::vector<VocabularyPart>& vocabulary_parts();

// All of them, or without transcendental.h and taps.h, which take a fifth of the compiler's time.
const std::string& vocabulary(bool transcendental = true);
// Whether a text calls a function of transcendental.h or far_angles.h: each is up to hundreds of instructions.
bool calls_long_functions(std::string_view text);
// What follows it: a header of this folder ("groups.h"), after what that includes of the folder.
std::string kernel_source(const std::string& header);

}  // namespace penstock
