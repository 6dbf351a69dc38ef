// SPDX-License-Identifier: Apache-2.0
// Lists objects.
#pragma once
#include <string>
#include <vector>

#include "data/remote.h"

namespace penstock {

// Adds the URL or, if it is a pattern (*, ?, [; not for http, where ? begins a query), the objects that match,
// sorted;
// "*" does not match a "/". Error (file_missing) if no object matches.
void expand_url(const std::string& url, std::vector<std::string>& out);

// URLs of the objects in the folder whose names match, sorted; with `below` also those in direct subfolders.
std::vector<std::string> objects_in(const std::string& folder, const std::string& pattern, bool below);

}  // namespace penstock
