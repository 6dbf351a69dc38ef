// SPDX-License-Identifier: Apache-2.0
// The host's work for a batch: reads headers, lays out memory, fills the table. It makes no pass over coded data.
#pragma once
#include <optional>
#include <vector>

#include "codecs/image_decoder.h"
#include "cuda/runtime/driver.h"
#include "cuda/jpeg/file_header.h"
#include "device/batch_decoder.h"

namespace penstock::jpeg_gpu {

// How the stream is divided, in bits: multiples of entry_bits, at most kMostEntries of them per subsequence. Without
// sub_bits it depends on the size of the batch: with few bits the threads wait for each other, with many they scan more
// of them again. `turns` likewise: many share the start-up work of a thread, few leave more threads.
struct Division {
  uint32_t sub_bits = 0, guess_bits = 2048, warm_bits = 24576;
  uint32_t rounds_alone = 16, spread_below = 8;  // see settle()
  uint32_t entry_bits = kEntryBits;
  uint32_t turns = 0;  // per thread, in sequence: blocks to transform, pairs of rows to write
};

// Estimate of the device bytes that a batch needs for this image, without the 8 or 16 rows and columns around its
// region.
size_t device_bytes_about(const DeviceDecode& image);

// Offsets into the two blocks of memory of a part of a batch: the uploaded one, and the one that is only on the device.
class Plan {
 public:
  explicit Plan(Division division) : wish_(division) {}
  void clear(size_t file_bytes);  // estimated bytes of the files to add
  // False: the part is full, the image belongs into the next one. Sets image.error if the file is not what declines()
  // saw. `at`: offset of the file in the uploaded files.
  bool add(DeviceDecode& image, const DecodeParams& params, size_t at);
  int pictures() const { return static_cast<int>(pictures_.size()); }
  bool has_restarts() const { return segments_ > 0; }
  int64_t blocks_of(int kernel) const;        // of a launch
  static size_t shared_bytes_of(int kernel);  // dynamic

  // The uploaded descriptors, after the table.
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
  std::vector<std::pair<size_t, size_t>> guards_;  // in the scratch memory: offset, number of bytes
  struct {
    size_t pictures, specs, tiles, syncs, decodes, first_transform, first_color, markers, bits, flags, end;
  } at_{};
  struct {
    size_t tables, words, tile_kept, tile_restarts, segment_end, segment_bytes, segment_sub, sub_segment, sub_state,
        sub_record, incoming, entry, dc_sum, block_entry, coefficients, samples, end = 0;
  } scratch_{};
};

}  // namespace penstock::jpeg_gpu
