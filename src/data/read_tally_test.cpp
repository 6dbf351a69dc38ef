// SPDX-License-Identifier: Apache-2.0
#include "data/read_tally.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "data/storage.h"

namespace penstock {
namespace {

class ReadTallyTest : public ::testing::Test {
 protected:
  ReadTallyTest() : path_(std::filesystem::temp_directory_path() / ("read_tally_" + std::to_string(::getpid()))) {
    std::ofstream(path_, std::ios::binary) << std::string(1000, 'x');
  }
  ~ReadTallyTest() override { std::filesystem::remove(path_); }
  std::filesystem::path path_;
  std::vector<uint8_t> bytes_;
};

TEST_F(ReadTallyTest, CountsFilesAndRecordsOnce) {
  const ReadTally before = reads_of_thread();
  read_file(path_, bytes_);
  read_range({path_, 10, 20}, bytes_);
  const OpenFile file(path_);
  bytes_.resize(5);
  file.read(0, 5, bytes_.data());
  const ReadTally own = reads_of_thread() - before;
  EXPECT_EQ(own.reads, 3);
  EXPECT_EQ(own.bytes, 1000 + 20 + 5);
  EXPECT_EQ(own.remote, 0);
  EXPECT_LE(own.waited, 3);
  EXPECT_GT(own.ns, 0);
}

TEST_F(ReadTallyTest, IsOfTheThread) {
  const ReadTally before = reads_of_thread();
  std::thread([&] { read_file(path_, bytes_); }).join();
  EXPECT_EQ((reads_of_thread() - before).reads, 0);
}

TEST_F(ReadTallyTest, AFailedReadHasNoBytes) {
  const ReadTally before = reads_of_thread();
  EXPECT_THROW(read_file(path_.string() + " missing", bytes_), Error);
  const ReadTally own = reads_of_thread() - before;
  EXPECT_EQ(own.reads, 1);
  EXPECT_EQ(own.bytes, 0);
}

}  // namespace
}  // namespace penstock
