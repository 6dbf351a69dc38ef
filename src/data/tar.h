// SPDX-License-Identifier: Apache-2.0
// tar archives (POSIX ustar and pax, GNU) with the naming of WebDataset: the files of a sample are contiguous and
// have the same name up to the first dot after the last slash.
#pragma once
#include "data/container.h"

namespace penstock {

// "folder/name" and "seg.png" for "folder/name.seg.png".
struct SampleName {
  std::string_view base, extension;
};
SampleName sample_name(std::string_view path);

}  // namespace penstock
