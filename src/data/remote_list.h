// SPDX-License-Identifier: Apache-2.0
// Which objects there are.
#pragma once
#include <string>
#include <vector>

#include "data/remote.h"

namespace penstock {

// Adds the URL or, where it is a pattern (*, ?, [; not of http, where ? begins a query), the objects that match,
// sorted;
// "*" does not reach over a "/". Error (file_missing) where none does.
void expand_url(const std::string& url, std::vector<std::string>& out);

// URLs of the objects in the folder whose names match, sorted; with `below` those of its subfolders, not deeper.
std::vector<std::string> objects_in(const std::string& folder, const std::string& pattern, bool below);

}  // namespace penstock
