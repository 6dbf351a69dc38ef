// SPDX-License-Identifier: Apache-2.0
// Decodes a region of one JPEG file: the MCUs that it needs into planes, and from these any row in any order.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/target.h"
#include "codecs/decode_task.h"
#include "codecs/jpeg/entropy_loop.h"
#include "codecs/jpeg/entropy_stream.h"
#include "codecs/jpeg/huffman_tables.h"
#include "codecs/jpeg/scan_header.h"
#include "codecs/jpeg/scan_pieces.h"
#include "codecs/pixel_rows.h"

namespace penstock::jpeg {

// One image at a time; keeps its memory for the next one. Use: prepare, run (or run_together), then the rows.
class RegionDecoder final : public RegionRows {
 public:
  // `header`: of the file; read here if it is null. `stored`: the region before orientation, in bounds. `index`, if not
  // null, may supply an index, and is offered one if it wants one. Returns nullptr, or why the file goes to
  // libjpeg-turbo.
  const char* prepare(Bytes file, std::shared_ptr<const ScanHeader> header, const DecodeParams& params,
                      const Region& stored, EntropyIndexAccess* index, TableCache& tables, Target target);
  // Two parts of the image can be decoded in turn.
  bool can_split() const { return split_row_ > plan_.row_begin; }
  // Threads without work could decode a part of the image.
  bool can_share() const { return parts() > 1; }
  // Each returns whether all rows are decoded; if not, libjpeg-turbo must decide how the file is handled.
  bool run();
  static void run_together(RegionDecoder& a, RegionDecoder& b, bool& a_done, bool& b_done);

  void read(int64_t y, void* to) override;
  void read_planes(int64_t y, uint8_t* const* planes) override;
  Colors stored_colors() const override {
    const bool color = !luma_only_ && (params_.type == ImageType::rgb || params_.type == ImageType::bgr);
    return color ? Colors::luma_chroma : Colors::as_asked;
  }
  void read_stored(int64_t y, uint8_t* const* planes) override {
    if (stored_colors() == Colors::luma_chroma) make_row(y, RowOutput::ycc_planar, planes);
    else read_planes(y, planes);
  }
  void read_all(const PixelSink& sink);
  // Points of an index that the last run has made, even if it did not reach the end.
  int64_t recorded() const { return recording_ ? static_cast<int64_t>(index_.points.size()) : 0; }
  // What prepare() has found.
  const RegionPlan& plan() const { return plan_; }
  const ScanBytes& scan() const { return scan_; }
  // Frees large memory, including the rows. Small memory is kept for the next image.
  void release_large();

 private:
  struct Plane {
    int scale = 3, block = 8;   // samples per side that a block becomes, and their logarithm
    int width = 0, height = 0;  // of the whole picture
    uint8_t* first = nullptr;   // sample (x, y) of the component
    ptrdiff_t stride = 0;
    int64_t x = 0, y = 0;
    const uint8_t* row(int64_t of) const { return first + (of - y) * stride; }
  };
  void choose_scale(const DecodeParams& params);
  const char* check_index();
  const char* load_scan();
  const char* lay_out_planes(TableCache& tables);
  template <class Place>
  int middle_row(const Place& place) const;
  int64_t parts() const;
  bool run_shared();
  bool begin_alone();
  bool finish();
  void offer_index();
  bool run_without_index();
  void make_row(int64_t y, RowOutput output, uint8_t* const* to);

  Bytes file_;
  DecodeParams params_;
  Region region_;
  EntropyIndexAccess* access_ = nullptr;
  std::shared_ptr<const ScanHeader> header_;
  std::shared_ptr<ScanHeader> own_header_;  // for files that come without one
  const Kernels* kernels_ = nullptr;
  const EntropyLoops* loops_ = nullptr;
  RegionPlan plan_;
  int split_row_ = 0;     // first row of the second stream, or plan_.row_begin
  bool indexed_ = false;  // index_ is used
  EntropyIndex index_;    // used or made
  EntropyStream::Record record_;
  bool recording_ = false;
  ScanBytes scan_;
  EntropyStream streams_[2];
  ScanPieces pieces_;
  Plane planes_[3];
  std::vector<uint8_t> samples_;
  int across_ = 1, down_ = 1;  // pixels that a chroma sample covers
  Upsampling upsampling_ = Upsampling::none;
  bool luma_only_ = false;
  RowConversion conversion_;
};

}  // namespace penstock::jpeg
