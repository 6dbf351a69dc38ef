// SPDX-License-Identifier: Apache-2.0
// MDS: the bytes as an index, as the places of a shard, as a sample with its columns, and as a compressed shard, whole
// and by its raw blocks.
#include "data/mds.h"
#include "data/raw_blocks.h"
#include "fuzz_containers.h"

using namespace penstock;

namespace {

std::vector<MdsColumn> columns() {
  static const MdsIndex index = parse_mds_index(
      R"({"shards": [{"format": "mds", "column_names": ["a", "b", "c", "d"], "column_sizes": [null, 8, null, null],
      "column_encodings": ["jpeg", "int", "ndarray", "ndarray:uint16"], "samples": 2,
      "raw_data": {"basename": "x", "bytes": 64, "hashes": {}}}]})",
      "");
  return index.columns;
}

void read_sample(Bytes sample) {
  const auto all = columns();
  std::vector<Bytes> values;
  split_mds_sample(sample, all, values);
  for (size_t k = 1; k < all.size(); ++k) mds_array(all[k], values[k]);
}

std::vector<uint8_t> unpacked(const MdsShard& shard, Bytes bytes) {
  std::vector<uint8_t> out;
  unpack_mds(shard, bytes, [&](size_t n) { return out.resize(n), out.data(); });
  out.pop_back();
  return out;
}

// Blocks that can be read one by one are what the library finds, each part of them too.
void read_blocks(const MdsShard& shard, Bytes bytes) {
  const auto peek = [&](int64_t offset, int64_t length, uint8_t* out) {
    std::copy_n(bytes.begin() + offset, length, out);
    return true;
  };
  const auto blocks = RawBlocks::find(peek, static_cast<int64_t>(bytes.size()), shard.bytes);
  if (!blocks) return;
  const fuzz::MemoryFile file(bytes.data(), bytes.size());
  const OpenFile open(file.path());
  std::vector<uint8_t> all(static_cast<size_t>(shard.bytes));
  blocks->read(open, 0, shard.bytes, all.data());
  if (all != unpacked(shard, bytes)) std::abort();
  for (int64_t at = 0; at < shard.bytes; at += 7) {
    uint8_t part[5];
    const int64_t length = std::min<int64_t>(5, shard.bytes - at);
    blocks->read(open, at, length, part);
    if (!std::equal(part, part + length, all.begin() + at)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::vector<uint8_t> bytes(data + 2, data + size);
  MdsShard shard;
  shard.samples = data[1] % 8, shard.bytes = data[1] >> 3 << 4;
  fuzz::may_refuse([&] {
    switch (data[0] % 6) {
      case 0: parse_mds_index({bytes.begin(), bytes.end()}, "folder"); break;
      case 1: mds_places(bytes, shard); break;
      case 2: read_sample(bytes); break;
      default:
        shard.compression = data[0] % 6 == 4 ? "gz" : "zstd";
        if (data[0] % 6 == 5) read_blocks(shard, bytes);
        else unpacked(shard, bytes);
    }
  });
  return 0;
}
