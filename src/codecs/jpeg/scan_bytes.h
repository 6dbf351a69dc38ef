// SPDX-License-Identifier: Apache-2.0
// Entropy-coded bytes made ready for a bit reader: without stuffing, restart segments one after the other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codecs/image_decoder.h"
#include "codecs/jpeg/kernels.h"

namespace penstock::jpeg {

// Read past the end by the bit reader at most: a group of 6 blocks of 11 + 16 + 63 * 26 bits each, checked only behind
// it, and 8 bytes at once.
constexpr size_t kReadAhead = 2048;

struct ScanBytes {
  const uint8_t* data() const { return memory.data(); }
  // End of restart segment i, counted from the first one held here, as an offset into data().
  size_t segment_end(size_t i) const { return i < segment_ends.size() ? segment_ends[i] : size; }

  std::vector<uint8_t> memory;  // kept from image to image; kReadAhead zeros after `size`
  size_t size = 0;
  std::vector<uint32_t> segment_ends;  // of all but the last
  size_t file_bytes = 0;               // of entropy-coded data, markers between segments included
  bool at_marker = false;              // a marker other than a restart marker ends the data
  std::vector<uint32_t> removed;       // where asked for: offsets of bytes after which the file has one byte more
  size_t removed_count = 0;

  // Takes `coded` up to its end or its first marker that is no restart marker in its turn. `first_segment`: the number
  // of the segment in which `coded` begins; `segments`: how many there are in the whole scan.
  void load(Bytes coded, int64_t first_segment, int64_t segments, const Kernels& kernels, bool list_removed);
  // One more byte behind the data: the one in which they end in mid byte.
  void append(uint8_t byte);
  // Gives large memory back.
  void shrink(size_t most);
};

}  // namespace penstock::jpeg
