// SPDX-License-Identifier: Apache-2.0
// Where a pipeline stores entropy indexes: its option, the environment, the user's cache folder.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/cache_folder.h"
#include "codecs/jpeg/index_store_access.h"

namespace penstock {

// Throws if it is not "", "off", "read" or "auto" and does not look like a path (contains "/" or ".").
void check_index_option(const std::string& option);

// The open indexes of a pipeline or a command.
struct IndexSetting {
  std::shared_ptr<EntropyIndexStore> store;  // nullptr: none are used
  IndexUse use = IndexUse::read;
};
// option: see PipelineOptions::entropy_index; "": PENSTOCK_ENTROPY_INDEX, else "auto". data_set: its folder.
IndexSetting open_indexes(const std::string& option, const std::string& data_set);

// The file for a data set: that of the folder or, if a folder above it already has one, that one.
std::string index_path(const std::string& cache, const std::string& data_set);
// $PENSTOCK_ENTROPY_INDEX_LIMIT in bytes; k, M or G after the number mean powers of 1024; default 2 GiB.
int64_t index_limit();

// MCUs between two points: 85 to 95 % of the speed of an index of every MCU at a fifth of its size.
constexpr int kIndexStep = 8;

}  // namespace penstock
