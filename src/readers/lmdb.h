// SPDX-License-Identifier: Apache-2.0
// Shared by the readers of LMDB databases.
#pragma once
#include "data/lmdb.h"
#include "readers/container_source.h"

namespace penstock {

// Databases, named by their folders or files.
std::shared_ptr<const Container> open_lmdb(const std::vector<std::string>& paths, bool with_keys);

}  // namespace penstock
