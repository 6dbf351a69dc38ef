// SPDX-License-Identifier: Apache-2.0
// Files as cameras and phones write them, in the folders that PENSTOCK_PHOTOS lists ("a:b"; the Makefile installs
// some). Most are thumbnails in EXIF data, encoded by the camera itself: 4:2:2, 4:4:0, restart markers, custom tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <sstream>

#include "codecs/jpeg/test_decodes.h"

namespace penstock {

namespace {

using namespace test;
using File = std::vector<uint8_t>;

// Each start marker begins a picture that ends somewhere after it.
void add_pictures(const std::filesystem::path& path, std::set<File>& pictures) {
  std::ifstream in(path, std::ios::binary);
  const File bytes(std::istreambuf_iterator<char>(in), {});
  const uint8_t start[] = {0xFF, 0xD8, 0xFF};
  for (auto at = bytes.begin(); (at = std::search(at, bytes.end(), start, start + 3)) != bytes.end(); ++at)
    pictures.insert(File(at, bytes.end()));
}

TEST(CameraFiles, EqualLibjpegTurbo) {
  const char* folders = std::getenv("PENSTOCK_PHOTOS");
  if (!folders) GTEST_SKIP() << "PENSTOCK_PHOTOS lists no folders";
  std::set<File> pictures;
  std::stringstream list(folders);
  for (std::string folder; std::getline(list, folder, ':');)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (const auto e = entry.path().extension(); e == ".jpg" || e == ".JPG" || e == ".jpeg")
        add_pictures(entry.path(), pictures);
  const RestoreJpegChoice restore;
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
    KeptIndex index;
    ours += decode_by(JpegEngine::own, file, info, params, {0, 0, info.height, info.width}).error.empty();
    for (int k = 0; k < 30; ++k) {
      Region region{0, 0, info.height, info.width};
      if (k > 1) {
        region.height = 1 + random() % info.height, region.width = 1 + random() % info.width;
        region.y = random() % (info.height - region.height + 1);
        region.x = random() % (info.width - region.width + 1);
      }
      index.step = 1 + k % 9;
      jpeg_choice().target = static_cast<Target>(k % (static_cast<int>(best_target()) + 1));
      const auto want = decode_by(JpegEngine::libjpeg_turbo, file, info, params, region);
      ASSERT_TRUE(decode_by(JpegEngine::automatic, file, info, params, region) == want) << file.size() << " bytes";
      ASSERT_TRUE(decode_by(JpegEngine::automatic, file, info, params, region, &index) == want)
          << file.size() << " bytes";
    }
  }
  RecordProperty("pictures", static_cast<int>(pictures.size()));
  RecordProperty("decoded_by_ours", ours);
  EXPECT_GE(ours, 30);
}

}  // namespace

}  // namespace penstock
