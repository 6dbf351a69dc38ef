// SPDX-License-Identifier: Apache-2.0
// The user's cache folder. It holds what Penstock can make again.
#pragma once
#include <string>

struct stat;

namespace penstock {

// $PENSTOCK_CACHE, else $XDG_CACHE_HOME/penstock, else ~/.cache/penstock; "" if there is no home folder.
std::string cache_folder();
// Why a folder cannot hold a user's private files; "" if it can. Creates a missing folder, closed to other users. A
// folder below one in which others can rename entries is not used; a notice says so.
std::string make_private_folder(const std::string& path);
// Why, by what stat() gave, others can write to a file or folder; "" if only the user can.
std::string not_private(const struct stat& info);

}  // namespace penstock
