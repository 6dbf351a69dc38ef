// SPDX-License-Identifier: Apache-2.0
// Texts from parts, for programs that have only some of the parts.
#include <set>

#include "base/error.h"
#include "cuda/kernels/vocabulary.h"

namespace penstock {
namespace {

// Calls put(line, header) for each line, with its line break; `header` is what the line includes, or empty.
template <class Put> void each_line(std::string_view text, const Put& put) {
  constexpr std::string_view kInclude = "#include \"";
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n') == text.npos ? text.npos : text.find('\n') + 1);
    std::string_view header;
    if (line.starts_with(kInclude)) header = line.substr(kInclude.size(), line.rfind('"') - kInclude.size());
    put(line, header);
    text.remove_prefix(line.size());
  }
}

class Includes {
 public:
  Includes(const std::vector<const std::vector<VocabularyPart>*>& parts, const std::vector<VocabularyPart>* before)
      : parts_(parts) {
    if (!before) return;
    for (const VocabularyPart& p : *before) seen_.insert(p.header);
  }
  void add(std::string_view text) {
    each_line(text, [&](std::string_view line, std::string_view header) {
      if (header.empty()) all += line;
      else if (seen_.insert(header).second) add(text_of(header));
    });
  }
  std::string all;

 private:
  const char* text_of(std::string_view header) const {
    for (const auto* parts : parts_)
      for (const VocabularyPart& p : *parts)
        if (p.header == header) return p.text;
    fail(ErrorKind::internal, "a kernel includes {}, which is not embedded", header);
  }
  const std::vector<const std::vector<VocabularyPart>*>& parts_;
  std::set<std::string_view> seen_;
};

}  // namespace

std::string text_of_parts(const std::vector<VocabularyPart>& parts, std::string_view before) {
  std::string text;
  for (const VocabularyPart& p : parts) {
    if (p.header == before) break;
    text += without_includes(p.text);
  }
  return text;
}

std::string without_includes(std::string_view text) {
  std::string rest;
  each_line(text, [&](std::string_view line, std::string_view header) {
    if (header.empty()) rest += line;
  });
  return rest;
}

std::string with_includes(const std::string& text, const std::vector<const std::vector<VocabularyPart>*>& parts,
                          const std::vector<VocabularyPart>* before) {
  Includes includes(parts, before);
  includes.add(text);
  return includes.all;
}

}  // namespace penstock
