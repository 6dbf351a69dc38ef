// SPDX-License-Identifier: Apache-2.0
#include "codecs/verify_sound.h"

#include "base/error_of.h"
#include "codecs/audio/sound_format.h"

namespace penstock {

std::vector<Finding> verify_sound(AudioBytes file, const std::string& name, const FoundSound& sound) {
  std::vector<Finding> found;
  const SoundFormat* format = sound.format;
  compare_name(name, format ? format->id : "", found);
  if (!format) return {{"format", error_of([&] { open_audio(file); }).value().what()}};
  const OwnEnd end = format->own_end ? format->own_end(file) : OwnEnd{};
  const char* otherwise = end.kind == OwnEnd::cut ? "truncated" : "header";
  std::unique_ptr<AudioFile> opened;
  try {
    opened = format->open(sound.bytes);
    if (end.kind != OwnEnd::cut) otherwise = "damaged";
    opened->decode([](const AudioSamples&, int64_t) {});
  } catch (const Error& e) {
    found.push_back(finding_of(e, otherwise));
    return found;
  }
  if (const std::string missing = opened->missing(); !missing.empty()) found.push_back({"truncated", missing});
  else if (end.kind == OwnEnd::cut) found.push_back({"truncated", "the data ends inside a page"});
  else if (end.kind == OwnEnd::missing) found.push_back({"no end", "the last page does not say that the stream ends"});
  return found;
}

}  // namespace penstock
