// SPDX-License-Identifier: Apache-2.0
// Sources alone: a batch in, a batch out, without a pipeline.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "data/test_folder.h"
#include "readers/external_source.h"

namespace penstock {
namespace {

using Constants = std::vector<std::pair<std::string, Value>>;

// `types`: of an external source, which has no others.
std::unique_ptr<Source> source_of(const std::string& name, const Constants& constants,
                                  std::vector<MixedSource> mixed = {}, std::vector<ValueType> types = {}) {
  const OpInfo& info = get_op(name);
  std::vector<Argument> arguments(info.args.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    for (const auto& [given, value] : constants)
      if (given == info.args[i].name) arguments[i].value = value;
  const auto op = bind_op(info, arguments);
  if (types.empty()) {
    types.resize(static_cast<size_t>(outputs_of(info, arguments)));
    op->infer({}, types);
  }
  SourceArguments all{*op, 7, std::move(types), std::move(mixed)};
  return make_source(info, all);
}

TEST(Sources, AreMadeByTheMakerThatTheirOperatorIsRegisteredWith) {
  int makers = 0;
  for (const OpInfo* info : all_ops()) {
    const bool has_source = info->family == Family::source && !info->calls_back();
    EXPECT_EQ(dynamic_cast<const SourceMaker*>(info->maker) != nullptr, has_source) << info->name;
    EXPECT_EQ(info->maker != nullptr, has_source) << info->name;
    makers += has_source;
  }
  EXPECT_GE(makers, 15);
}

TEST(Sources, AreNotMadeOfOtherOperators) {
  static const struct OtherMaker : Maker {
  } other;
  OpInfo info;
  info.name = "brightness";
  const auto op = bind_op(get_op("flip"), std::vector<Argument>(get_op("flip").args.size()));
  SourceArguments arguments{*op};
  for (const Maker* maker : {static_cast<const Maker*>(nullptr), static_cast<const Maker*>(&other)}) {
    info.maker = maker;
    EXPECT_THROW(make_source(info, arguments), Error);
  }
}

std::unique_ptr<Source> files_of(const TestFolder& folder, bool shuffled = false) {
  return source_of("readers.file", {{"file_root", Value{folder.path()}},
                                    {"file_filters", Value{std::vector<std::string>{"*.bin"}}},
                                    {"random_shuffle", Value{shuffled}}});
}

void write_classes(const TestFolder& folder) {
  for (const char* name : {"cat/0.bin", "cat/1.bin", "dog/2.bin", "dog/3.bin", "dog/4.bin"}) folder.write(name, "file");
  folder.write("dog/notes.txt", "not read");
}

std::string npy(const std::string& type, const std::string& shape, const std::string& elements) {
  std::string head = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  head.resize(117, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + head + "\n" + elements;
}

TEST(Readers, AFolderGivesNamesAndLabels) {
  const TestFolder folder;
  write_classes(folder);
  const auto source = files_of(folder);
  EXPECT_EQ(source->meta()->epoch_size, 5);
  EXPECT_EQ(source->data_set(), folder.path());
  for (const std::vector<int64_t>& indices : {std::vector<int64_t>{0, 1, 2}, {3, 4}, {0, 1, 2}}) {
    SourceBatch batch;
    ASSERT_EQ(source->next(batch, 3, EpochMode::partial), static_cast<int>(indices.size()));
    EXPECT_EQ(batch.indices, indices);
    ASSERT_EQ(batch.outputs.size(), 2u);
    ASSERT_EQ(batch.origin.size(), indices.size());
    for (size_t i = 0; i < indices.size(); ++i) {
      const int sample = static_cast<int>(i);
      const std::string path = folder.path((indices[i] < 2 ? "cat/" : "dog/") + std::to_string(indices[i]) + ".bin");
      EXPECT_EQ(batch.outputs[0].sample(sample).source, path);
      EXPECT_EQ(batch.outputs[1].view(sample).as<int32_t>()[0], indices[i] < 2 ? 0 : 1);
      EXPECT_EQ(batch.origin[i].path, path);
      EXPECT_EQ(batch.origin[i].index, indices[i]);
    }
    EXPECT_EQ(source->at_end_of_epoch(), indices.size() == 2);
  }
}

TEST(Readers, OnlyAPrimarySourceSaysWhereSamplesComeFrom) {
  const TestFolder folder;
  write_classes(folder);
  SourceBatch batch;
  batch.primary = false;
  EXPECT_EQ(files_of(folder)->next(batch, 4, EpochMode::stream), 4);
  EXPECT_TRUE(batch.origin.empty());
}

TEST(Readers, ACheckpointGoesOnWhereTheOtherStopped) {
  const TestFolder folder;
  write_classes(folder);
  const auto source = files_of(folder, true), other = files_of(folder, true);
  SourceBatch first, expected, got;
  source->next(first, 3, EpochMode::stream);
  other->restore(source->state());
  source->next(expected, 4, EpochMode::stream);
  other->next(got, 4, EpochMode::stream);
  EXPECT_EQ(got.indices, expected.indices);
}

TEST(Readers, AReplacementIsAnotherSampleOfTheDataSet) {
  const TestFolder folder;
  write_classes(folder);
  const auto source = files_of(folder);
  SourceBatch batch;
  source->next(batch, 5, EpochMode::partial);
  std::set<int64_t> others;
  for (uint32_t attempt = 0; attempt < 8; ++attempt) {
    ASSERT_TRUE(source->replace(batch, 1, attempt));
    EXPECT_EQ(batch.origin[1].index, batch.indices[1]);
    EXPECT_EQ(batch.origin[1].path, batch.outputs[0].sample(1).source);
    EXPECT_EQ(batch.outputs[1].view(1).as<int32_t>()[0], batch.indices[1] < 2 ? 0 : 1);
    others.insert(batch.indices[1]);
  }
  EXPECT_GT(others.size(), 1u);
}

TEST(Readers, SamplesAreLoadedOnManyThreads) {
  constexpr int kFiles = 40;
  const TestFolder folder;
  std::vector<std::string> files;
  for (int k = 0; k < kFiles; ++k)
    files.push_back(
        folder.write(std::to_string(k) + ".npy", npy("|u1", "(2, 3)", std::string(6, static_cast<char>(k)))));
  const auto source = source_of("readers.numpy", {{"files", Value{files}}});
  SourceBatch batch;
  ASSERT_EQ(source->next(batch, kFiles, EpochMode::stream), kFiles);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = t; i < kFiles; i += 4) source->load(batch, i);
    });
  for (auto& t : threads) t.join();
  source->loaded(batch);
  EXPECT_EQ(batch.outputs[0].dtype(), DType::uint8);
  EXPECT_EQ(batch.outputs[0].ndim(), 2);
  for (int i = 0; i < kFiles; ++i) EXPECT_EQ(batch.outputs[0].view(i).as<uint8_t>()[5], i);
}

TEST(Readers, ADamagedFileIsNamed) {
  const TestFolder folder;
  const std::string file = folder.write("cut.npy", npy("<i4", "(5,)", "seven b"));
  const auto source = source_of("readers.numpy", {{"files", Value{std::vector<std::string>{file}}}});
  SourceBatch batch;
  source->next(batch, 1, EpochMode::stream);
  try {
    source->load(batch, 0);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::data);
    EXPECT_EQ(e.source, file);
  }
}

