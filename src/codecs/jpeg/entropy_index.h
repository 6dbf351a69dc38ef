// SPDX-License-Identifier: Apache-2.0
// Positions inside a baseline JPEG scan from which entropy decoding can start, so that a crop decodes only what it
// needs.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace penstock {

// `bit` counts in the file's bytes (stuffing included) from the first entropy-coded byte; `dc`: the predictors at this
// point.
struct EntropyPoint {
  uint32_t bit = 0;
  int16_t dc[3] = {0, 0, 0};
  bool operator==(const EntropyPoint&) const = default;
};

// Points at MCU columns 0, step, 2 * step ... of each row of MCUs. An index is never trusted: the decoder checks it
// against the file. A wrong one gives, at worst, wrong pixels of that file.
struct EntropyIndex {
  int32_t step = 0, columns = 0, rows = 0;
  uint32_t file_bytes = 0;           // of the file that it was made from
  uint32_t scan_bytes = 0;           // of entropy-coded data
  std::vector<EntropyPoint> points;  // rows * columns
  bool operator==(const EntropyIndex&) const = default;
};

// The interface of a decoder to a store of indexes, for one file or record. Called by the decoding thread.
class EntropyIndexAccess {
 public:
  virtual ~EntropyIndexAccess() = default;
  // True, and the index in `into` (whose memory is reused), if there is one that was made from these bytes.
  virtual bool find(std::span<const uint8_t> file, EntropyIndex& into) = 0;
  // MCUs between the points of an index that is worth making now; 0: make none.
  virtual int wanted_step() const = 0;
  // A complete index, made while the whole scan was decoded without an error.
  virtual void offer(std::span<const uint8_t> file, const EntropyIndex& index) = 0;
};

}  // namespace penstock
