// SPDX-License-Identifier: Apache-2.0
// Indexes of container files, cached in the user's cache folder.
#pragma once
#include <optional>

#include "data/container.h"

namespace penstock {

// The file that a cached index belongs to. Size and time alone do not distinguish a file from one that replaced it with
// a copied time. So the identity also has the inode, its change time and the first bytes. Remote storage has a version.
FileStamp identity_of(const OpenFile& file);

// The cached index of a file with this identity; nothing if there is none, or if it is damaged or does not fit.
std::optional<ContainerIndex> kept_index(const std::string& format, const std::string& path, const FileStamp& stamp);
// Caches the index. Does nothing if that is not possible.
void keep_index(const std::string& format, const std::string& path, const FileStamp& stamp,
                const ContainerIndex& index);

// The same for any bytes that contain their own identity.
std::optional<std::vector<uint8_t>> kept_bytes(const std::string& format, const std::string& path);
void keep_bytes(const std::string& format, const std::string& path, Bytes bytes);

// Serializes and parses a cached index; nothing if the bytes are damaged or belong to other data.
std::vector<uint8_t> index_bytes(const std::string& format, const FileStamp& stamp, const ContainerIndex& index);
std::optional<ContainerIndex> index_from_bytes(Bytes bytes, const std::string& format, const FileStamp& stamp);

// The first record that does not lie in a file of `file_bytes` bytes; -1 if all do.
int64_t first_outside(const ContainerIndex& index, int64_t file_bytes);

// Lines of whole numbers separated by blanks, as tfrecord2idx and rec2idx write them. Error (data) with path and line.
std::vector<std::vector<int64_t>> number_lines(const std::string& text, const std::string& path, size_t columns);

}  // namespace penstock