TEST(Readers, AMixHoldsABatchOfEachReader) {
  const TestFolder folder;
  std::vector<MixedSource> readers;
  for (const int part : {0, 1}) {
    std::vector<std::string> files;
    for (int k = 0; k < 4; ++k)
      files.push_back(folder.write(fmt::format("{}{}.npy", part, k),
                                   npy("|u1", "(1,)", std::string(1, static_cast<char>(10 * part + k)))));
    readers.push_back(
        {part, "'part'", &get_op("readers.numpy"), {0}, source_of("readers.numpy", {{"files", Value{files}}})});
  }
  const auto mix = source_of("readers.mix", {{"source_ids", Value{true}}}, std::move(readers),
                             {{DType::none, -1, {}}, {DType::int32, 1, {}}});
  EXPECT_EQ(mix->mixed(1)->meta()->epoch_size, 4);
  EXPECT_EQ(mix->mixed(2), nullptr);
  SourceBatch batch;
  ASSERT_EQ(mix->next(batch, 8, EpochMode::partial), 8);
  ASSERT_EQ(batch.parts.size(), 2u);
  for (int i = 0; i < 8; ++i) mix->load(batch, i);
  mix->loaded(batch);
  std::set<int> seen;
  for (int i = 0; i < 8; ++i) {
    const int value = batch.outputs[0].view(i).as<uint8_t>()[0];
    EXPECT_EQ(batch.outputs[1].view(i).as<int32_t>()[0], value / 10);
    seen.insert(value);
  }
  EXPECT_EQ(seen, (std::set<int>{0, 1, 2, 3, 10, 11, 12, 13}));
}

TEST(Readers, AnExternalSourceGivesWhatIsFed) {
  const auto source = source_of("external_source", {}, {}, {{DType::int32, 0, {}}});
  auto& external = dynamic_cast<ExternalSource&>(*source);
  Batch fed = Batch::uniform(DType::int32, Shape{}, {}, 3);
  for (int i = 0; i < 3; ++i) fed.view(i).as<int32_t>()[0] = 10 * i;
  const void* memory = fed.sample(0).data;
  std::vector<Batch> batches;
  batches.push_back(std::move(fed));
  external.feed()->feed(std::move(batches), 3);
  SourceBatch batch;
  ASSERT_EQ(source->next(batch, 4, EpochMode::stream), 3);
  EXPECT_EQ(batch.outputs[0].sample(0).data, memory);  // moved, not copied
  EXPECT_EQ(batch.origin[2].position, 2u);
  for (uint32_t attempt = 0; attempt < 2; ++attempt) {  // the other two, in turn
    ASSERT_TRUE(source->replace(batch, 0, attempt));
    EXPECT_NE(batch.outputs[0].view(0).as<int32_t>()[0], 0);
  }
  EXPECT_FALSE(source->replace(batch, 0, 2));
}

}  // namespace
}  // namespace penstock
