// SPDX-License-Identifier: Apache-2.0
// Block smoothing of progressive JPEG files whose scans do not deliver all bits of all coefficients.
//
// The rules are those of libjpeg-turbo from 3.0.1 on (its jdcoefct.c; an extension of ITU-T T.81, K.8, to windows of 5
// x 5 blocks). Versions differ, so ours is applied to the coefficients and that of the linked version stays off.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs FILE and size_t

#include <jpeglib.h>

namespace penstock {

constexpr int kSmoothedCoefficients = 10;  // in zigzag order

// What the scans of a progressive file have delivered so far. Plain data: libjpeg's jumps may skip it.
class JpegScanRecord {
 public:
  using Bits = std::array<int8_t, kSmoothedCoefficients>;  // -1 unknown, else the number of missing low bits

  // Call these when libjpeg has begun a scan, reports missing data, meets a restart (found, or continued without data),
  // has ended a scan.
  void begin_scan(const jpeg_decompress_struct& d);
  void data_ended(const jpeg_decompress_struct& d);
  void restart(const jpeg_decompress_struct& d, bool found);
  void end_scan(const jpeg_decompress_struct& d);

  // The bits for a row of iMCUs: if the data of the last scan did not reach it, what was known before that scan.
  const Bits& bits(int component, int64_t imcu_row) const;

 private:
  static constexpr Bits kUnknown = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  std::array<Bits, MAX_COMPONENTS> bits_, before_;
  int scans_ = 0;
  // In the current scan: the last row with an MCU before which no data was missing, how many restarts it had,
  int64_t last_row_ = 0, restarts_ = 0;
  bool missing_ = false;                // whether data has been missing since the last restart,
  const JOCTET* resumed_at_ = nullptr;  // and the last restart that ended such a part: its address in the file,
  int64_t resumed_mcu_ = -1;            // and its MCU
};

// Whether any coefficient of a progressive file lacks bits after its last scan.
bool lacks_bits(const jpeg_decompress_struct& d);

// Estimates coefficients in `arrays`, those of jpeg_read_coefficients, after all scans have been read. libjpeg may
// leave it by a jump.
void smooth_blocks(jpeg_decompress_struct& d, jvirt_barray_ptr* arrays, const JpegScanRecord& record);

}  // namespace penstock
