// SPDX-License-Identifier: Apache-2.0
// Files of Zstandard (RFC 8878) whose blocks are all raw or of one byte, as those of photographs are: what they hold
// can be read from any place, without the library and without memory for the whole.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "data/storage.h"

namespace penstock {

class RawBlocks {
 public:
  // Reads bytes of the file; false: it cannot, and find() gives up.
  using Peek = std::function<bool(int64_t offset, int64_t length, uint8_t* out)>;
  // Empty where only the library can say what the file of so many bytes holds: a block is compressed, a sum has to be
  // compared, the file is damaged or holds another number of bytes, or its blocks are small.
  static std::optional<RawBlocks> find(const Peek& peek, int64_t file_bytes, int64_t content_bytes);
  // Bytes of the content. Error (data) if they do not lie in it, or as OpenFile::read().
  void read(const OpenFile& file, int64_t offset, int64_t length, uint8_t* out) const;

 private:
  class Scan;
  struct Block {
    int64_t begin;  // in the content
    int64_t at;     // in the file
    int byte;       // of which the block consists; -1: it is raw
  };
  std::vector<Block> blocks_;  // of at least one byte each
  int64_t bytes_ = 0;          // of the content
};

}  // namespace penstock
