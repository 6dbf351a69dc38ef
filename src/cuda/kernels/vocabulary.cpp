// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/vocabulary.h"

#include <algorithm>
#include <cctype>

namespace penstock {
namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The names before a parenthesis; `of` is called with each and the text before it.
template <class F> void each_called(std::string_view text, const F& of) {
  for (size_t at = text.find('('); at != text.npos; at = text.find('(', at + 1)) {
    size_t begin = at;
    while (begin > 0 && in_name(text[begin - 1])) --begin;
    if (begin < at) of(text.substr(begin, at - begin), text.substr(0, begin));
  }
}

std::vector<std::string_view> long_functions() {
  std::vector<std::string_view> names;
  for (const VocabularyPart& part : vocabulary_parts()) {
    const std::string_view header = part.header;
    if (header != "pixel/transcendental.h" && header != "pixel/far_angles.h") continue;
    each_called(part.text, [&](std::string_view name, std::string_view before) {
      if ((before.ends_with("inline double ") || before.ends_with("PENSTOCK_LOOPED double ")) &&
          !name.starts_with("is_"))
        names.push_back(name);
    });
  }
  return names;
}

}  // namespace

bool calls_long_functions(std::string_view text) {
  static const auto& names = *new std::vector<std::string_view>(long_functions());
  bool found = false;
  each_called(text, [&](std::string_view name, std::string_view) {
    found = found || std::find(names.begin(), names.end(), name) != names.end();
  });
  return found;
}

// Generated at build time.
const std::vector<VocabularyPart>& kernel_source_parts();

const std::string& vocabulary(bool transcendental) {
  // Never destroyed: threads may compile while the program ends.
  static const auto& basic = *new std::string(text_of_parts(vocabulary_parts(), "pixel/transcendental32.h"));
  static const auto& all = *new std::string(text_of_parts(vocabulary_parts(), "pixel/stored.h"));
  return transcendental ? all : basic;
}

std::string kernel_source(const std::string& header) {
  return with_includes("#include \"cuda/kernels/" + header + "\"\n", {&kernel_source_parts()}, &vocabulary_parts());
}

}  // namespace penstock
