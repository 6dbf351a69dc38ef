// SPDX-License-Identifier: Apache-2.0
// Compares our own decoder with libjpeg-turbo's full decode: every pixel of every crop, with and without an index.
#include "codecs/jpeg/baseline_decoder.h"

#include <gtest/gtest.h>

#include <memory>

#include "codecs/jpeg/test_decodes.h"
#include "codecs/test_images.h"

namespace penstock {

using namespace test;

namespace {

// Only our own decoder; each test restores the choice.
struct Own : RestoreJpegChoice {
  Own() { jpeg_choice().engine = JpegEngine::own; }
};

struct Crop {
  const File* file = nullptr;
  const Plain* full = nullptr;
  Region region;
  KeptIndex* index = nullptr;
  bool rows = false, planes = false;
  DecodeParams params;
  std::string text;
};

// The difference, or "".
std::string compare(const Crop& c, DecodeTask& t, const std::vector<uint8_t>& sink) {
  const int64_t channels = c.full->channels, row_bytes = c.region.width * channels;
  if (t.error) return t.error->what();
  if (c.rows != (t.rows != nullptr)) return "rows were not returned as requested";
  std::vector<uint8_t> row(row_bytes + RegionRows::kSlack), planes(row_bytes);
  for (int64_t i = 0; i < c.region.height; ++i) {
    const int64_t y = c.rows ? (i * 7 + 3) % c.region.height : i;  // in some order
    const uint8_t* got = sink.data() + y * row_bytes;
    if (c.planes) {
      uint8_t* const to[] = {planes.data(), &planes[c.region.width], &planes[channels == 3 ? 2 * c.region.width : 0]};
      t.rows->read_planes(y, to);
      for (int64_t x = 0; x < row_bytes; ++x) row[x] = planes[x % channels * c.region.width + x / channels];
      got = row.data();
    } else if (c.rows) {
      t.rows->read(y, row.data());
      got = row.data();
    }
    const uint8_t* want = &c.full->pixels[((c.region.y + y) * c.full->width + c.region.x) * channels];
    for (int64_t x = 0; x < row_bytes; ++x)
      if (got[x] != want[x])
        return fmt::format("row {}, column {}: {} instead of {}", c.region.y + y, c.region.x + x / channels, got[x],
                           want[x]);
  }
  return "";
}

// Decodes one crop, or two in turn.
void expect_equal(const std::vector<Crop>& crops) {
  std::vector<DecodeTask> tasks(crops.size());
  std::vector<std::vector<uint8_t>> sinks(crops.size());
  for (size_t i = 0; i < crops.size(); ++i) {
    const Crop& c = crops[i];
    tasks[i].file = *c.file;
    tasks[i].info = probe_image(*c.file, c.params);
    tasks[i].params = c.params;
    tasks[i].region = c.region;
    tasks[i].index = c.index;
    tasks[i].takes_rows = c.rows;
    if (!c.rows) sinks[i].assign(c.region.height * c.region.width * c.full->channels, 0x5A);
    tasks[i].sink = {sinks[i].data(), c.region.width * c.full->channels};
  }
  decode_images(tasks);
  for (size_t i = 0; i < crops.size(); ++i) {
    const Crop& c = crops[i];
    const std::string difference = compare(c, tasks[i], sinks[i]);
    EXPECT_EQ(difference, "") << c.text << ", region (" << c.region.y << ", " << c.region.x << ") + ("
                              << c.region.height << ", " << c.region.width << ")"
                              << (c.index ? fmt::format(", index step {}", c.index->index.step) : "") << ", target "
                              << static_cast<int>(jpeg_choice().target) << ", task " << i << " of " << crops.size();
  }
}

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int in(int low, int high) { return low + static_cast<int>(engine_() % (high - low + 1)); }
  bool one_in(int n) { return in(1, n) == 1; }

 private:
  std::mt19937 engine_;
};

JpegRecipe make_recipe(Random& random, int i) {
  const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {2, 2}};
  JpegRecipe r;
  const int largest = random.one_in(3) ? 40 : random.one_in(8) ? 500 : 200;
  r.height = random.in(1, largest), r.width = random.in(1, largest);
  if (random.one_in(10)) r.width = random.in(1, 6);
  r.h = samplings[i % 5][0], r.v = samplings[i % 5][1];
  if (random.one_in(7)) {
    r.components = 1;
    r.h = random.in(1, 4), r.v = random.in(1, 4);
  }
  r.quality = random.one_in(4) ? random.in(96, 100) : random.in(1, 100);
  r.wide_quant = random.one_in(5);
  r.optimized = random.one_in(3);
  r.long_codes = !r.optimized && random.one_in(5);
  if (random.one_in(3)) r.restart_mcus = random.in(1, 40);
  else if (random.one_in(6)) r.restart_rows = random.in(1, 3);
  r.seed = i;
  return r;
}

