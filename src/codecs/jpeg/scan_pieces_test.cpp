// SPDX-License-Identifier: Apache-2.0
// One image on several threads: the bytes, the errors and the index of one thread.
#include "codecs/jpeg/scan_pieces.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/thread_pool.h"
#include "codecs/jpeg/region_decoder.h"
#include "codecs/jpeg/test_decodes.h"
#include "codecs/test_images.h"

namespace penstock {

using namespace test;

namespace {

struct Case {
  File file;
  DecodeParams params;
  Region region;
  std::string text;
};

Decoded decode(const Case& c, JpegEngine engine, EntropyIndexAccess* index = nullptr) {
  return decode_by(engine, c.file, probe_image(c.file, c.params), c.params, c.region, index);
}

Decoded decode_on(ThreadPool& pool, const Case& c, JpegEngine engine, EntropyIndexAccess* index = nullptr) {
  while (pool.crew().idle() < pool.size() - 1) std::this_thread::yield();
  const CrewMember member(&pool.crew());
  return decode(c, engine, index);
}

Case random_case(std::mt19937& random) {
  JpegRecipe r;
  r.height = 420 + static_cast<int>(random() % 900), r.width = 420 + static_cast<int>(random() % 900);
  r.components = random() % 4 ? 3 : 1;
  r.stored = r.components == 3 ? JCS_YCbCr : JCS_GRAYSCALE;
  r.h = 1 + static_cast<int>(random() % 2), r.v = 1 + static_cast<int>(random() % 2);
  r.quality = 30 + static_cast<int>(random() % 69);
  if (random() % 4 == 0) r.restart_rows = 1 + static_cast<int>(random() % 3);
  else if (random() % 4 == 0) r.restart_mcus = 1 + static_cast<int>(random() % 300);
  r.optimized = random() % 3 == 0;
  r.long_codes = !r.optimized && random() % 5 == 0;
  r.progressive = random() % 8 == 0;
  r.arithmetic = !r.optimized && !r.long_codes && random() % 6 == 0;
  r.interleaved = r.long_codes || random() % 10 != 0;
  if (!r.long_codes && random() % 10 == 0) r.components = 4, r.stored = random() % 2 ? JCS_CMYK : JCS_YCCK;
  r.seed = random();
  Case c;
  c.file = make_jpeg(r);
  c.text = r.text();
  if (random() % 4 == 0) c.params.type = ImageType::gray;
  if (random() % 6 == 0) c.params.dtype = DType::float32;
  if (random() % 6 == 0) c.params.type = ImageType::ycbcr;
  const ImageInfo info = probe_image(c.file, c.params);
  c.region = {0, 0, info.height, info.width};
  if (random() % 2) {
    c.region.y = static_cast<int64_t>(random() % 200), c.region.x = static_cast<int64_t>(random() % 200);
    c.region.height -= c.region.y + static_cast<int64_t>(random() % 100);
    c.region.width -= c.region.x + static_cast<int64_t>(random() % 100);
  }
  return c;
}

TEST(JpegOnThreads, GivesTheBytesOfOneThread) {
  const RestoreJpegChoice restore;
  ThreadPool two(2), five(5);
  std::mt19937 random(11);
  for (int round = 0; round < 3 * test_count(); ++round) {
    const Case c = random_case(random);
    const Decoded want = decode(c, JpegEngine::automatic);
    ASSERT_EQ(want.error, "") << c.text;
    for (ThreadPool* pool : {&two, &five})
      ASSERT_TRUE(decode_on(*pool, c, JpegEngine::automatic) == want) << c.text << ", " << pool->size() << " threads";
  }
}

TEST(JpegOnThreads, MakesAndUsesTheIndexOfOneThread) {
  const RestoreJpegChoice restore;
  ThreadPool pool(4);
  std::mt19937 random(12);
  for (int round = 0; round < 2 * test_count(); ++round) {
    const Case c = random_case(random);
    KeptIndex one, several;
    one.step = several.step = 8;
    const Decoded want = decode(c, JpegEngine::automatic, &one);
    ASSERT_TRUE(decode_on(pool, c, JpegEngine::automatic, &several) == want) << c.text;
    ASSERT_EQ(one.offered, several.offered) << c.text;
    ASSERT_TRUE(one.index == several.index) << c.text;
    ASSERT_TRUE(decode_on(pool, c, JpegEngine::automatic, &several) == want) << c.text << ", with the index";
  }
}

// A segment before the scan that says that it has restart markers, so many MCUs apart.
void promise_restarts(File& file, uint16_t mcus) {
  const uint8_t segment[] = {0xFF, 0xDD, 0, 4, static_cast<uint8_t>(mcus >> 8), static_cast<uint8_t>(mcus)};
  for (size_t i = 2; i + 3 < file.size() && file[i] == 0xFF; i += 2 + 256 * file[i + 2] + file[i + 3])
    if (file[i + 1] == 0xDA) {
      file.insert(file.begin() + static_cast<ptrdiff_t>(i), std::begin(segment), std::end(segment));
      return;
    }
}

TEST(JpegOnThreads, JudgesDamageAsOneThreadDoes) {
  const RestoreJpegChoice restore;
  ThreadPool pool(4);
  std::mt19937 random(13);
  for (int round = 0; round < 4 * test_count(); ++round) {
    Case c = random_case(random);
    const size_t at = c.file.size() / 4 + random() % (c.file.size() * 3 / 4);
    if (round % 8 == 0) c.file.resize(at);
    else if (round % 8 == 4) promise_restarts(c.file, static_cast<uint16_t>(random() % 3 ? random() % 500 : random()));
    else if (round % 8 == 6) c.file.insert(c.file.end(), c.file.begin() + static_cast<ptrdiff_t>(at), c.file.end());
    else if (round % 4 == 1) c.file[at] ^= static_cast<uint8_t>(1 << random() % 8);
    else
      for (size_t i = at; i < std::min(c.file.size(), at + 1 + random() % 40); ++i)
        c.file[i] = static_cast<uint8_t>(random());
    KeptIndex one, several;
    one.step = several.step = round % 3 ? 0 : 8;
    const Decoded want = decode(c, JpegEngine::automatic, &one);
    const Decoded got = decode_on(pool, c, JpegEngine::automatic, &several);
    ASSERT_EQ(got.error, want.error) << c.text;
    ASSERT_TRUE(got.pixels == want.pixels) << c.text;
    ASSERT_EQ(one.offered, several.offered) << c.text;
    ASSERT_EQ(decode(c, JpegEngine::own).error, decode_on(pool, c, JpegEngine::own).error) << c.text;
  }
}

// What a guess notes after some MCUs is where MCUs begin, and its predictors lack the same number everywhere.
TEST(JpegGuesses, BecomeRight) {
  std::mt19937 random(14);
  jpeg::TableCache tables;
  jpeg::RegionDecoder decoder;
  std::vector<int16_t> kept(64 * (1001 * jpeg::kMostBlocks + 1));
  const auto bit_of = [](const jpeg::McuStart& note) { return note.bit; };
  for (int round = 0; round < 2 * test_count(); ++round) {
    JpegRecipe r;
    r.height = r.width = 1000 + static_cast<int>(random() % 300);
    r.components = round % 4 ? 3 : 1;
    r.stored = r.components == 3 ? JCS_YCbCr : JCS_GRAYSCALE;
    r.h = 1 + static_cast<int>(random() % 2), r.v = 1 + static_cast<int>(random() % 2);
    r.quality = 30 + static_cast<int>(random() % 69);
    r.optimized = random() % 3 == 0;
    r.seed = random();
    const File file = make_jpeg(r);
    ASSERT_EQ(decoder.prepare(file, nullptr, {}, {0, 0, r.height, r.width}, nullptr, tables, best_target()), nullptr);
    const jpeg::EntropyLoops& loops = jpeg::entropy_loops(best_target());
    jpeg::EntropyStream stream;
    std::vector<jpeg::McuStart> right, notes;
    stream.begin(decoder.plan(), decoder.scan(),
                 {.start = {}, .mcus = decoder.plan().header->mcus(), .stop = INT64_MAX, .notes = &right});
    loops.run_one(stream);
    ASSERT_FALSE(stream.failed()) << r.text();
    for (int turn = 0; turn < 5; ++turn) {
      jpeg::McuStart from;
      from.bit = static_cast<int64_t>(random() % (decoder.scan().size * 4));  // in its first half
      do {
        notes.clear();
        std::ranges::fill(kept, int16_t{0});
        stream.begin(decoder.plan(), decoder.scan(),
                     {.start = from, .mcus = 1000, .stop = INT64_MAX, .kept = kept.data(), .notes = &notes});
        loops.run_one(stream);
        from.bit = notes.back().bit + 8;
      } while (stream.failed() && from.bit < static_cast<int64_t>(decoder.scan().size * 8));
      ASSERT_EQ(notes.size(), 1000U) << r.text();
      for (size_t k = 600; k < notes.size(); ++k) {
        const auto same = std::ranges::lower_bound(right, notes[k].bit, {}, bit_of);
        ASSERT_TRUE(same != right.end() && same->bit == notes[k].bit) << r.text() << ", note " << k;
        const auto first = std::ranges::lower_bound(right, notes[600].bit, {}, bit_of);
        for (int c = 0; c < 3; ++c)
          ASSERT_EQ(same->dc[c] - notes[k].dc[c], first->dc[c] - notes[600].dc[c]) << r.text();
      }
    }
  }
}

}  // namespace
}  // namespace penstock
