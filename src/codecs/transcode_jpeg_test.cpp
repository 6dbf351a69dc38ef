// SPDX-License-Identifier: Apache-2.0
#include "codecs/transcode_jpeg.h"

#include <gtest/gtest.h>

#include "codecs/jpeg_header.h"
#include "codecs/test_images.h"

namespace penstock {
namespace {

using test::File;

// All coefficients, by plain libjpeg calls.
std::vector<int16_t> coefficients(const File& file) {
  jpeg_decompress_struct d;
  jpeg_error_mgr errors;
  d.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&d);
  jpeg_mem_src(&d, file.data(), file.size());
  jpeg_read_header(&d, TRUE);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&d);
  std::vector<int16_t> all;
  for (int c = 0; c < d.num_components; ++c)
    for (JDIMENSION y = 0; y < d.comp_info[c].height_in_blocks; ++y) {
      JBLOCKARRAY row = d.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&d), arrays[c], y, 1, FALSE);
      const auto* first = reinterpret_cast<const int16_t*>(row[0]);
      all.insert(all.end(), first, first + d.comp_info[c].width_in_blocks * DCTSIZE2);
    }
  EXPECT_EQ(errors.num_warnings, 0);
  jpeg_finish_decompress(&d);
  jpeg_destroy_decompress(&d);
  return all;
}
File with_marker(File file, uint8_t marker, const std::string& body) {
  const auto n = body.size() + 2;
  File m{0xFF, marker, static_cast<uint8_t>(n >> 8), static_cast<uint8_t>(n)};
  m.insert(m.end(), body.begin(), body.end());
  file.insert(file.begin() + 20, m.begin(), m.end());  // after JFIF
  return file;
}
int count(const File& file, const std::string& what) {
  int n = 0;
  for (auto at = file.begin(); (at = std::search(at, file.end(), what.begin(), what.end())) != file.end(); ++at) ++n;
  return n;
}
std::string refusal(const File& file) {
  try {
    to_baseline_jpeg(file);
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::data);
    return e.what();
  }
}

TEST(TranscodeJpeg, KeepsCoefficientsAndPixels) {
  int transcoded = 0;
  for (int seed = 0; seed < 60; ++seed) {
    test::JpegRecipe r;
    r.seed = seed, r.height = 1 + seed * 7 % 90, r.width = 1 + seed * 11 % 77;
    r.components = seed % 5 == 0 ? 1 : seed % 7 == 0 ? 4 : 3;
    if (r.components != 3) r.stored = r.components == 1 ? JCS_GRAYSCALE : JCS_CMYK;
    r.h = 1 + seed % 2, r.v = 1 + seed / 2 % 2;
    r.quality = 30 + seed;
    r.progressive = seed % 3 != 0;
    r.interleaved = seed % 6 != 0 || r.progressive;
    const File file = test::make_jpeg(r), baseline = to_baseline_jpeg(file);
    const bool worth = r.progressive || (!r.interleaved && r.components > 1);
    EXPECT_EQ(is_worth_baseline(file), worth) << r.text();
    EXPECT_FALSE(is_worth_baseline(baseline)) << r.text();
    EXPECT_FALSE(read_jpeg_header(baseline).progressive());
    EXPECT_EQ(coefficients(baseline), coefficients(file)) << r.text();
    const J_COLOR_SPACE space = r.components == 1 ? JCS_GRAYSCALE : r.components == 3 ? JCS_RGB : JCS_CMYK;
    EXPECT_EQ(test::decode_plainly(baseline, space).pixels, test::decode_plainly(file, space).pixels) << r.text();
    EXPECT_EQ(to_baseline_jpeg(baseline), baseline) << "nothing remains to change";
    ++transcoded;
  }
  EXPECT_EQ(transcoded, 60);
}

TEST(TranscodeJpeg, KeepsMarkersOnce) {
  test::JpegRecipe r;
  r.height = 40, r.width = 50, r.progressive = true;
  r.exif = test::make_exif(6, true);
  File file = test::make_jpeg(r);
  file = with_marker(file, 0xE2, std::string("ICC_PROFILE\0\1\1 a profile", 24));
  file = with_marker(file, 0xFE, "a comment");
  const File out = to_baseline_jpeg(file);
  for (const char* what : {"JFIF", "Exif", "ICC_PROFILE", "a profile", "a comment"})
    EXPECT_EQ(count(out, what), 1) << what;
  EXPECT_EQ(read_jpeg_header(out).orientation, 6);
  r.components = 4, r.stored = JCS_YCCK;
  const File adobe = to_baseline_jpeg(test::make_jpeg(r));
  EXPECT_EQ(count(adobe, "Adobe"), 1);
  EXPECT_EQ(read_jpeg_header(adobe).adobe_transform, 2);
}

// Found by a fuzzer: the copy was made, and nothing could decode it.
TEST(TranscodeJpeg, RefusesFractionalSampling) {
  test::JpegRecipe r;
  r.height = 40, r.width = 50, r.h = r.v = 2, r.progressive = true;
  File file = test::make_jpeg(r);
  size_t frame = 2;
  while (file[frame + 1] != 0xC2) frame += 2 + (size_t{file[frame + 2]} << 8 | file[frame + 3]);
  file[frame + 14] = 0x31;
  EXPECT_EQ(refusal(file),
            "JPEG: component 0 has 2 x 2 samples where another has 2 x 3: fractional sampling is not supported");
}

TEST(TranscodeJpeg, RefusesWhatACopyWouldHide) {
  test::JpegRecipe r;
  r.height = 40, r.width = 50, r.progressive = r.incomplete = true, r.seed = 4;
  EXPECT_EQ(refusal(test::make_jpeg(r)), "JPEG: the scans omit bits of low frequencies");
  r = {};
  r.height = 90, r.width = 80, r.progressive = true;
  const File file = test::make_jpeg(r);
  for (size_t n = 0; n < file.size(); n += 37) EXPECT_NE(refusal(File(file.begin(), file.begin() + n)), "") << n;
  EXPECT_NE(refusal(test::make_png({})), "");
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {  // any result except a crash; a returned file is complete
    File bad = file;
    for (int k = 0; k < 3; ++k) bad[random() % bad.size()] = static_cast<uint8_t>(random());
    try {
      const File out = to_baseline_jpeg(bad);
      EXPECT_EQ(coefficients(out), coefficients(bad));
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace penstock