Region make_region(Random& random, int height, int width, int k) {
  Region g{0, 0, height, width};
  if (k == 0) return g;
  g.height = random.in(1, height), g.width = random.in(1, width);
  if (k % 3 == 0) g.height = random.in(1, std::min(height, 12)), g.width = random.in(1, std::min(width, 12));
  g.y = random.in(0, height - g.height), g.x = random.in(0, width - g.width);
  return g;
}

TEST(BaselineDecoder, EveryCropEqualsLibjpegTurbo) {
  const Own own;
  Random random(3);
  struct Image {
    File file;
    Plain full, gray;
    std::unique_ptr<KeptIndex> indexes[3];
    std::string text;
    int height, width;
  };
  std::unique_ptr<Image> last;
  int64_t crops = 0;
  const int64_t wanted = int64_t{850} * test_count();
  for (int i = 0; crops < wanted && !testing::Test::HasFailure(); ++i) {
    const JpegRecipe r = make_recipe(random, i);
    auto image = std::make_unique<Image>();
    image->file = make_jpeg(r);
    image->full = decode_plainly(image->file, JCS_RGB);
    image->gray = decode_plainly(image->file, JCS_GRAYSCALE);
    image->text = r.text();
    image->height = r.height, image->width = r.width;
    auto crop_of = [&](Image& of, int k, KeptIndex* index) {
      Crop c;
      c.file = &of.file, c.full = &of.full, c.index = index, c.text = of.text;
      c.region = make_region(random, of.height, of.width, k);
      c.rows = random.one_in(2);
      c.planes = c.rows && random.one_in(2);
      if (random.one_in(10)) c.params.type = ImageType::gray, c.full = &of.gray;
      return c;
    };
    // Made while a crop is decoded, alone or in turn with another image.
    for (int s = 0; s < 3; ++s) {
      jpeg_choice().target = static_cast<Target>(random.in(0, static_cast<int>(best_target())));
      image->indexes[s] = std::make_unique<KeptIndex>();
      image->indexes[s]->step = s == 0 ? 1 : s == 1 ? random.in(2, 9) : 1000;
      std::vector<Crop> made{crop_of(*image, random.in(0, 5), image->indexes[s].get())};
      if (last && random.one_in(2)) made.push_back(crop_of(*last, 1, nullptr));
      expect_equal(made);
      crops += made.size();
      EXPECT_EQ(image->indexes[s]->offered, 1) << r.text();
      EXPECT_EQ(image->indexes[s]->index.file_bytes, image->file.size());
    }
    for (int k = 0; k < 12; ++k) {
      jpeg_choice().target = static_cast<Target>(random.in(0, static_cast<int>(best_target())));
      auto index_of = [&](Image& of) {
        const int which = random.in(0, 3);
        return which == 3 ? nullptr : of.indexes[which].get();
      };
      std::vector<Crop> some{crop_of(*image, k, index_of(*image))};
      if (last && random.one_in(2)) some.push_back(crop_of(*last, k, index_of(*last)));
      expect_equal(some);
      crops += some.size();
    }
    EXPECT_EQ(image->indexes[0]->offered + image->indexes[1]->offered + image->indexes[2]->offered, 3)
        << "an index was not accepted: " << r.text();
    last = std::move(image);
  }
  RecordProperty("crops", std::to_string(crops));
}

// All crops of a small picture, with an index of each step.
void expect_every_crop(const JpegRecipe& r) {
  const File file = make_jpeg(r);
  const Plain full = decode_plainly(file, JCS_RGB);
  for (int step = 0; step < 3; ++step) {
    KeptIndex index;
    index.step = step;
    for (int y = 0; y < r.height; y += 1 + r.height / 8)
      for (int x = 0; x < r.width; x += 1 + r.width / 8)
        for (int h = 1; h <= r.height - y; h += 1 + r.height / 5)
          for (int w = 1; w <= r.width - x; w += 1 + r.width / 5) {
            Crop c;
            c.file = &file, c.full = &full, c.text = r.text();
            c.region = {y, x, h, w};
            if (step) c.index = &index;
            expect_equal({c});
          }
    EXPECT_EQ(index.offered, step > 0);
  }
}

TEST(BaselineDecoder, PicturesSmallerThanAnMcu) {
  const Own own;
  const int samplings[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}};
  for (int target = 0; target <= static_cast<int>(best_target()); ++target)
    for (int height : {1, 2, 3, 5, 8, 9, 15})
      for (int width : {1, 2, 3, 4, 5, 7, 16, 17})
        for (const auto& s : samplings) {
          jpeg_choice().target = static_cast<Target>(target);
          JpegRecipe r;
          r.height = height, r.width = width, r.h = s[0], r.v = s[1];
          r.seed = height * 100 + width;
          expect_every_crop(r);
        }
}

TEST(BaselineDecoder, CodesOf16Bits) {
  const Own own;
  for (int i = 0; i < 6; ++i) {
    JpegRecipe r;
    r.height = 50, r.width = 66, r.quality = 40 + 12 * i;
    r.long_codes = true;
    r.restart_mcus = i % 2 * 3;
    r.h = 1 + i % 2, r.v = 1 + i / 2 % 2;
    expect_every_crop(r);
  }
}

