// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg_smoothing.h"

#include <algorithm>

namespace penstock {

namespace {

constexpr int kSide = 5, kReach = kSide / 2;

// Weights of the DC values of a block and its neighbors, row by row; sums are 256 times the estimate.
using Window = std::array<int16_t, kSide * kSide>;

constexpr Window transposed(const Window& w) {
  Window t{};
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) t[x * kSide + y] = w[y * kSide + x];
  return t;
}

struct Estimate {
  int at;  // position of the coefficient in the block
  Window window;
};
using Estimates = std::array<Estimate, kSmoothedCoefficients>;  // in zigzag order

// If only DC has arrived, DC itself is estimated too, so that blocks blend into each other.
constexpr Window kDc = {-2, -6, -8,  -6, -2,  //
                        -6, 6,  42,  6,  -6,  //
                        -8, 42, 152, 42, -8,  //
                        -6, 6,  42,  6,  -6,  //
                        -2, -6, -8,  -6, -2};
constexpr Window kSlope = {-1, -1, 0, 1,   1,  //
                           -3, 13, 0, -13, 3,  //
                           -3, 38, 0, -38, 3,  //
                           -3, 13, 0, -13, 3,  //
                           -1, -1, 0, 1,   1};
constexpr Window kBend = {0, 0, 0,   0, 0,  //
                          0, 2, -5,  2, 0,  //
                          1, 7, -14, 7, 1,  //
                          0, 2, -5,  2, 0,  //
                          0, 0, 0,   0, 0};
constexpr Window kTwist = {-1, 0,  0, 0,  1,  //
                           0,  9,  0, -9, 0,  //
                           0,  0,  0, 0,  0,  //
                           0,  -9, 0, 9,  0,  //
                           1,  0,  0, 0,  -1};
constexpr Window kThird = {0, 0, 0, 0,  0,  //
                           0, 1, 0, -1, 0,  //
                           0, 2, 0, -2, 0,  //
                           0, 1, 0, -1, 0,  //
                           0, 0, 0, 0,  0};
constexpr Window kTwistedBend = {0, 0,  0,  0,  0,  //
                                 0, 1,  -3, 1,  0,  //
                                 0, 0,  0,  0,  0,  //
                                 0, -1, 3,  -1, 0,  //
                                 0, 0,  0,  0,  0};
constexpr Estimates kFromDcAlone = {{{0, kDc},
                                     {1, kSlope},
                                     {8, transposed(kSlope)},
                                     {16, transposed(kBend)},
                                     {9, kTwist},
                                     {2, kBend},
                                     {3, kThird},
                                     {10, kTwistedBend},
                                     {17, transposed(kTwistedBend)},
                                     {24, transposed(kThird)}}};

// If a part of AC has arrived, DC stays and the five lowest AC coefficients are estimated.
constexpr Window kSlopeBesideAc = {0,  0,  0, 0,   0,  //
                                   0,  0,  0, 0,   0,  //
                                   -7, 50, 0, -50, 7,  //
                                   0,  0,  0, 0,   0,  //
                                   0,  0,  0, 0,   0};
constexpr Window kBendBesideAc = {0,  0,  0,   0,  0,   //
                                  0,  0,  0,   0,  0,   //
                                  -1, 13, -24, 13, -1,  //
                                  0,  0,  0,   0,  0,   //
                                  0,  0,  0,   0,  0};
constexpr Window kTwistBesideAc = {0,  -1,  0, 1,   0,   //
                                   -1, 10,  0, -10, 1,   //
                                   0,  0,   0, 0,   0,   //
                                   1,  -10, 0, 10,  -1,  //
                                   0,  1,   0, -1,  0};
constexpr int kBesideAc = 6;
constexpr std::array<Estimate, kBesideAc> kFromDcBesideAc = {{{0, {}},
                                                              {1, kSlopeBesideAc},
                                                              {8, transposed(kSlopeBesideAc)},
                                                              {16, transposed(kBendBesideAc)},
                                                              {9, kTwistBesideAc},
                                                              {2, kBendBesideAc}}};

// `bits` > 0: all bits except the low ones are known to be zero, so the estimate may not be larger.
JCOEF estimate(const Window& weights, const int* dc, int64_t dc_step, int64_t step, int bits) {
  int sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) sum += weights[i] * dc[i];
  const int64_t scaled = sum * dc_step;
  int64_t size = ((step << 7) + (scaled < 0 ? -scaled : scaled)) / (step << 8);
  if (bits > 0) size = std::min<int64_t>(size, (int64_t{1} << bits) - 1);
  return static_cast<JCOEF>(scaled < 0 ? -size : size);
}

