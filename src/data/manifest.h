// SPDX-License-Identifier: Apache-2.0
// Manifests of recordings as NVIDIA NeMo writes them: a JSON object on each line.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

struct ManifestEntry {
  std::string audio;               // path of the recording
  std::string text;                // the transcript
  double offset = 0;               // seconds, start of the part
  double duration = -1;            // seconds; -1: to the end of the recording
  int64_t line = 0;                // line number in the manifest, from 1
  std::vector<std::string> texts;  // the other fields that were requested
  std::vector<double> numbers;
};

// Other fields of a line. A text is a string as it is and any other value as JSON, a number a number or NaN; a line
// without the field has "" or NaN.
struct ManifestFields {
  std::vector<std::string> texts, numbers;
};

// Blank lines are skipped. Error (data) with the manifest's path, the line and the cause: not an
// object, no audio_filepath, a value of the wrong type, a number that is not finite. Fields that are not requested are
// ignored.
std::vector<ManifestEntry> parse_manifest(std::string_view text, const std::string& path,
                                          const ManifestFields& fields = {});

}  // namespace penstock
