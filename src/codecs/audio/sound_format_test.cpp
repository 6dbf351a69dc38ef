// SPDX-License-Identifier: Apache-2.0
// What follows from the registration of formats of sound.
#include "codecs/audio/sound_format.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "codecs/file_formats.h"

namespace penstock {
namespace {

TEST(SoundFormat, FormatsStandInOneOrder) {
  std::vector<std::string_view> ids;
  for (const SoundFormat* f : sound_formats()) ids.push_back(f->id);
  EXPECT_EQ(ids, (std::vector<std::string_view>{"wav", "flac", "ogg", "mp3"}));
  EXPECT_EQ(shown_names(FileFormat::sound), "WAV, FLAC, Ogg and MP3");
}

TEST(SoundFormat, EachSaysAllThatListsNeed) {
  for (const SoundFormat* f : sound_formats()) {
    EXPECT_FALSE(f->title.empty() || f->suffixes.empty() || !f->find || !f->open) << f->id;
    for (const std::string_view s : f->suffixes) EXPECT_EQ(format_of_name("A" + std::string(s)).id, f->id);
    for (const std::string_view s : f->read_by_default.suffixes())
      EXPECT_NE(std::ranges::find(f->suffixes, s), f->suffixes.end()) << s;
  }
}

TEST(SoundFormatDeathTest, TwoFormatsOfOneIdPlaceOrSuffixEndTheProgram) {
  EXPECT_DEATH(register_sound_format({.id = "wav", .place = 1000}), "two sound formats have the same id: wav and wav");
  EXPECT_DEATH(register_sound_format({.id = "new", .place = 20}), "the same place: new and flac");
  EXPECT_DEATH(register_sound_format({.id = "new", .place = 1000, .suffixes = {".oga"}}),
               "the same suffix: new and ogg");
}

// Frames of 24 bytes: layer III of MPEG 2 at 8 kbit/s and 24 kHz.
std::vector<uint8_t> mpeg_frames(int count) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < count; ++i) {
    bytes.insert(bytes.end(), {0xFF, 0xF3, 0x14, 0xC4});
    bytes.insert(bytes.end(), 20, 0);
  }
  return bytes;
}

std::vector<uint8_t> joined(std::vector<uint8_t> a, const std::vector<uint8_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(SoundFormat, ItsFirstByteIsFound) {
  const auto begin_of = [](std::string_view id, const std::vector<uint8_t>& file) -> int64_t {
    const FoundSound found = find_sound(file);
    if (id.empty() || !found.format) return found.format || !id.empty() ? -1 : 0;
    EXPECT_EQ(found.format->id, id);
    EXPECT_EQ(found.bytes.data() + found.bytes.size(), file.data() + file.size());
    return found.bytes.data() - file.data();
  };
  const std::vector<uint8_t> frames = mpeg_frames(5), tag{'I', 'D', '3', 4, 0, 0, 0, 0, 0, 2, 7, 7}, noise(100, 9);
  const std::vector<uint8_t> flac{'f', 'L', 'a', 'C', 0, 0};
  EXPECT_EQ(begin_of("mp3", frames), 0);
  EXPECT_EQ(begin_of("mp3", joined(tag, frames)), 0);  // the decoder reads the tag
  EXPECT_EQ(begin_of("mp3", joined(noise, frames)), 100);
  EXPECT_EQ(begin_of("mp3", joined(joined(tag, noise), frames)), 112);
  EXPECT_EQ(begin_of("mp3", joined(tag, noise)), 0);
  EXPECT_EQ(begin_of("flac", flac), 0);
  EXPECT_EQ(begin_of("flac", joined(tag, flac)), 12);
  EXPECT_EQ(begin_of("", noise), 0);
  EXPECT_EQ(begin_of("", {}), 0);
}

int searches = 0, opened_at = -1;

TEST(SoundFormatDeathTest, AFileIsSearchedOnce) {
  const auto open_a_file = [] {
    register_sound_format(
        {.id = "new",
         .place = 1000,
         .find = [](AudioBytes file) { return ++searches, has_at(file, 2, "new") ? file.subspan(2) : AudioBytes{}; },
         .open =
             [](AudioBytes found) {
               opened_at = has_at(found, 0, "new");
               return std::unique_ptr<AudioFile>();
             }});
    const std::vector<uint8_t> file{1, 2, 'n', 'e', 'w'};
    open_audio(file);
    std::exit(searches == 1 && opened_at == 1 ? 0 : 1);
  };
  EXPECT_EXIT(open_a_file(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace penstock
