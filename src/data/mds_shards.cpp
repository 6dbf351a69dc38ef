// SPDX-License-Identifier: Apache-2.0
// Compression and hashes of whole shards.
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "base/optional_library.h"
#include "data/mds.h"
#include "data/number_at.h"

namespace penstock {
namespace {

struct Zstandard {
  size_t (*decompress)(void*, size_t, const void*, size_t);
  unsigned (*is_error)(size_t);
  void* (*make)();
  size_t (*free)(void*);
  size_t (*begin)(void*);
  size_t (*wanted)(void*);
  int (*kind)(void*);
  size_t (*go_on)(void*, void*, size_t, const void*, size_t);
};

const Zstandard& zstandard() {
  static const OptionalFunctions<Zstandard> functions(
      [] {
        void* library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
        return OptionalLibrary(library, library ? "" : "libzstd.so.1 is not installed", "libzstd.so.1 lacks");
      }(),
      [](OptionalLibrary& library, Zstandard& found) {
        library.find(found.decompress, "ZSTD_decompress");
        library.find(found.is_error, "ZSTD_isError");
        library.find(found.make, "ZSTD_createDCtx");
        library.find(found.free, "ZSTD_freeDCtx");
        library.find(found.begin, "ZSTD_decompressBegin");
        library.find(found.wanted, "ZSTD_nextSrcSizeToDecompress");
        library.find(found.kind, "ZSTD_nextInputType");
        library.find(found.go_on, "ZSTD_decompressContinue");
      });
  std::string why;
  const Zstandard* found = functions.get(why);
  if (!found) bad_data("the shard is compressed by zstd: {}", why);
  return *found;
}

constexpr int kBlockHeader = 1, kSkipped = 5;          // of ZSTD_nextInputType_e
constexpr size_t kMostOfBlock = 128 << 10, kHead = 3;  // bytes of a block, and of what precedes it

// Block by block. What does not compress, as pictures do not, is in the file as it was: it is read to its place, where
// zstd finds it and copies nothing. Other blocks are read into the same memory, which stays in the cache. ~0: it is
// damaged.
size_t unpack_blocks(const Zstandard& zstd, void* context, const OpenFile& file, int64_t bytes,
                     std::span<uint8_t> out) {
  std::vector<uint8_t> piece(kMostOfBlock + kHead);
  uint8_t head[kHead];
  size_t done = 0;
  bool as_it_was = false, has_head = false;  // has_head: it came with the block before
  if (zstd.is_error(zstd.begin(context))) return ~size_t{0};
  for (int64_t at = 0; at < bytes;) {
    size_t n = zstd.wanted(context);
    if (n == 0) zstd.begin(context), n = zstd.wanted(context);  // another frame
    const auto left = static_cast<size_t>(bytes - at);
    const int kind = zstd.kind(context);
    if (n > left || (n > kMostOfBlock && kind != kSkipped)) return ~size_t{0};
    uint8_t* from = piece.data();
    if (kind == kBlockHeader && has_head) {
      from = head;
      has_head = false;
    } else if (kind == kSkipped) {  // zstd looks at the begin of what it skips
      file.read(at, static_cast<int64_t>(std::min(n, kMostOfBlock)), from);
      has_head = false;
    } else {
      if (as_it_was && n <= out.size() - done) from = out.data() + done;
      has_head = n + kHead <= left && (from == piece.data() || n + kHead <= out.size() - done);
      file.read(at, static_cast<int64_t>(n + (has_head ? kHead : 0)), from);
      if (has_head) std::copy_n(from + n, kHead, head);
    }
    as_it_was = kind == kBlockHeader && (from[0] >> 1 & 3) == 0;
    const size_t made = zstd.go_on(context, out.data() + done, out.size() - done, from, n);
    if (zstd.is_error(made)) return ~size_t{0};
    done += made;
    at += static_cast<int64_t>(n);
  }
  return zstd.wanted(context) == 0 ? done : ~size_t{0};  // 0: a frame has ended
}

size_t unpack_gzip(Bytes from, std::span<uint8_t> out) {
  z_stream z{};
  if (inflateInit2(&z, 15 + 32) != Z_OK) fail(ErrorKind::out_of_memory, "no memory to decompress a shard");
  z.next_in = const_cast<uint8_t*>(from.data()), z.avail_in = static_cast<uInt>(from.size());
  z.next_out = out.data(), z.avail_out = static_cast<uInt>(out.size());
  const int end = inflate(&z, Z_FINISH);
  const size_t given = out.size() - z.avail_out;
  inflateEnd(&z);
  return end == Z_STREAM_END ? given : ~size_t{0};
}

uint32_t big_endian(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
}

void sha1_block(const uint8_t* block, uint32_t (&h)[5]) {
  uint32_t w[80];
  for (int i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
  for (int i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
  for (int i = 0; i < 80; ++i) {
    const uint32_t mixed = i < 20 ? (b & c) | (~b & d) : i < 40 || i >= 60 ? b ^ c ^ d : (b & c) | (b & d) | (c & d);
    const uint32_t added = i < 20 ? 0x5A827999u : i < 40 ? 0x6ED9EBA1u : i < 60 ? 0x8F1BBCDCu : 0xCA62C1D6u;
    const uint32_t next = std::rotl(a, 5) + mixed + e + added + w[i];
    e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
  }
  h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
}

// FIPS 180-4.
std::string sha1(Bytes bytes) {
  uint32_t h[5] = {0x67452301u, 0xEFCDAB89u, 0x98BADCFEu, 0x10325476u, 0xC3D2E1F0u};
  size_t at = 0;
  for (; at + 64 <= bytes.size(); at += 64) sha1_block(bytes.data() + at, h);
  uint8_t last[128] = {};
  const size_t rest = bytes.size() - at, blocks = rest < 56 ? 64 : 128;
  if (rest) std::memcpy(last, bytes.data() + at, rest);
  last[rest] = 0x80;
  for (size_t i = 0; i < 8; ++i) last[blocks - 1 - i] = static_cast<uint8_t>(uint64_t{bytes.size()} * 8 >> 8 * i);
  for (size_t i = 0; i < blocks; i += 64) sha1_block(last + i, h);
  return fmt::format("{:08x}{:08x}{:08x}{:08x}{:08x}", h[0], h[1], h[2], h[3], h[4]);
}

constexpr uint64_t kPrimes[] = {0x9E3779B185EBCA87u, 0xC2B2AE3D27D4EB4Fu, 0x165667B19E3779F9u, 0x85EBCA77C2B2AE63u,
                                0x27D4EB2F165667C5u};

template <class T> T load(Bytes bytes, size_t at) {
  return number_at<T>(bytes, static_cast<int64_t>(at), "the shard ends inside a number");
}

uint64_t lane(uint64_t sum, uint64_t input) { return std::rotl(sum + input * kPrimes[1], 31) * kPrimes[0]; }

// The specification of XXH64, with seed 0.
std::string xxh64(Bytes bytes) {
  size_t at = 0;
  const auto left = [&] { return bytes.size() - at; };
  uint64_t h = kPrimes[4];
  if (left() >= 32) {
    uint64_t v[4] = {kPrimes[0] + kPrimes[1], kPrimes[1], 0, 0 - kPrimes[0]};
    for (; left() >= 32; at += 32)
      for (size_t i = 0; i < 4; ++i) v[i] = lane(v[i], load<uint64_t>(bytes, at + 8 * i));
    h = std::rotl(v[0], 1) + std::rotl(v[1], 7) + std::rotl(v[2], 12) + std::rotl(v[3], 18);
    for (const uint64_t sum : v) h = (h ^ lane(0, sum)) * kPrimes[0] + kPrimes[3];
  }
  h += bytes.size();
  for (; left() >= 8; at += 8) h = std::rotl(h ^ lane(0, load<uint64_t>(bytes, at)), 27) * kPrimes[0] + kPrimes[3];
  if (left() >= 4) h = std::rotl(h ^ load<uint32_t>(bytes, at) * kPrimes[0], 23) * kPrimes[1] + kPrimes[2], at += 4;
  for (; left() > 0; ++at) h = std::rotl(h ^ bytes[at] * kPrimes[4], 11) * kPrimes[0];
  h = (h ^ h >> 33) * kPrimes[1];
  h = (h ^ h >> 29) * kPrimes[2];
  return fmt::format("{:016x}", h ^ h >> 32);
}

}  // namespace

namespace {

void check_sizes(const MdsShard& shard, size_t packed) {
  if (shard.bytes > default_file_limit)
    bad_data("the shard has {} bytes, more than the limit of {}", shard.bytes, default_file_limit);
  if (shard.compression != "zstd" && shard.compression != "gz")
    bad_data("the shard is compressed by \"{}\": zstd and gz can be read", shard.compression);
  if (static_cast<uint64_t>(shard.bytes) / 65536 > packed)  // more than either format can do
    bad_data("{} bytes cannot be {} when they are decompressed", packed, shard.bytes);
}

[[noreturn]] void damaged(const MdsShard& shard, size_t packed) {
  bad_data("the shard is damaged: its {} bytes do not decompress to {}", packed, shard.bytes);
}

}  // namespace

// The index says how large the shard is: no more memory is taken than that, whatever the compressed data says.
void unpack_mds(const MdsShard& shard, Bytes packed, const std::function<uint8_t*(size_t)>& room) {
  check_sizes(shard, packed.size());
  const size_t bytes = static_cast<size_t>(shard.bytes) + 1;
  const std::span<uint8_t> out(room(bytes), bytes);
  const bool zstd = shard.compression == "zstd";
  const size_t given =
      zstd ? zstandard().decompress(out.data(), out.size(), packed.data(), packed.size()) : unpack_gzip(packed, out);
  if ((zstd && zstandard().is_error(given)) || given + 1 != out.size()) damaged(shard, packed.size());
}

bool unpack_mds(const MdsShard& shard, const OpenFile& file, const std::function<uint8_t*(size_t)>& room) {
  if (shard.compression != "zstd") return false;
  check_sizes(shard, static_cast<size_t>(shard.packed_bytes));
  const Zstandard& zstd = zstandard();
  const std::unique_ptr<void, size_t (*)(void*)> context(zstd.make(), zstd.free);
  if (!context) return false;
  const size_t bytes = static_cast<size_t>(shard.bytes) + 1;
  const std::span<uint8_t> out(room(bytes), bytes);
  if (unpack_blocks(zstd, context.get(), file, shard.packed_bytes, out) + 1 != bytes)
    damaged(shard, static_cast<size_t>(shard.packed_bytes));
  return true;
}

void check_mds_hashes(const MdsShard& shard, Bytes file) {
  for (const auto& [name, value] : shard.hashes) {
    const std::string own = name == "sha1" ? sha1(file) : name == "xxh64" ? xxh64(file) : value;
    if (own != value) bad_data("the {} of the shard is {}, its index says {}", name, own, value);
  }
}

}  // namespace penstock
