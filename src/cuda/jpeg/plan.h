// SPDX-License-Identifier: Apache-2.0
// What the host does for a batch: reads headers, lays out memory, fills the table. No pass over coded data.
#pragma once
#include <optional>
#include <vector>

#include "codecs/image_decoder.h"
#include "cuda/runtime/driver.h"
#include "cuda/jpeg/file_header.h"

namespace penstock::jpeg_gpu {

// How finely the stream is cut, in bits: multiples of entry_bits, at most kMostEntries of them in a subsequence.
// Without sub_bits by the size of the batch: few bits take longest where they wait for each other, many where they are
// scanned again. `turns` likewise: many share what a thread begins with, few leave more threads.
struct Division {
  uint32_t sub_bits = 0, guess_bits = 2048, warm_bits = 24576;
  uint32_t rounds_alone = 16, spread_below = 8;  // see settle()
  uint32_t entry_bits = kEntryBits;
  uint32_t turns = 0;  // of a thread, one after the other: blocks transformed, pairs of rows written
};

// What a batch needs of the device for this image, about: without what 8 or 16 rows and columns around its region take.
size_t device_bytes_about(const DeviceDecode& image);

// Offsets into the two pieces of memory of a part of a batch: what goes up, and what is only on the device.
class Plan {
 public:
  explicit Plan(Division division) : wish_(division) {}
  void clear(size_t file_bytes);  // of what will be added, about
  // False: the part is full, the image belongs into the next one. Sets image.error where the file is not what
  // declines() saw. `at`: where the file will be in the uploaded files.
  bool add(DeviceDecode& image, const DecodeParams& params, size_t at);
  int pictures() const { return static_cast<int>(pictures_.size()); }
  bool has_restarts() const { return segments_ > 0; }
  int64_t blocks_of(int kernel) const;        // of a launch
  static size_t shared_bytes_of(int kernel);  // dynamic

  // Descriptors, as they go up; the table in front.
  size_t description_bytes();
  void describe(uint8_t* to, uint8_t* device_description, const uint8_t* device_files, uint8_t* device_scratch) const;
  size_t scratch_bytes() const { return scratch_.end; }
  size_t flags_at() const { return at_.flags; }       // in the description
  size_t words_at() const { return scratch_.words; }  // in the scratch memory
  size_t words_bytes() const { return (size_t{words_} + kEndWords) * 4; }
  uint32_t* statistics = nullptr;

 private:
  void place(Picture& p, const DeviceDecode& image, const DecodeParams& params, const FileHeader& h);
  uint32_t table_set(const std::shared_ptr<const TableSpec>& spec);
  void lay_out_scratch();

  const Division wish_;
  Division division_;
  uint32_t tiles_ = 0, subs_ = 0, syncs_ = 0, segments_ = 0, words_ = 0, blocks_ = 0, transforms_ = 0, colors_ = 0;
  uint64_t sample_bytes_ = 0;
  std::vector<Picture> pictures_;
  std::vector<std::shared_ptr<const TableSpec>> specs_;
  std::vector<Item> tile_items_, sync_items_;
  std::vector<DecodeItem> decode_items_;
  std::vector<uint32_t> first_transform_, first_color_;
  std::vector<std::pair<size_t, size_t>> guards_;  // of the scratch memory: where, how many bytes
  struct {
    size_t pictures, specs, tiles, syncs, decodes, first_transform, first_color, markers, bits, flags, end;
  } at_{};
  struct {
    size_t tables, words, tile_kept, tile_restarts, segment_end, segment_bytes, segment_sub, sub_segment, sub_state,
        sub_record, incoming, entry, dc_sum, block_entry, coefficients, samples, end = 0;
  } scratch_{};
};

}  // namespace penstock::jpeg_gpu
