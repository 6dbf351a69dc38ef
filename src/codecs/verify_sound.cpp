// SPDX-License-Identifier: Apache-2.0
#include "codecs/verify_sound.h"

#include "base/error_of.h"
#include "codecs/audio/ogg_packets.h"

namespace penstock {

std::vector<Finding> verify_sound(AudioBytes file, const std::string& name) {
  std::vector<Finding> found;
  const char* format = sniff_sound(file);
  compare_name(name, format ? format : "", found);
  if (!format) return {{"format", error_of([&] { open_audio(file); }).value().what()}};
  const OggEnd end = format == std::string_view("ogg") ? ogg_end(file) : OggEnd::marked;
  const char* otherwise = end == OggEnd::cut ? "truncated" : "header";
  std::unique_ptr<AudioFile> opened;
  try {
    opened = open_audio(file);
    if (end != OggEnd::cut) otherwise = "damaged";
    opened->decode([](const AudioSamples&, int64_t) {});
  } catch (const Error& e) {
    found.push_back(finding_of(e, otherwise));
    return found;
  }
  if (const std::string missing = opened->missing(); !missing.empty()) found.push_back({"truncated", missing});
  else if (end == OggEnd::cut) found.push_back({"truncated", "the data ends inside a page"});
  else if (end == OggEnd::unmarked) found.push_back({"no end", "the last page does not say that the stream ends"});
  return found;
}

}  // namespace penstock
