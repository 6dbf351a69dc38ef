// SPDX-License-Identifier: Apache-2.0
// The user's cache folder: what was made once and can be made again.
#pragma once
#include <string>

struct stat;

namespace penstock {

// $PENSTOCK_CACHE, else $XDG_CACHE_HOME/penstock, else ~/.cache/penstock; "" where there is no home.
std::string cache_folder();
// Why a folder cannot hold a user's private files; "" if it can. It is made, closed to others, where it is missing. One
// below a folder in which others may rename it is not used, with a notice.
std::string make_private_folder(const std::string& path);
// Why what stat() gave of a file or folder is not the user's alone to write; "" if it is.
std::string not_private(const struct stat& info);

}  // namespace penstock
