// SPDX-License-Identifier: Apache-2.0
#include "codecs/verify_image.h"

#include <gtest/gtest.h>

#include "codecs/file_formats.h"
#include "codecs/test_images.h"

namespace penstock {
namespace {

using test::File;

std::string found_in(const File& file, const std::string& name = "", int64_t max_pixels = 1 << 28) {
  std::string all;
  for (const Finding& f : verify_image(file, name, max_pixels))
    all += (all.empty() ? "" : " | ") + f.kind + ": " + f.text;
  return all;
}
File jpeg(int height = 200, int width = 150, bool progressive = false, int restart_rows = 0) {
  test::JpegRecipe r;
  r.height = height, r.width = width, r.progressive = progressive, r.restart_rows = restart_rows;
  return test::make_jpeg(r);
}
File cut(File file, size_t n) { return file.resize(n), file; }
bool begins(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

TEST(VerifyImage, SaysNothingOfGoodFiles) {
  for (int seed = 0; seed < 40; ++seed) {
    test::JpegRecipe r;
    r.seed = seed, r.height = 1 + seed * 13 % 99, r.width = 1 + seed * 17 % 88;
    r.components = seed % 5 == 0 ? 1 : seed % 7 == 0 ? 4 : 3;
    if (r.components != 3) r.stored = r.components == 1 ? JCS_GRAYSCALE : JCS_CMYK;
    r.h = 1 + seed % 2, r.progressive = seed % 3 == 0, r.restart_rows = seed % 2;
    r.interleaved = seed % 4 != 0;
    EXPECT_EQ(found_in(test::make_jpeg(r), "a.JPG"), "") << r.text();
  }
  for (int type : {0, 2, 4, 6}) {
    test::PngRecipe r;
    r.color_type = type;
    EXPECT_EQ(found_in(test::make_png(r), "a.png"), "");
    r.bits = 16, r.interlaced = true;
    EXPECT_EQ(found_in(test::make_png(r), "folder.x/a"), "");
  }
}

TEST(VerifyImage, NamesWhatIsWrong) {
  const File good = jpeg();
  EXPECT_EQ(found_in(good, "x.png"), "extension: the name says png, but the bytes are jpeg");
  EXPECT_EQ(found_in(good, "x.jpg", 29999), "too large: 200 x 150 pixels are more than the limit of 29999");
  EXPECT_EQ(found_in({}), "format: the file is empty");
  EXPECT_EQ(found_in({'G', 'I', 'F', '8', '9', 'a', 0, 0}), "truncated: GIF: the file of 8 bytes ends in the header");
  EXPECT_EQ(found_in({'p', 'i', 'c', 't', 0}),
            "format: not an image in a supported format (" + shown_names(FileFormat::picture) + ")");
  File longer = good;
  longer.insert(longer.end(), 7, 'x');
  EXPECT_EQ(found_in(longer), "trailing: 7 bytes after the end marker");
  EXPECT_EQ(found_in(cut(good, good.size() - 2)), "no end: the end marker is missing");
  EXPECT_TRUE(begins(found_in(cut(good, 30)), "truncated: ")) << found_in(cut(good, 30));
  File header = good;
  header[2] = 0xFF, header[3] = 0x01;
  EXPECT_NE(found_in(header), "");
  File png = test::make_png({});
  png.insert(png.end(), 5, 'x');
  EXPECT_EQ(found_in(png), "trailing: 5 bytes after the end of the picture");
  EXPECT_TRUE(begins(found_in(cut(test::make_png({}), 60)), "truncated: "));
}

TEST(VerifyImage, SaysWhereTheDataEnd) {
  for (bool progressive : {false, true})
    for (int part = 1; part < 10; ++part) {
      const File good = jpeg(200, 150, progressive);
      const size_t scan = 700, n = scan + (good.size() - scan) * part / 10;
      const std::string said = found_in(cut(good, n));
      EXPECT_TRUE(begins(said, "truncated: ")) << said;
      if (progressive) continue;
      int row = -1;
      ASSERT_EQ(std::sscanf(said.c_str(), "truncated: the data ends at row %d of 200", &row), 1) << said;
      EXPECT_NEAR(row, 20 * part, 25) << said;
    }
}

TEST(VerifyImage, SaysWhereTheDataAreDamaged) {
  const File good = jpeg(320, 160, false, 1);  // a restart marker after each row of MCUs
  for (int row : {0, 3, 11, 18}) {
    // The marker that ends the row gets another number.
    size_t at = 600;
    for (int k = 0; k <= row; ++at)
      if (good[at] == 0xFF && (good[at + 1] & 0xF8) == 0xD0) ++k;
    File bad = good;
    bad[at] = 0xD0 | ((bad[at] + 4) & 7);
    const std::string said = found_in(bad);
    EXPECT_TRUE(begins(said, "damaged: ")) << said;
    EXPECT_NE(said.find(fmt::format("in row {} of MCUs (pixel row {})", row + 1, 16 * (row + 1))), std::string::npos)
        << said;
    size_t near = 0;
    EXPECT_EQ(std::sscanf(said.c_str() + said.find("near byte"), "near byte %zu", &near), 1) << said;
    EXPECT_NEAR(static_cast<double>(near), static_cast<double>(at), 16) << said;
  }
}

TEST(VerifyImage, NamesTheMcu) {
  const File good = jpeg(320, 160);
  int named = 0;
  for (int at = 700; at + 200 < static_cast<int>(good.size()); at += 97) {
    File bad = good;  // ones are not a code: both decoders stop in the MCU that contains them
    for (int k = 0; k < 8; k += 2) bad[at + k] = 0xFF, bad[at + k + 1] = 0;
    const std::string said = found_in(bad);
    int row = -1, pixel_row = -1, mcu = -1;
    size_t near = 0;
    const size_t from = said.find("in row");
    if (from == said.npos ||
        std::sscanf(said.c_str() + from, "in row %d of MCUs (pixel row %d), MCU %d of the row, near byte %zu", &row,
                    &pixel_row, &mcu, &near) != 4)
      continue;
    ++named;
    EXPECT_EQ(pixel_row, 16 * row);
    EXPECT_LT(mcu, 10);
    EXPECT_LE(static_cast<int>(near), at + 16) << said;  // start of the MCU
    EXPECT_GT(static_cast<int>(near), at - 400) << said;
    // Up to there the picture equals that of the good file.
    const auto a = test::decode_plainly(good, JCS_YCbCr), b = test::decode_plainly(bad, JCS_YCbCr);
    for (int x = 0; x + 1 < mcu * 16; ++x)
      ASSERT_EQ(a.pixels[(pixel_row * 160 + x) * 3], b.pixels[(pixel_row * 160 + x) * 3]) << said << " x " << x;
  }
  EXPECT_GT(named, 20);
}

TEST(VerifyImage, HasAnAnswerToAnyBytes) {
  std::mt19937 random(3);
  int silent = 0;
  for (int i = 0; i < 600; ++i) {
    File bad = i % 3 == 0 ? test::make_png({}) : jpeg(64, 48, i % 3 == 1);
    for (int k = 0; k < 2; ++k) bad[random() % bad.size()] = static_cast<uint8_t>(random());
    silent += found_in(bad).empty();
  }
  EXPECT_LT(silent, 400);  // other coefficients are not an error that a decoder could detect
}

}  // namespace
}  // namespace penstock
