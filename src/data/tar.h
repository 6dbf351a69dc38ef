// SPDX-License-Identifier: Apache-2.0
// tar archives (POSIX ustar and pax, GNU) with WebDataset's way of naming: the files of a sample follow each other and
// have one name up to the first dot behind the last slash.
#pragma once
#include "data/container.h"

namespace penstock {

// "folder/name" and "seg.png" of "folder/name.seg.png".
struct SampleName {
  std::string_view base, extension;
};
SampleName sample_name(std::string_view path);

}  // namespace penstock
