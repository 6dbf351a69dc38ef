// SPDX-License-Identifier: Apache-2.0
// What follows from the registration of formats, and how the decoders of one format share a group.
#include "codecs/image_format.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "codecs/file_formats.h"
#include "codecs/pixel_rows.h"
#include "codecs/verify_image.h"

namespace penstock {
namespace {

TEST(ImageFormat, FormatsStandInTheOrderOfTheirPlaces) {
  const auto formats = image_formats();
  ASSERT_GE(formats.size(), 2u);
  std::string text, needed;  // of messages, of the documentation
  for (size_t i = 0; i < formats.size(); ++i) {
    const ImageFormat& f = *formats[i];
    if (i > 0) {
      EXPECT_LT(formats[i - 1]->place, f.place) << f.id;
    }
    text += (i == 0 ? "" : i + 1 == formats.size() ? " and " : ", ") + std::string(f.title);
    const size_t comma = f.title.find(", ");
    const std::string names = comma == f.title.npos ? std::string(f.title)
                                                    : std::string(f.title.substr(0, comma)) + " and " +
                                                          std::string(f.title.substr(comma + 2));
    if (!f.needs.empty()) needed += ", and " + names + " where " + std::string(f.needs) + " is installed";
  }
  EXPECT_EQ(formats.front()->id, "jpeg");  // most files are
  EXPECT_EQ(shown_names(FileFormat::picture), text);
  EXPECT_TRUE(text.starts_with("JPEG, PNG, ")) << text;
  const std::string all = image_formats_text();
  EXPECT_TRUE(all.starts_with("JPEG, PNG, ") && all.ends_with(needed)) << all;
  EXPECT_NE(needed.find(", and AVIF and HEIC where libheif is installed"), std::string::npos) << needed;
  for (const ImageFormat* f : formats)  // in one of its halves
    EXPECT_EQ(all.substr(0, all.size() - needed.size()).find(f->title) != std::string::npos, f->needs.empty()) << f->id;
}

TEST(ImageFormat, EachSaysAllThatListsNeed) {
  for (const ImageFormat* f : image_formats()) {
    EXPECT_FALSE(f->title.empty() || f->taken.empty() || f->window_reads.empty() || f->library.empty()) << f->id;
    EXPECT_FALSE(f->signatures.empty() || f->suffixes.empty() || f->decoders.empty()) << f->id;
    for (const std::string_view s : f->suffixes) EXPECT_EQ(format_of_name("A" + std::string(s)).id, f->id);
    for (const std::string_view s : f->read_by_default.suffixes())
      EXPECT_NE(std::ranges::find(f->suffixes, s), f->suffixes.end()) << s;
  }
}

TEST(ImageFormat, ReadersTakeWhatDalisTake) {
  EXPECT_EQ(default_file_filters(),
            (std::vector<std::string>{"*.jpg", "*.jpeg", "*.png", "*.bmp", "*.tif", "*.tiff", "*.pnm", "*.ppm", "*.pgm",
                                      "*.pbm", "*.jp2", "*.webp", "*.flac", "*.ogg", "*.wav"}));
}

TEST(ImageFormatDeathTest, TwoFormatsOfOneIdOrPlaceEndTheProgram) {
  EXPECT_DEATH(register_image_format({.id = "png", .place = 1000}), "the same id: png and png");
  EXPECT_DEATH(register_image_format({.id = "new", .place = 20}), "the same place: new and png");
  EXPECT_DEATH(register_image_format({.id = "new", .place = 1000, .suffixes = {".gif"}}),
               "the same suffix: new and gif");
}

// The number of bytes of a file is the number of pixels of its picture.
struct Row {
  int64_t width = 0;
};
class Rows final : public DecoderByHeader<Row> {
 public:
  const char* name() const override { return "rows/test"; }
  Row read_header(Bytes file) const override { return ++read, Row{static_cast<int64_t>(file.size())}; }
  ImageInfo describe(const Row& h) const override { return {.height = 1, .width = h.width, .channels = 1}; }
  void decode_region(Bytes file, const Row&, const DecodeParams& params, const Region& region,
                     const PixelSink& sink) const override {
    store_rows(RowConversion{1, DType::uint8, params.type, params.dtype}, region, sink,
               [&](int64_t) { return file.data(); });
  }
  mutable int read = 0;
};

// Accepts files that begin with 7, and records the groups that it received.
class Sevens final : public ImageDecoder {
 public:
  const char* name() const override { return "sevens/test"; }
  ImageInfo probe(Bytes file, ParsedHeader* kept) const override { return rows.probe(file, kept); }
  void decode_group(std::span<DecodeTask* const> tasks) const override {
    groups.push_back(tasks.size());
    for (DecodeTask* t : tasks) t->done = t->file[0] == 7;
  }
  Rows rows;
  mutable std::vector<size_t> groups;
};

struct Task : DecodeTask {
  Task(const ImageFormat& format, const std::vector<uint8_t>& bytes) : pixels(bytes.size()) {
    file = bytes;
    info = format.decoders.front()->probe(file, &header);
    info.format = &format;
    params.type = ImageType::any_data;
    region = {0, 0, info.height, info.width};
    sink = {pixels.data(), info.width};
  }
  std::vector<uint8_t> pixels;
};

std::span<DecodeTask> one(DecodeTask& t) { return {&t, 1}; }

TEST(ImageFormat, AHeaderIsReadOnce) {
  const Rows rows;
  const ImageFormat format{.id = "rows", .decoders = {&rows}};
  const std::vector<uint8_t> file{1, 2, 3};
  Task t(format, file);
  decode_images(one(t));
  EXPECT_FALSE(t.error);
  EXPECT_EQ(t.pixels, file);
  EXPECT_EQ(rows.read, 1);
  t.header = {};  // as in decode_image()
  decode_images(one(t));
  EXPECT_EQ(rows.read, 2);
}

TEST(ImageFormat, WhatOneDecoderLeavesGoesToTheNext) {
  const Sevens sevens;
  const Rows rows;
  const ImageFormat format{.id = "rows", .decoders = {&sevens, &rows}}, other{.id = "other", .decoders = {&rows}};
  const std::vector<uint8_t> seven{7, 7}, ones{1, 1};
  DecodeTask tasks[4];
  Task of[] = {Task(format, seven), Task(format, ones), Task(other, ones), Task(format, ones)};
  std::copy_n(of, 4, tasks);
  decode_images(tasks);
  EXPECT_EQ(sevens.groups, (std::vector<size_t>{2, 1}));
  EXPECT_EQ(of[0].pixels, (std::vector<uint8_t>{0, 0}));  // Sevens writes nothing
  for (int i = 1; i < 4; ++i) EXPECT_EQ(of[i].pixels, ones) << i;
  for (const DecodeTask& t : tasks) EXPECT_TRUE(t.done && !t.error);
}

TEST(ImageFormat, AFaultIsToldByItsTypeNotByItsWords) {
  try {
    ends_early("any words");
  } catch (const Error& e) {
    EXPECT_EQ(finding_of(e, "damaged").kind, "truncated");
  }
  try {
    no_decoder("premature end of file");
  } catch (const Error& e) {
    EXPECT_EQ(finding_of(e, "damaged").kind, "undecodable");
  }
  EXPECT_EQ(finding_of(Error(ErrorKind::data, "premature end of file"), "damaged").kind, "damaged");
}

}  // namespace
}  // namespace penstock
