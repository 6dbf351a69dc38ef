// SPDX-License-Identifier: Apache-2.0
// Manifests of recordings as NVIDIA NeMo writes them: a JSON object on each line.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

struct ManifestEntry {
  std::string audio;     // path of the recording
  std::string text;      // what is said
  double offset = 0;     // seconds, where the part begins
  double duration = -1;  // seconds of it; -1: to the recording's end
  int64_t line = 0;      // in the manifest, from 1
};

// Lines of white space are nothing. Error (data) with the manifest's path, the line and what is wrong with it: no
// object, no audio_filepath, a value of another type, a number that is not finite. Other fields are not looked at.
std::vector<ManifestEntry> parse_manifest(std::string_view text, const std::string& path);

}  // namespace penstock
