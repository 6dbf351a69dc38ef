// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "data/manifest.h"

#include <cmath>

#include "data/storage.h"

namespace penstock {

namespace {

constexpr int kMostNesting = 32;  // for the fields that are ignored; a hostile line could exhaust the stack

ManifestEntry entry_of(std::string_view line, const ManifestFields& fields) {
  bool deep = false;
  const auto j = nlohmann::json::parse(
      line,
      [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        deep |= depth > kMostNesting;
        return !deep;
      },
      false);
  if (deep) bad_data("it nests deeper than {}", kMostNesting);
  if (!j.is_object()) bad_data("it is not a JSON object");
  ManifestEntry e;
  const auto text = [&](const char* name, std::string& to, bool needed) {
    const auto f = j.find(name);
    if (f == j.end() || f->is_null()) {
      if (needed) bad_data("it has no {}", name);
      return;
    }
    if (!f->is_string()) bad_data("{} is not a string", name);
    to = f->get<std::string>();
  };
  const auto number = [&](const char* name, double& to) {
    const auto f = j.find(name);
    if (f == j.end() || f->is_null()) return;
    if (!f->is_number() || !std::isfinite(f->get<double>())) bad_data("{} is not a number", name);
    to = f->get<double>();
  };
  text("audio_filepath", e.audio, true);
  if (e.audio.empty() || e.audio.find('\0') != std::string::npos) bad_data("audio_filepath is not a path");
  text("text", e.text, false);
  number("offset", e.offset);
  number("duration", e.duration);
  for (const auto& name : fields.texts) {
    const auto f = j.find(name);
    const bool there = f != j.end() && !f->is_null();
    e.texts.push_back(!there ? "" : f->is_string() ? f->get<std::string>() : f->dump());
  }
  for (const auto& name : fields.numbers) number(name.c_str(), e.numbers.emplace_back(std::nan("")));
  return e;
}

}  // namespace

std::vector<ManifestEntry> parse_manifest(std::string_view text, const std::string& path,
                                          const ManifestFields& fields) {
  std::vector<ManifestEntry> entries;
  int64_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1, ++number;
    if (line.find_first_not_of(" \t\r\f\v") == std::string_view::npos) continue;
    try {
      entries.push_back(entry_of(line, fields));
    } catch (const Error& e) {
      fail_on(path, ErrorKind::data, "line {}: {}", number, e.what());
    }
    entries.back().line = number;
  }
  return entries;
}

}  // namespace penstock
