// SPDX-License-Identifier: Apache-2.0
// MDS: the bytes as an index, as the places of a shard, as a sample with its columns, and as a compressed shard.
#include "data/mds.h"
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::vector<uint8_t> bytes(data + 1, data + size);
  MdsShard shard;
  shard.samples = data[0] % 8, shard.bytes = data[0] >> 3 << 4;
  fuzz::may_refuse([&] {
    switch (data[0] % 5) {
      case 0: parse_mds_index({bytes.begin(), bytes.end()}, "folder"); break;
      case 1: mds_places(bytes, shard); break;
      case 2: read_sample(bytes); break;
      default:
        std::vector<uint8_t> out;
        shard.compression = data[0] % 5 == 3 ? "zstd" : "gz";
        unpack_mds(shard, bytes, [&](size_t n) { return out.resize(n), out.data(); });
    }
  });
  return 0;
}
