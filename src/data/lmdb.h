// SPDX-License-Identifier: Apache-2.0
// LMDB databases, read only: a B+ tree of pages in one file. The file is never trusted: every page, offset and length
// is checked, a page is entered once at most. Written for the format of LMDB 0.9 on little-endian machines of 64 bits.
#pragma once
#include "data/container.h"

namespace penstock {

// The values of the main database in the order of their keys. Duplicate keys and named databases are refused.
ContainerFormat lmdb_format(bool with_keys = false);

// The file of a database that is given by its folder.
std::string lmdb_file(const std::string& path);

}  // namespace penstock
