// SPDX-License-Identifier: Apache-2.0
// Entropy-coded bytes prepared for a bit reader: without stuffing, contiguous restart segments.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codecs/image_decoder.h"
#include "codecs/jpeg/kernels.h"

namespace penstock::jpeg {

// The bit reader reads at most this far past the end: a group of 6 blocks of 11 + 16 + 63 * 26 bits each, checked only
// after it, and 8 bytes at once.
constexpr size_t kReadAhead = 2048;

struct ScanBytes {
  const uint8_t* data() const { return memory.data(); }
  // End of restart segment i, counted from the first one in this object, as an offset into data().
  size_t segment_end(size_t i) const { return i < segment_ends.size() ? segment_ends[i] : size; }

  std::vector<uint8_t> memory;  // kept from image to image; kReadAhead zeros after `size`
  size_t size = 0;
  std::vector<uint32_t> segment_ends;  // of all but the last
  size_t file_bytes = 0;               // of entropy-coded data, including the markers between segments
  bool at_marker = false;              // a marker other than a restart marker ends the data
  std::vector<uint32_t> removed;       // on request: offsets of bytes after which the file has one byte more
  size_t removed_count = 0;

  // Loads `coded` up to its end or the first marker that is not the expected restart marker. `first_segment`: the
  // number of the segment in which `coded` begins; `segments`: how many the whole scan has.
  void load(Bytes coded, int64_t first_segment, int64_t segments, const Kernels& kernels, bool list_removed);
  // Appends one more byte, for data that ends in the middle of a byte.
  void append(uint8_t byte);
  // Frees large memory.
  void shrink(size_t most);
};

}  // namespace penstock::jpeg
