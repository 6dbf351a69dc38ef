// SPDX-License-Identifier: Apache-2.0
// LMDB databases, read only: a B+ tree of pages in one file. The file is not trusted: every page, offset and length
// is checked, and a page is entered at most once. For the format of LMDB 0.9 on little-endian 64-bit machines.
#pragma once
#include "data/container.h"

namespace penstock {

// The values of the main database in the order of their keys. Duplicate keys and named databases are errors.
ContainerFormat lmdb_format(bool with_keys = false);

// The file of a database, for the path of its folder.
std::string lmdb_file(const std::string& path);

}  // namespace penstock