// The number of blocks in the scan whose last coefficient is present, so that no end-of-block code follows.
int full_blocks(const File& file) {
  LibjpegDecoder decoder(file);
  jpeg_decompress_struct& d = decoder.d;
  jvirt_barray_ptr* const blocks = jpeg_read_coefficients(&d);
  int found = 0;
  for (JDIMENSION y = 0; y < d.comp_info[0].height_in_blocks; ++y) {
    const auto row = d.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&d), blocks[0], y, 1, FALSE);
    for (JDIMENSION x = 0; x < d.comp_info[0].width_in_blocks; ++x) found += row[0][x][63] != 0;
  }
  return found;
}

TEST(BaselineDecoder, BlocksThatEndWithTheir64thCoefficient) {
  const Own own;
  JpegRecipe r;
  r.height = 70, r.width = 90, r.quality = 100;
  EXPECT_GT(full_blocks(make_jpeg(r)), 60);
  for (bool optimized : {false, true}) {
    r.optimized = optimized;
    expect_every_crop(r);  // often enough for tables of two coefficients to be built
  }
}

TEST(BaselineDecoder, SmallerPictures) {
  const Own own;
  Random random(9);
  for (int i = 0; i < 20 * test_count(); ++i) {
    JpegRecipe r = make_recipe(random, i);
    r.exif = make_exif(1 + i % 8, true);
    const File file = make_jpeg(r);
    DecodeParams params;
    params.eighths = 1 << random.in(0, 2);
    params.type = static_cast<ImageType>(random.in(0, 4));
    params.fancy_upsampling = !random.one_in(4);
    const ImageInfo info = probe_image(file, params);
    KeptIndex index;
    for (int k = 0; k < 4; ++k) {
      const Region region = make_region(random, static_cast<int>(scaled_extent(info.height, params)),
                                        static_cast<int>(scaled_extent(info.width, params)), k);
      jpeg_choice().target = static_cast<Target>(random.in(0, static_cast<int>(best_target())));
      index.step = random.one_in(2) ? random.in(1, 9) : 0;
      EXPECT_TRUE(decode_by(JpegEngine::own, file, info, params, region, &index) ==
                  decode_by(JpegEngine::libjpeg_turbo, file, info, params, region))
          << r.text() << " at " << params.eighths << "/8, type " << static_cast<int>(params.type) << ", fancy "
          << params.fancy_upsampling << ", orientation " << info.orientation;
    }
  }
}

TEST(BaselineDecoder, TypesDepthsAndOrientations) {
  const Own own;
  Random random(8);
  for (int i = 0; i < 10 * test_count(); ++i) {
    JpegRecipe r = make_recipe(random, i);
    r.height = random.in(1, 60), r.width = random.in(1, 60);
    r.exif = make_exif(1 + i % 8, true);
    const File file = make_jpeg(r);
    DecodeParams params;
    params.type = static_cast<ImageType>(i % 5);
    params.dtype = i % 3 ? DType::uint8 : DType::float32;
    params.fancy_upsampling = i % 4;
    const ImageInfo info = probe_image(file, params);
    const Region region = make_region(random, info.height, info.width, i);
    const Decoded theirs = decode_by(JpegEngine::libjpeg_turbo, file, info, params, region);
    const Decoded ours = decode_by(JpegEngine::own, file, info, params, region);
    EXPECT_TRUE(ours == theirs) << r.text() << " type " << i % 5 << " orientation " << info.orientation;
  }
}

TEST(BaselineDecoder, SaysWhatItLeavesToLibjpegTurbo) {
  const Own own;
  auto refusal = [](JpegRecipe r) {
    const File file = make_jpeg(r);
    const ImageInfo info = probe_image(file, {});
    return decode_by(JpegEngine::own, file, info, {}, {0, 0, info.height, info.width}).error;
  };
  JpegRecipe r;
  r.height = r.width = 40;
  const std::string cannot = "jpeg/penstock cannot decode this file: ";
  EXPECT_EQ(refusal(r), "");
  r.progressive = true;
  EXPECT_EQ(refusal(r), cannot + "neither baseline nor extended sequential Huffman coding");
  r.progressive = false, r.interleaved = false;
  EXPECT_EQ(refusal(r), cannot + "the components are in several scans");
  r.interleaved = true, r.stored = JCS_RGB;
  EXPECT_EQ(refusal(r), cannot + "the colors are not YCbCr");
  r.stored = JCS_YCbCr, r.h = 4, r.v = 1;
  EXPECT_EQ(refusal(r), cannot + "chroma is subsampled in an unusual way");
  r.h = 1, r.components = 4, r.stored = JCS_YCCK;
  EXPECT_EQ(refusal(r), cannot + "neither one nor three components");
}

}  // namespace

}  // namespace penstock
