// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/region_decoder.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "base/crew.h"

namespace penstock::jpeg {

namespace {

// Kept of each buffer, from image to image: enough for photographs of 24 million pixels.
constexpr size_t kKeptBytes = size_t{48} << 20;
constexpr size_t kLargestPlanes = size_t{128} << 20;  // 85 million pixels of 4:2:0; libjpeg-turbo needs only a few rows
constexpr size_t kLargestIndexed = size_t{1} << 29;   // a point counts bits in 32 bits

// Rows or columns of MCUs that pixels [first, first + count) need. `mcu` is their extent in pixels; each has `block`
// chroma samples. If a chroma sample covers two pixels, its interpolation needs a neighbor on either side.
void mcu_range(int64_t first, int64_t count, int mcu, int block, int chroma_size, int& begin, int& end) {
  if (mcu == block || chroma_size == 0) {
    begin = first / mcu;
    end = (first + count - 1) / mcu + 1;
  } else {
    begin = std::max<int64_t>(0, first / 2 - 1) / block;
    end = std::min<int64_t>(chroma_size - 1, (first + count - 1) / 2 + 1) / block + 1;
  }
}

// Rows of MCUs in the smallest part of an image that a thread takes.
constexpr int64_t kLeastRows = 4;

// Each thread has its own: several may make rows of one image.
struct RowMemory {
  std::vector<uint8_t> row, planar, depth;
};
RowMemory& row_memory() {
  thread_local RowMemory memory;
  return memory;
}

}  // namespace

const char* RegionDecoder::prepare(Bytes file, std::shared_ptr<const ScanHeader> header, const DecodeParams& params,
                                   const Region& stored, EntropyIndexAccess* access, TableCache& tables,
                                   Target target) {
  if (params.fast_idct) return "only libjpeg-turbo has the fast inverse DCT";
  if (!header) {
    if (!own_header_) own_header_ = std::make_shared<ScanHeader>();
    else *own_header_ = {};
    if (const char* why = read_scan_header(file, *own_header_)) return why;
    header = own_header_;
  }
  header_ = std::move(header);
  const ScanHeader& h = *header_;
  if (stored.y + stored.height > scaled_extent(h.height, params) ||
      stored.x + stored.width > scaled_extent(h.width, params))
    return "the headers are inconsistent";
  file_ = file;
  params_ = params;
  region_ = stored;
  access_ = access;
  kernels_ = &kernels(target);
  loops_ = &entropy_loops(target);
  release_large();

  const bool gray = h.components == 1;
  luma_only_ = gray || params.type == ImageType::gray;
  conversion_ = {};
  conversion_.dtype = params.dtype;
  conversion_.channels = params.type == ImageType::gray || (gray && params.type == ImageType::any_data) ? 1 : 3;
  conversion_.type = params.type == ImageType::ycbcr ? ImageType::ycbcr : ImageType::any_data;
  choose_scale(params);
  const int luma = planes_[0].block, chroma = planes_[1].block;
  mcu_range(stored.x, stored.width, h.h_max * luma, chroma, planes_[1].width, plan_.column_begin, plan_.column_end);
  mcu_range(stored.y, stored.height, h.v_max * luma, chroma, planes_[1].height, plan_.row_begin, plan_.row_end);
  indexed_ = access && access->find(file, index_) && !check_index();
  recording_ = false;
  split_row_ = plan_.row_begin;
  if (indexed_) {
    split_row_ = middle_row([this](int row) -> uint64_t {
      const size_t point = static_cast<size_t>(row) * index_.columns;
      return point < index_.points.size() ? index_.points[point].bit : uint64_t{index_.scan_bytes} * 8;
    });
  } else if (const char* why = load_scan()) {
    return why;
  }
  return lay_out_planes(tables);
}

// Sizes of the components after their inverse transforms, and the remaining work on chroma.
void RegionDecoder::choose_scale(const DecodeParams& params) {
  const ScanHeader& h = *header_;
  const int scale = std::countr_zero(static_cast<unsigned>(params.eighths));
  for (int c = 0; c < 3; ++c) {
    const ScanComponent& component = h.component[c];
    Plane& p = planes_[c];
    p = {};
    p.scale = c ? chroma_scale(h.h_max, h.v_max, scale) : scale;
    p.block = 1 << p.scale;
    if (c >= h.components) continue;
    p.width = (h.width * component.h * p.block + 8 * h.h_max - 1) / (8 * h.h_max);
    p.height = (h.height * component.v * p.block + 8 * h.v_max - 1) / (8 * h.v_max);
  }
  across_ = h.h_max * planes_[0].block / planes_[1].block;
  down_ = h.v_max * planes_[0].block / planes_[1].block;
  upsampling_ = upsampling_of(across_, down_, planes_[1].width, params.fancy_upsampling && scale > 0);
  plan_.dc_only = scale == 0 && planes_[1].scale == 0;
}

void RegionDecoder::release_large() {
  for (EntropyStream& s : streams_) s.shrink(kKeptBytes);
  scan_.shrink(kKeptBytes);
  pieces_.shrink(kKeptBytes);
  if (samples_.capacity() > kKeptBytes) samples_ = {};
}

// nullptr, or what is wrong with index_.
const char* RegionDecoder::check_index() {
  const ScanHeader& h = *header_;
  const EntropyIndex& ix = index_;
  if (ix.step < 1 || ix.rows != h.mcu_rows || ix.columns != (int64_t{h.mcu_columns} + ix.step - 1) / ix.step ||
      ix.points.size() != static_cast<size_t>(ix.rows) * ix.columns)
    return "its points do not match the picture";
  if (ix.file_bytes != file_.size() || ix.scan_bytes > file_.size() - h.scan) return "it belongs to another file";
  const Bytes rest = file_.subspan(h.scan + ix.scan_bytes);
  if (rest.size() < 2 || rest[0] != 0xFF || rest[1] == 0 || rest[1] == 0xFF)
    return "the data does not end where it says";
  return nullptr;
}

// Without an index: loads the whole scan, and decides whether to make an index of it.
const char* RegionDecoder::load_scan() {
  const ScanHeader& h = *header_;
  const int rows = plan_.row_end - plan_.row_begin, step = access_ ? access_->wanted_step() : 0;
  recording_ = step > 0 && file_.size() < kLargestIndexed;
  const int64_t segments = h.restart_interval ? (h.mcus() - 1) / h.restart_interval + 1 : 1;
  scan_.load(file_.subspan(h.scan), 0, segments, *kernels_, recording_);
  // A truncated file always goes to libjpeg-turbo: the result depends on how far that reads ahead.
  if (!scan_.at_marker) return "the data ends without a marker";
  if (recording_) {
    record_ = {step, &index_.points, true};
    index_.step = step;
    index_.columns = (h.mcu_columns - 1) / step + 1;
    index_.rows = h.mcu_rows;
    index_.points.clear();
    index_.points.reserve(static_cast<size_t>(index_.columns) * index_.rows);
  } else if (h.restart_interval && rows > 1 && int64_t{h.restart_interval} * 4 <= int64_t{h.mcu_columns} * rows) {
    split_row_ = middle_row([this](int row) -> uint64_t {
      const size_t segment = int64_t{row} * header_->mcu_columns / header_->restart_interval;
      return segment ? scan_.segment_end(segment - 1) : 0;
    });
  }
  return nullptr;
}

// Splits so that two streams have about the same number of bits. `place`: position in the data of the first MCU of a
// row.
template <class Place>
int RegionDecoder::middle_row(const Place& place) const {
  int low = plan_.row_begin, high = plan_.row_end;
  const uint64_t middle = (place(low) + place(high)) / 2;
  if (high - low < 2) return low;
  while (high - low > 1) {
    const int row = (low + high) / 2;
    (place(row) <= middle ? low : high) = row;
  }
  return std::clamp(high, plan_.row_begin + 1, plan_.row_end - 1);
}

const char* RegionDecoder::lay_out_planes(TableCache& tables) {
  const ScanHeader& h = *header_;
  plan_.header = header_.get();
  plan_.kernels = kernels_;
  plan_.group = std::max(1, kMostBlocks / h.blocks_per_mcu);
  const int64_t columns = plan_.column_end - plan_.column_begin, rows = plan_.row_end - plan_.row_begin;
  size_t bytes = 64;
  for (int c = 0; c < h.components; ++c) {
    const ScanComponent& component = h.component[c];
    Plane& p = planes_[c];
    p.stride = (columns * p.block * component.h + 63) / 64 * 64 + kRowSlack;
    if (p.stride % 4096 == 0) p.stride += 64;  // rows of a block in different cache lines
    p.x = int64_t{plan_.column_begin} * p.block * component.h;
    p.y = int64_t{plan_.row_begin} * p.block * component.v;
    if (c == 0 || !luma_only_) bytes += p.stride * rows * p.block * component.v;
  }
  if (bytes > kLargestPlanes) return "the region is too large to be held in planes";
  if (samples_.size() < bytes + 128) samples_.resize(bytes + 128);
  uint8_t* first = samples_.data() + 64 - reinterpret_cast<uintptr_t>(samples_.data()) % 64;
  int block = 0;
  plan_.fast_tables = true;
  for (int c = 0; c < h.components; ++c) {
    const ScanComponent& component = h.component[c];
    Plane& p = planes_[c];
    const bool wanted = c == 0 || !luma_only_;
    p.first = wanted ? first : nullptr;
    if (wanted) first += p.stride * rows * p.block * component.v;
    const DcTable& dc = tables.dc(h.dc[component.dc]);
    const AcTable& ac = tables.ac(h.ac[component.ac]);
    plan_.fast_tables &= ac.fast();
    for (int b = 0; b < component.h * component.v; ++b, ++block) {
      RegionPlan::Block& to = plan_.block[block];
      to.component = c;
      to.dc = &dc;
      to.ac = &ac;
      to.to = wanted ? p.first + b % component.h * p.block + b / component.h * p.block * p.stride : nullptr;
      to.stride = p.stride;
      to.column_step = p.block * component.h;
      to.row_step = p.block * component.v * p.stride;
    }
  }
  for (int i = 0; i < kMostBlocks; ++i) {
    const int c = plan_.block[i % block].component;
    const uint16_t* quant = h.quant[h.component[c].quant];
    RegionPlan::Pair& pair = plan_.pair[i / 2];
    pair.transform = kernels_->inverse_dct[planes_[c].scale];  // the same for both blocks of a pair
    for (int y = 0; y < 8; ++y) std::memcpy(&pair.quant[16 * y + 8 * (i & 1)], quant + 8 * y, 16);
  }
  return nullptr;
}

bool RegionDecoder::begin_alone() {
  EntropyStream& s = streams_[0];
  if (indexed_) return s.begin(plan_, index_, file_.subspan(header_->scan), plan_.row_begin, plan_.row_end);
  return s.begin(plan_, scan_, plan_.row_begin, plan_.row_end, recording_ ? &record_ : nullptr);
}

int64_t RegionDecoder::parts() const {
  int64_t bytes = 0;
  for (int c = 0; c < header_->components; ++c)
    if (const Plane& p = planes_[c]; p.first)
      bytes += p.stride * (plan_.row_end - plan_.row_begin) * p.block * header_->component[c].v;
  return Crew::parts(bytes);
}

// Several threads decode the image. False: not all of it; any error is found again, and judged, by one thread.
bool RegionDecoder::run_shared() {
  if (!indexed_ && !header_->restart_interval) {
    const auto threads = static_cast<int>(std::min<int64_t>(parts(), Crew::of_thread()->idle() + 1));
    if (!pieces_.run(plan_, *loops_, scan_, recording_ ? &record_ : nullptr, threads)) return false;
    if (recording_) offer_index();
    return true;
  }
  if (!indexed_ && (recording_ || !can_split())) return false;  // segments are too long
  const int64_t n = std::min((plan_.row_end - plan_.row_begin) / kLeastRows, parts());
  if (n < 2) return false;
  const Bytes coded = file_.subspan(header_->scan);
  std::atomic<bool> failed = false;
  const int64_t rows = plan_.row_end - plan_.row_begin;
  Crew::of_thread()->run(n, [&](int64_t part) {
    if (failed) return;
    const auto row = [&](int64_t half) {
      return plan_.row_begin + static_cast<int>(rows * (2 * part + half) / (2 * n));
    };
    EntropyStream streams[2];
    bool ready = true;
    for (int i = 0; i < 2; ++i)
      ready &= indexed_ ? streams[i].begin(plan_, index_, coded, row(i), row(i + 1))
                        : streams[i].begin(plan_, scan_, row(i), row(i + 1), nullptr);
    if (ready) loops_->run_two(streams[0], streams[1]);
    if (!ready || streams[0].failed() || streams[1].failed()) failed = true;
  });
  return !failed;
}

bool RegionDecoder::run() {
  if (can_share()) {
    if (run_shared()) return true;
    if (recording_) record_.usable = true, index_.points.clear();
  }
  if (!can_split()) {
    if (begin_alone()) loops_->run_one(streams_[0]);
    return finish();
  }
  const Bytes coded = file_.subspan(header_->scan);
  for (int i = 0; i < 2; ++i) {
    const int first = i ? split_row_ : plan_.row_begin, end = i ? plan_.row_end : split_row_;
    if (indexed_) streams_[i].begin(plan_, index_, coded, first, end);
    else streams_[i].begin(plan_, scan_, first, end, nullptr);
  }
  if (!streams_[0].failed() && !streams_[1].failed()) loops_->run_two(streams_[0], streams_[1]);
  if (!streams_[0].failed() && !streams_[1].failed()) return true;
  return indexed_ && run_without_index();
}

void RegionDecoder::run_together(RegionDecoder& a, RegionDecoder& b, bool& a_done, bool& b_done) {
  a.plan_.fast_tables = b.plan_.fast_tables = a.plan_.fast_tables && b.plan_.fast_tables;
  a.begin_alone();
  b.begin_alone();
  a.loops_->run_two(a.streams_[0], b.streams_[0]);
  a_done = a.finish();
  b_done = b.finish();
}

// After streams_[0] only.
bool RegionDecoder::finish() {
  const EntropyStream& s = streams_[0];
  if (indexed_ && s.failed()) return run_without_index();
  if (recording_ && !s.failed()) offer_index();
  return s.delivered();
}

// The index was wrong, or the file.
bool RegionDecoder::run_without_index() {
  indexed_ = false;
  split_row_ = plan_.row_begin;
  return !load_scan() && run();
}

// Converts bit counts without stuffing and markers to bits of the file.
void RegionDecoder::offer_index() {
  const size_t wanted = static_cast<size_t>(index_.columns) * index_.rows;
  if (!record_.usable || index_.points.size() != wanted) return;
  size_t removed = 0;
  for (EntropyPoint& point : index_.points) {
    while (removed < scan_.removed_count && scan_.removed[removed] < point.bit / 8) ++removed;
    point.bit += static_cast<uint32_t>(removed) * 8;
  }
  index_.file_bytes = static_cast<uint32_t>(file_.size());
  index_.scan_bytes = static_cast<uint32_t>(scan_.file_bytes);
  access_->offer(file_, index_);
}

void RegionDecoder::make_row(int64_t y, RowOutput output, uint8_t* const* to) {
  const int64_t row = region_.y + y;
  const uint8_t* const luma = planes_[0].row(row) + (region_.x - planes_[0].x);
  ColorRow r;
  r.luma = luma;
  r.width = static_cast<int32_t>(region_.width);
  const int64_t column = region_.x / across_, near = row / down_;
  const int64_t far = std::clamp<int64_t>(row % down_ ? near + 1 : near - 1, 0, planes_[1].height - 1);
  r.cb = planes_[1].row(near) + (column - planes_[1].x);
  r.cr = planes_[2].row(near) + (column - planes_[2].x);
  if (upsampling_ == Upsampling::fancy_h1v2 || upsampling_ == Upsampling::fancy_h2v2) {
    r.cb_far = planes_[1].row(far) + (column - planes_[1].x);
    r.cr_far = planes_[2].row(far) + (column - planes_[2].x);
    r.far_below = row % 2;
  }
  r.chroma_columns = static_cast<int32_t>(planes_[1].width - column);
  r.odd = across_ == 2 && region_.x % 2;
  r.left = column > 0;
  kernels_->color_row[static_cast<int>(upsampling_)][static_cast<int>(output)](r, to);
}

void RegionDecoder::read(int64_t y, void* to) {
  uint8_t* out = static_cast<uint8_t*>(to);
  const bool copy = conversion_.is_copy();
  const size_t bytes = region_.width * conversion_.channels;
  RowMemory& memory = row_memory();
  if (!copy) {
    if (memory.row.size() < bytes) memory.row.resize(bytes);
    out = memory.row.data();
  }
  if (luma_only_) {
    const uint8_t* luma = planes_[0].row(region_.y + y) + (region_.x - planes_[0].x);
    if (conversion_.channels == 3) kernels_->gray_row(luma, static_cast<int32_t>(region_.width), out);
    else if (copy) std::memcpy(out, luma, bytes);
    else return convert_row(conversion_, luma, region_.width, to, memory.depth);
  } else {
    make_row(y, params_.type == ImageType::bgr ? RowOutput::bgr : RowOutput::rgb, &out);
  }
  if (!copy) convert_row(conversion_, out, region_.width, to, memory.depth);
}

void RegionDecoder::read_planes(int64_t y, uint8_t* const* to) {
  const size_t width = region_.width;
  if (luma_only_) {
    const uint8_t* luma = planes_[0].row(region_.y + y) + (region_.x - planes_[0].x);
    if (conversion_.type != ImageType::ycbcr) {
      for (int c = 0; c < conversion_.channels; ++c) std::memcpy(to[c], luma, width);
      return;
    }
  } else if (conversion_.type != ImageType::ycbcr) {
    uint8_t* const reversed[3] = {to[2], to[1], to[0]};
    return make_row(y, RowOutput::rgb_planar, params_.type == ImageType::bgr ? reversed : to);
  }
  // The studio-range YCbCr of convert_row, which is rarely requested.
  std::vector<uint8_t>& pixels = row_memory().planar;
  if (pixels.size() < 3 * width) pixels.resize(3 * width);
  read(y, pixels.data());
  for (size_t i = 0; i < width; ++i)
    for (int c = 0; c < 3; ++c) to[c][i] = pixels[3 * i + c];
}

void RegionDecoder::read_all(const PixelSink& sink) {
  Crew::share(region_.height, region_.height * std::abs(sink.row_bytes), [&](int64_t first, int64_t end) {
    for (int64_t y = first; y < end; ++y) read(y, static_cast<uint8_t*>(sink.data) + y * sink.row_bytes);
  });
}

}  // namespace penstock::jpeg
