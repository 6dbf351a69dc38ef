// SPDX-License-Identifier: Apache-2.0
// MDS, the shards of MosaicML's streaming: index.json names the columns and the shards. A shard is the number of its
// samples n, n + 1 places (uint32 all), and the samples: the sizes of the columns that vary (uint32), then all columns.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "data/container.h"

namespace penstock {

struct MdsColumn {
  std::string name, encoding;
  int64_t size = -1;             // in bytes; -1: it varies
  DType dtype = DType::uint8;    // none: each value says its own
  std::optional<Shape> shape{};  // of arrays and numbers; none: each value says its own, or bytes
  bool bytes = false;            // bytes, text, encoded pictures: 1-D
  std::string refused{};         // why it cannot be read
};

struct MdsHash {
  std::string name, value;  // "sha1"; in hexadecimal digits
};

struct MdsShard {
  std::string path;  // of the file that is there
  int64_t samples = 0, bytes = 0;
  std::string compression;  // "": none
  int64_t packed_bytes = 0;
  std::vector<MdsHash> hashes;  // of the file that is there
};

struct MdsIndex {
  std::vector<MdsColumn> columns;
  std::vector<MdsShard> shards;
};

// The index of a folder or URL. Error (data) with its path if it is damaged, or not of MDS.
MdsIndex read_mds_index(const std::string& folder);
MdsIndex parse_mds_index(const std::string& text, const std::string& folder);
// The number of a column. Error (argument) if there is none, or if it cannot be read.
int find_mds_column(const MdsIndex& index, const std::string& name);

// The places of the samples in a shard of so many bytes, of which `start` has 4 + 4 * (samples + 1). Error (data).
ContainerIndex mds_places(Bytes start, const MdsShard& shard);
// The columns of a sample. Error (data) if they do not fill it.
void split_mds_sample(Bytes sample, const std::vector<MdsColumn>& columns, std::vector<Bytes>& values);

struct MdsArray {
  DType dtype = DType::none;
  Shape shape;
  Bytes data;
};
// The value of a column of numbers. Error (data) if it is damaged.
MdsArray mds_array(const MdsColumn& column, Bytes value);

// A shard as it was before its compression, into memory from room(shard.bytes + 1): exactly shard.bytes, and one byte
// that shows if there are more. Error (data), also where the library is missing.
void unpack_mds(const MdsShard& shard, Bytes packed, const std::function<uint8_t*(size_t bytes)>& room);
// The same from the file, block by block: what is decompressed comes from the cache. False, and nothing was done, where
// only a whole file can be decompressed.
bool unpack_mds(const MdsShard& shard, const OpenFile& file, const std::function<uint8_t*(size_t bytes)>& room);
// Error (data) if a hash that is known here (sha1, xxh64) differs.
void check_mds_hashes(const MdsShard& shard, Bytes file);

}  // namespace penstock