void smooth_block(JCOEF* block, const int* dc, const uint16_t* steps, const JpegScanRecord::Bits& bits, bool dc_alone) {
  if (dc_alone) block[0] = estimate(kFromDcAlone[0].window, dc, steps[0], steps[0], 0);
  const int count = dc_alone ? kSmoothedCoefficients : kBesideAc;
  for (int k = 1; k < count; ++k) {
    const Estimate& e = dc_alone ? kFromDcAlone[k] : kFromDcBesideAc[k];
    if (bits[k] != 0 && block[e.at] == 0) block[e.at] = estimate(e.window, dc, steps[0], steps[e.at], bits[k]);
  }
}

// The coefficients of one component, with the DC values of the rows around the current one, which is smoothed in place.
// libjpeg owns the memory, so that its jumps do not leak it.
class BlockRows {
 public:
  BlockRows(jpeg_decompress_struct& d, int component, jvirt_barray_ptr array)
      : d_(d),
        array_(array),
        width_(d.comp_info[component].width_in_blocks),
        height_(int64_t{d.total_iMCU_rows} * d.comp_info[component].v_samp_factor),
        stride_(width_ + 2 * kReach) {
    dc_ = static_cast<JCOEF*>(
        (*d.mem->alloc_large)(reinterpret_cast<j_common_ptr>(&d), JPOOL_IMAGE, kSide * stride_ * sizeof(JCOEF)));
  }
  int64_t width() const { return width_; }

  // Rows must ascend. Before a row is smoothed, the DC values of the two rows below it are read.
  JBLOCKROW row(int64_t y) {
    for (const int64_t end = std::min(height_, y + kReach + 1); loaded_ < end; ++loaded_) load(loaded_);
    return access(y, TRUE);
  }
  // DC values of row y; [x] is that of block x - kReach. The blocks at the edges repeat outside.
  const JCOEF* dc(int64_t y) const { return dc_ + y % kSide * stride_; }

 private:
  JBLOCKROW access(int64_t y, boolean writes) {
    return *(*d_.mem->access_virt_barray)(reinterpret_cast<j_common_ptr>(&d_), array_, static_cast<JDIMENSION>(y), 1,
                                          writes);
  }
  void load(int64_t y) {
    const JBLOCKROW blocks = access(y, FALSE);
    JCOEF* const to = dc_ + y % kSide * stride_;
    for (int64_t x = 0; x < stride_; ++x) to[x] = blocks[std::clamp<int64_t>(x - kReach, 0, width_ - 1)][0];
  }

  jpeg_decompress_struct& d_;
  const jvirt_barray_ptr array_;
  const int64_t width_, height_, stride_;
  int64_t loaded_ = 0;
  JCOEF* dc_ = nullptr;
};

void smooth_component(jpeg_decompress_struct& d, int component, jvirt_barray_ptr array, const JpegScanRecord& record) {
  const jpeg_component_info& c = d.comp_info[component];
  BlockRows rows(d, component, array);
  const int64_t imcu_rows = d.total_iMCU_rows, step = c.v_samp_factor;
  for (int64_t imcu = 0; imcu < imcu_rows; ++imcu) {
    const JpegScanRecord::Bits& bits = record.bits(component, imcu);
    auto all = [&](int value) { return std::all_of(bits.begin() + 1, bits.end(), [=](int b) { return b == value; }); };
    if (all(0)) continue;
    const bool dc_alone = all(-1);
    const int64_t rest = imcu + 1 < imcu_rows ? 0 : c.height_in_blocks % step;
    const int64_t count = rest ? rest : step;
    for (int64_t i = 0; i < count; ++i) {
      // libjpeg-turbo counts as if each row of iMCUs had as many rows of blocks as the current one: so in the last one
      // of two it may not read two rows up, although they exist. The second row below may exist only to fill the iMCU.
      const int64_t y = imcu * step + i, counted = imcu * count + i, last = imcu_rows * count - 1;
      const JBLOCKROW blocks = rows.row(y);
      const int64_t up = counted > 0 ? y - 1 : y, down = counted < last ? y + 1 : y;
      const int64_t ys[kSide] = {counted > 1 ? y - 2 : up, up, y, down, counted < last - 1 ? y + 2 : down};
      for (int64_t x = 0; x < rows.width(); ++x) {
        int dc[kSide * kSide];
        for (int k = 0; k < kSide; ++k) std::copy_n(rows.dc(ys[k]) + x, kSide, dc + k * kSide);
        smooth_block(blocks[x], dc, c.quant_table->quantval, bits, dc_alone);
      }
    }
  }
}

