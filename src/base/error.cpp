// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <algorithm>
#include <numeric>

namespace penstock {

std::string Error::full_message() const {
  std::string text;
  // A form has its operator's name, '@' and a word (operator/forms.h).
  if (!op.empty()) text += "[" + std::string(op.begin(), std::find(op.begin(), op.end(), '@')) + "] ";
  text += what();
  if (!source.empty())
    text += (source.starts_with("sample ") ? " (" : " (file: ") + source + ")";  // not every source is a file
  if (!user_line.empty()) text += "\n  at " + user_line;
  return text;
}

static size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t up = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = up;
    }
  }
  return row[b.size()];
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  size_t distance = std::max<size_t>(3, name.size() / 2);
  for (const auto& k : known)
    if (const size_t d = edit_distance(name, k); d < distance) distance = d, best = &k;
  return best ? ", did you mean '" + *best + "'?" : "";
}

}  // namespace penstock
