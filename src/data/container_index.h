// SPDX-License-Identifier: Apache-2.0
// Indexes of container files, kept in the user's cache folder.
#pragma once
#include <optional>

#include "data/container.h"

namespace penstock {

// What a kept index belongs to. Size and time alone do not tell a file from one that took its place with a clamped
// time: also its inode, when that changed last, and its first bytes. Remote storage says a version.
FileStamp identity_of(const OpenFile& file);

// The kept index of a file of this identity; nothing where there is none, or none that is whole and fits.
std::optional<ContainerIndex> kept_index(const std::string& format, const std::string& path, const FileStamp& stamp);
// Keeps it. Does nothing where that is not possible.
void keep_index(const std::string& format, const std::string& path, const FileStamp& stamp,
                const ContainerIndex& index);

// The same for any bytes, which say themselves what they belong to.
std::optional<std::vector<uint8_t>> kept_bytes(const std::string& format, const std::string& path);
void keep_bytes(const std::string& format, const std::string& path, Bytes bytes);

// The bytes of a kept index, and back; nothing where they are damaged or belong to other data.
std::vector<uint8_t> index_bytes(const std::string& format, const FileStamp& stamp, const ContainerIndex& index);
std::optional<ContainerIndex> index_from_bytes(Bytes bytes, const std::string& format, const FileStamp& stamp);

// Whether all records lie in a file of so many bytes; the first one that does not, else -1.
int64_t first_outside(const ContainerIndex& index, int64_t file_bytes);

// Lines of whole numbers separated by blanks: tfrecord2idx's, rec2idx's. Error (data) with path and line.
std::vector<std::vector<int64_t>> number_lines(const std::string& text, const std::string& path, size_t columns);

}  // namespace penstock
