// SPDX-License-Identifier: Apache-2.0
// What the readers of LMDB databases share.
#pragma once
#include "data/lmdb.h"
#include "exec/container_source.h"

namespace penstock {

// Databases by their folders or files.
std::shared_ptr<const Container> open_lmdb(const std::vector<std::string>& paths, bool with_keys);

// Gives an output the number of dimensions that its loaded samples have. Error (data) where they differ.
void set_dimensions(Iteration& it, ValueRef output);

}  // namespace penstock
