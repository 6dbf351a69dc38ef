// SPDX-License-Identifier: Apache-2.0
// Files as cameras and phones write them, in the folders that PENSTOCK_PHOTOS names ("a:b"; the Makefile installs some).
// Most are thumbnails inside of EXIF data, coded by the camera itself: 4:2:2, 4:4:0, restart markers, tables of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <sstream>

#include "codecs/jpeg/baseline_decoder.h"
#include "codecs/jpeg/entropy_index.h"

namespace penstock {

namespace {

using File = std::vector<uint8_t>;

struct OneIndex : EntropyIndexAccess {
  EntropyIndex index;
  int step = 0;
  bool find(Bytes, EntropyIndex& into) override {
    into = index;
    return !index.points.empty();
  }
  int wanted_step() const override { return step; }
  void offer(Bytes, const EntropyIndex& made) override { index = made; }
};

// The error, or the pixels.
std::pair<std::string, File> decode(JpegEngine engine, Bytes file, const ImageInfo& info, const Region& region,
                                    EntropyIndexAccess* index = nullptr) {
  jpeg_choice().engine = engine;
  File pixels(region.height * region.width * 3);
  DecodeTask t;
  t.file = file, t.info = info, t.region = region, t.index = index;
  t.sink = {pixels.data(), region.width * 3};
  decode_images({&t, 1});
  return t.error ? std::pair{std::string(t.error->what()), File()} : std::pair{std::string(), pixels};
}

// Each start marker begins a picture that ends somewhere behind it.
void add_pictures(const std::filesystem::path& path, std::set<File>& pictures) {
  std::ifstream in(path, std::ios::binary);
  const File bytes(std::istreambuf_iterator<char>(in), {});
  const uint8_t start[] = {0xFF, 0xD8, 0xFF};
  for (auto at = bytes.begin(); (at = std::search(at, bytes.end(), start, start + 3)) != bytes.end(); ++at)
    pictures.insert(File(at, bytes.end()));
}

TEST(CameraFiles, EqualLibjpegTurbo) {
  const char* folders = std::getenv("PENSTOCK_PHOTOS");
  if (!folders) GTEST_SKIP() << "PENSTOCK_PHOTOS names no folders";
  std::set<File> pictures;
  std::stringstream list(folders);
  for (std::string folder; std::getline(list, folder, ':');)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (const auto e = entry.path().extension(); e == ".jpg" || e == ".JPG" || e == ".jpeg")
        add_pictures(entry.path(), pictures);
  const JpegChoice before = jpeg_choice();
  std::mt19937 random(4);
  int ours = 0;
  for (const File& file : pictures) {
    ImageInfo info;
    DecodeParams params;
    params.apply_orientation = false;
    try {
      info = probe_image(file, params);
    } catch (const Error&) {
      continue;
    }
    info.orientation = 1;
    OneIndex index;
    ours += decode(JpegEngine::own, file, info, {0, 0, info.height, info.width}).first.empty();
    for (int k = 0; k < 30; ++k) {
      Region region{0, 0, info.height, info.width};
      if (k > 1) {
        region.height = 1 + random() % info.height, region.width = 1 + random() % info.width;
        region.y = random() % (info.height - region.height + 1);
        region.x = random() % (info.width - region.width + 1);
      }
      index.step = 1 + k % 9;
      jpeg_choice().target = static_cast<Target>(k % (static_cast<int>(best_target()) + 1));
      const auto want = decode(JpegEngine::libjpeg_turbo, file, info, region);
      ASSERT_TRUE(decode(JpegEngine::automatic, file, info, region) == want) << file.size() << " bytes";
      ASSERT_TRUE(decode(JpegEngine::automatic, file, info, region, &index) == want) << file.size() << " bytes";
    }
  }
  jpeg_choice() = before;
  RecordProperty("pictures", static_cast<int>(pictures.size()));
  RecordProperty("decoded_by_ours", ours);
  EXPECT_GE(ours, 30);
}

}  // namespace

}  // namespace penstock