// libjpeg-turbo smooths all components or none.
bool may_smooth(const jpeg_decompress_struct& d) {
  bool useful = false;
  for (int i = 0; i < d.num_components; ++i) {
    const JQUANT_TBL* table = d.comp_info[i].quant_table;
    if (!table || d.coef_bits[i][0] < 0) return false;  // no scan of this component has arrived
    for (const Estimate& e : kFromDcAlone)
      if (table->quantval[e.at] == 0) return false;
    for (int k = 1; k < kSmoothedCoefficients; ++k) useful |= d.coef_bits[i][k] != 0;
  }
  return useful;
}

}  // namespace

void JpegScanRecord::begin_scan(const jpeg_decompress_struct& d) {
  ++scans_;
  last_row_ = restarts_ = 0;
  missing_ = false;
  resumed_at_ = nullptr;
  resumed_mcu_ = -1;
  if (!d.progressive_mode) return;
  if (scans_ == 1) {
    bits_.fill(kUnknown);
    before_.fill(kUnknown);
  }
  for (int i = 0; i < d.comps_in_scan; ++i) {
    const int c = d.cur_comp_info[i]->component_index;
    // Before the first scan of a component, libjpeg-turbo treats it as complete if that is the file's first scan.
    if (scans_ > 1) before_[c] = bits_[c];
    else before_[c].fill(0);
    for (int k = d.Ss; k <= std::min(d.Se, kSmoothedCoefficients - 1); ++k) bits_[c][k] = static_cast<int8_t>(d.Al);
  }
}

// libjpeg-turbo checks before each MCU whether data is missing, and meets restarts inside one.
void JpegScanRecord::data_ended(const jpeg_decompress_struct& d) {
  if (d.src->next_input_byte != resumed_at_) last_row_ = d.input_iMCU_row;  // else still in the MCU of the restart
  missing_ = true;
}

void JpegScanRecord::restart(const jpeg_decompress_struct& d, bool found) {
  ++restarts_;
  if (!found || !missing_) return;
  missing_ = false;
  resumed_at_ = d.src->next_input_byte;
  resumed_mcu_ = restarts_ * d.restart_interval;
}

void JpegScanRecord::end_scan(const jpeg_decompress_struct& d) {
  if (!missing_ && resumed_mcu_ + 1 < int64_t{d.MCUs_per_row} * d.MCU_rows_in_scan) last_row_ = d.total_iMCU_rows;
}

const JpegScanRecord::Bits& JpegScanRecord::bits(int component, int64_t imcu_row) const {
  if (imcu_row <= last_row_) return bits_[component];
  return scans_ > 1 ? before_[component] : kUnknown;
}

bool lacks_bits(const jpeg_decompress_struct& d) {
  if (!d.progressive_mode || !d.coef_bits) return false;
  for (int c = 0; c < d.num_components; ++c)
    for (int k = 0; k < DCTSIZE2; ++k)
      if (d.coef_bits[c][k] != 0) return true;
  return false;
}

void smooth_blocks(jpeg_decompress_struct& d, jvirt_barray_ptr* arrays, const JpegScanRecord& record) {
  if (!may_smooth(d)) return;
  for (int i = 0; i < d.num_components; ++i)
    if (d.comp_info[i].component_needed) smooth_component(d, i, arrays[i], record);
}

}  // namespace penstock
