// SPDX-License-Identifier: Apache-2.0
// Where a pipeline keeps entropy indexes: its option, the environment, the user's cache folder.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/cache_folder.h"
#include "codecs/jpeg/index_store_access.h"

namespace penstock {

// Throws where it is neither "", "off", "read", "auto" nor looks like a path (holds "/" or ".").
void check_index_option(const std::string& option);

// Open indexes of a pipeline or a command.
struct IndexSetting {
  std::shared_ptr<EntropyIndexStore> store;  // nullptr: none are used
  IndexUse use = IndexUse::read;
};
// option: see PipelineOptions::entropy_index; "": what PENSTOCK_ENTROPY_INDEX says, else "auto". data_set: its folder.
IndexSetting open_indexes(const std::string& option, const std::string& data_set);

// The file for a data set: that of the folder or, where a folder above it has one already, that one.
std::string index_path(const std::string& cache, const std::string& data_set);
// $PENSTOCK_ENTROPY_INDEX_LIMIT in bytes, with k, M or G behind the number for powers of 1024; default 2 GiB.
int64_t index_limit();

// MCUs between two points: 85 to 95 % of the speed of every MCU at a fifth of its size.
constexpr int kIndexStep = 8;

}  // namespace penstock
