// SPDX-License-Identifier: Apache-2.0
// Arrow IPC files: the stream format (`save_to_disk` of Hugging Face's datasets) and the file format, told apart by the
// first bytes.
#pragma once
#include "data/arrow_table.h"

namespace penstock {

// The columns of a file. Error (data) with the path if it is not Arrow IPC.
std::vector<ArrowField> arrow_file_fields(const std::string& path);
// The tables of several files, one after the other. They must have the columns of the first one. Of `columns` (numbers)
// the small buffers (offsets, which values are absent) are read at once, all others with each record.
std::shared_ptr<const ArrowTable> open_arrow_files(const std::vector<std::string>& paths,
                                                   const std::vector<int>& columns);

}  // namespace penstock
