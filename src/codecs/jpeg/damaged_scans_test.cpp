// SPDX-License-Identifier: Apache-2.0
// Damaged JPEG files must give what libjpeg-turbo alone gives, pixels or error; forged indexes must do no harm.
#include <gtest/gtest.h>

#include <ctime>
#include <memory>

#include "codecs/jpeg/test_decodes.h"
#include "codecs/test_images.h"

namespace penstock {

using namespace test;

namespace {

// Exactly as long as the data, so that the sanitizer sees a read past the end.
struct ExactFile {
  explicit ExactFile(const File& f) : memory(new uint8_t[f.size()]), bytes(memory.get(), f.size()) {
    std::copy(f.begin(), f.end(), memory.get());
  }
  std::unique_ptr<uint8_t[]> memory;
  Bytes bytes;
};

Decoded decode(JpegEngine engine, Bytes file, const ImageInfo& info, const Region& region,
               EntropyIndexAccess* index = nullptr) {
  return decode_by(engine, file, info, {}, region, index);
}

std::vector<File> good_scans() {
  std::vector<File> files;
  const int samplings[][2] = {{2, 2}, {1, 1}, {2, 1}, {1, 2}};
  for (int i = 0; i < 12; ++i) {
    JpegRecipe r;
    r.height = 40 + i * 9, r.width = 131 - i * 7;
    r.h = samplings[i % 4][0], r.v = samplings[i % 4][1];
    r.components = i == 5 ? 1 : 3;
    r.quality = 60 + i * 3;
    r.restart_mcus = i % 3 == 1 ? 2 + i : 0;
    r.optimized = i % 4 == 2;
    r.seed = i;
    files.push_back(make_jpeg(r));
  }
  return files;
}

void damage_scan(File& file, std::mt19937& random) {
  const int kind = random() % 8, times = 1 + random() % 3;
  for (int i = 0; i < times && !file.empty(); ++i) {
    const size_t head = std::min<size_t>(file.size(), 640);
    const size_t at = random() % 8 ? head + random() % (file.size() - head + 1) : random() % head;
    if (at >= file.size()) continue;
    if (kind <= 2) file[at] ^= 1 << random() % 8;
    if (kind == 3) file[at] = random();
    if (kind == 4) file[at] = 0xFF;
    if (kind == 5) file.resize(std::max<size_t>(at, 3));
    if (kind == 6) file.erase(file.begin() + at, file.begin() + std::min(file.size(), at + random() % 30));
    if (kind == 7 && at + 1 < file.size()) file[at] = 0xFF, file[at + 1] = 0xD0 + random() % 10;
  }
}

TEST(DamagedScans, GiveWhatLibjpegTurboGives) {
  const RestoreJpegChoice restore;
  const auto good = good_scans();
  std::mt19937 random(5);
  int ours = 0, refused = 0, wrong = 0;
  const int rounds = 150 * test_count();
  for (int i = 0; i < rounds; ++i) {
    File damaged = good[i % good.size()];
    damage_scan(damaged, random);
    const ExactFile file(damaged);
    jpeg_choice().target = static_cast<Target>(random() % (static_cast<int>(best_target()) + 1));
    ImageInfo info;
    DecodeParams params;
    params.max_pixels = 1 << 18;
    try {
      info = probe_image(file.bytes, params);
    } catch (const Error&) {
      continue;
    }
    Region region{0, 0, info.height, info.width};
    if (i % 4) {
      region.height = 1 + random() % info.height, region.width = 1 + random() % info.width;
      region.y = random() % (info.height - region.height + 1);
      region.x = random() % (info.width - region.width + 1);
    }
    const Decoded want = decode(JpegEngine::libjpeg_turbo, file.bytes, info, region);
    const Decoded got = decode(JpegEngine::automatic, file.bytes, info, region);
    ours += decode(JpegEngine::own, file.bytes, info, region).error.empty();
    refused += !want.error.empty();
    if (got != want && ++wrong < 10)
      ADD_FAILURE() << "round " << i << ", region (" << region.y << ", " << region.x << ") + (" << region.height << ", "
                    << region.width << ") of " << info.height << " x " << info.width << ": '" << got.error
                    << "' instead of '" << want.error << "'";
    // In turn with a good file, while an index is made: neither may change the other.
    KeptIndex making;
    making.step = 1 + random() % 5;
    jpeg_choice().engine = JpegEngine::automatic;
    const File& other = good[(i + 1) % good.size()];
    const ImageInfo other_info = probe_image(other, params);
    const Region all{0, 0, other_info.height, other_info.width};
    Decoded a, b;
    DecodeTask tasks[2] = {task_into(a, file.bytes, info, {}, region, &making),
                           task_into(b, other, other_info, {}, all)};
    decode_images(tasks);
    finish(tasks[0], a);
    EXPECT_TRUE(a == want) << "round " << i << " in turn: '" << a.error << "' instead of '" << want.error << "'";
    EXPECT_FALSE(tasks[1].error);
    if (i < 100) {
      EXPECT_TRUE(b == decode(JpegEngine::libjpeg_turbo, other, other_info, all));
    }
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_EQ(wrong, 0);
  RecordProperty("decoded_by_ours", ours);
  RecordProperty("refused", refused);
  EXPECT_GT(ours, rounds / 20);
  EXPECT_GT(refused, rounds / 50);
}

// Data that ends a few bits before the last block does, followed by a marker.
TEST(DamagedScans, AFewBitsMissingBeforeAMarker) {
  const RestoreJpegChoice restore;
  for (const File& good : good_scans()) {
    const ImageInfo info = probe_image(good, {});
    const Region all{0, 0, info.height, info.width}, last{info.height - 1, 0, 1, info.width};
    for (size_t missing = 1; missing <= 24; ++missing) {
      File file(good.begin(), good.end() - 2 - missing);
      if (file.empty() || file.back() == 0xFF) continue;
      file.push_back(0xFF), file.push_back(0xD9);
      const ExactFile exact(file);
      for (const Region& region : {all, last})
        EXPECT_TRUE(decode(JpegEngine::automatic, exact.bytes, info, region) ==
                    decode(JpegEngine::libjpeg_turbo, exact.bytes, info, region))
            << missing << " bytes";
      EXPECT_NE(decode(JpegEngine::own, exact.bytes, info, all).error, "") << missing << " bytes";
    }
  }
}

void forge(EntropyIndex& ix, std::mt19937& random) {
  const int times = 1 + random() % 4;
  for (int i = 0; i < times; ++i) {
    EntropyPoint* p = ix.points.empty() ? nullptr : &ix.points[random() % ix.points.size()];
    switch (random() % 12) {
      case 0:
        if (p) p->bit ^= 1u << random() % 32;
        break;
      case 1:
        if (p) p->bit = random();
        break;
      case 2:
        if (p) p->bit += random() % 64;
        break;
      case 3:
        if (p) p->dc[random() % 3] ^= 1 << random() % 16;
        break;
      case 4:
        if (p) std::swap(*p, ix.points[random() % ix.points.size()]);
        break;
      case 5: ix.scan_bytes += static_cast<int>(random() % 9) - 4; break;
      case 6: ix.step = random() % 3 ? static_cast<int>(random() % 5) - 1 : static_cast<int>(random()); break;
      case 7: (random() % 2 ? ix.rows : ix.columns) += static_cast<int>(random() % 3) - 1; break;
      case 8: ix.points.resize(random() % (ix.points.size() + 3)); break;
      case 9: ix.file_bytes = random(); break;
      case 10:
        for (EntropyPoint& q : ix.points) q.bit = 0;
        break;
      case 11:
        for (EntropyPoint& q : ix.points) q.bit = ix.scan_bytes * 8;
        break;
    }
  }
}

TEST(ForgedIndexes, NeverHarm) {
  const RestoreJpegChoice restore;
  const auto good = good_scans();
  std::mt19937 random(6);
  int wrong = 0;
  const int rounds = 150 * test_count();
  for (int i = 0; i < rounds; ++i) {
    const ExactFile file(good[i % good.size()]);
    jpeg_choice().target = static_cast<Target>(random() % (static_cast<int>(best_target()) + 1));
    const ImageInfo info = probe_image(file.bytes, {});
    Region region;
    region.height = 1 + random() % info.height, region.width = 1 + random() % info.width;
    region.y = random() % (info.height - region.height + 1);
    region.x = random() % (info.width - region.width + 1);
    KeptIndex index;
    index.step = 1 + random() % 8;
    const Decoded want = decode(JpegEngine::own, file.bytes, info, region, &index);
    ASSERT_EQ(want.error, "");
    ASSERT_EQ(index.offered, 1);
    index.has = true;
    ASSERT_TRUE(decode(JpegEngine::own, file.bytes, info, region, &index) == want);
    EXPECT_EQ(index.offered, 1) << "a correct index was not used";
    forge(index.index, random);
    const Decoded got = decode(JpegEngine::own, file.bytes, info, region, &index);
    EXPECT_EQ(got.error, "") << "the file is good, whatever the index says";
    wrong += got != want;
  }
  // Checksums keep damage out; a decoder alone notices most of it.
  RecordProperty("wrong_pixels", wrong);
  EXPECT_LT(wrong, rounds / 5);
}

// Points that send each row over the whole file would make the work quadratic.
TEST(ForgedIndexes, CostNoMoreThanTheFile) {
  const RestoreJpegChoice restore;
  JpegRecipe r;
  r.height = 2000, r.width = 64;
  const File file = make_jpeg(r);
  const ImageInfo info = probe_image(file, {});
  const Region all{0, 0, info.height, info.width};
  KeptIndex index;
  index.step = 100;
  const Decoded want = decode(JpegEngine::own, file, info, all, &index);
  index.has = true;
  const EntropyIndex right = index.index;
  for (size_t i = 0; i < index.index.points.size(); ++i) index.index.points[i].bit = i % 2 ? right.scan_bytes * 8 : 0;
  const std::clock_t start = std::clock();  // of the processor
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(decode(JpegEngine::own, file, info, all, &index) == want);
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
}

}  // namespace

}  // namespace penstock
