// SPDX-License-Identifier: Apache-2.0
#include "cuda/jpeg/plan.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "codecs/orientation.h"
#include "cuda/jpeg/kernel_text.h"

// With the address sanitizer, "device" memory is the host's (tests/emulated_gpu): then nothing may be read or written
// between two arrays.
#if defined(__SANITIZE_ADDRESS__)
#define PENSTOCK_GUARDS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PENSTOCK_GUARDS 1
#endif
#endif
#ifdef PENSTOCK_GUARDS
#include <sanitizer/asan_interface.h>
#endif

namespace penstock::jpeg_gpu {
namespace {

#ifdef PENSTOCK_GUARDS
constexpr size_t kGuard = 512;
#else
constexpr size_t kGuard = 0;
#endif

// A picture that exceeds this alone is a part by itself; offsets of words, blocks and samples have 32 bits.
constexpr uint64_t kMostPartBytes = uint64_t{1} << 30;
constexpr uint64_t kMostPartSamples = uint64_t{1} << 30;  // bytes; their coefficients are twice as many

constexpr size_t kManyBytes = size_t{16} << 20;  // 256 photographs have 24 MB

constexpr uint64_t up(uint64_t v, uint64_t to) { return (v + to - 1) / to * to; }

// MCUs that pixels [first, first + count) need, as in RegionDecoder.
void mcu_range(int64_t first, int64_t count, int sampling, int64_t chroma, uint32_t& begin, uint32_t& end) {
  if (sampling == 1 || chroma == 0) {
    begin = static_cast<uint32_t>(first / (8 * sampling));
    end = static_cast<uint32_t>((first + count - 1) / (8 * sampling) + 1);
  } else {
    begin = static_cast<uint32_t>(std::max<int64_t>(0, first / 2 - 1) / 8);
    end = static_cast<uint32_t>(std::min<int64_t>(chroma - 1, (first + count - 1) / 2 + 1) / 8 + 1);
  }
}

}  // namespace

size_t device_bytes_about(const DeviceDecode& image) {
  const size_t of_file = image.file.size() * 5 / 2;  // the file, the unstuffed copy, data for each 1,024 bits
  const auto pixels = static_cast<size_t>(image.region.height ? image.region.height * image.region.width
                                                              : image.info->height * image.info->width);
  // A sample has a byte, its coefficient two; a block has 4 more bytes.
  const auto* h = image.header.get<FileHeader>();
  return of_file + (h ? pixels * h->mcu_blocks / static_cast<size_t>(h->h * h->v) : pixels * 3) * 49 / 16;
}

void Plan::clear(size_t file_bytes) {
  division_ = wish_;
  if (!division_.sub_bits) division_.sub_bits = file_bytes < kManyBytes ? 2048 : 4096;
  if (!division_.turns) division_.turns = file_bytes < kManyBytes ? 4 : 8;
  tiles_ = subs_ = syncs_ = segments_ = words_ = blocks_ = transforms_ = colors_ = 0;
  sample_bytes_ = 0;
  pictures_.clear();
  specs_.clear();
  tile_items_.clear();
  sync_items_.clear();
  decode_items_.clear();
  first_transform_.clear();
  first_color_.clear();
}

uint32_t Plan::table_set(const std::shared_ptr<const TableSpec>& spec) {
  for (size_t i = specs_.size(); i-- > 0;)
    if (specs_[i] == spec || !std::memcmp(specs_[i].get(), spec.get(), sizeof *spec)) return static_cast<uint32_t>(i);
  specs_.push_back(spec);
  return static_cast<uint32_t>(specs_.size() - 1);
}

// The destinations of all pixels.
void Plan::place(Picture& p, const DeviceDecode& image, const DecodeParams& params, const FileHeader& h) {
  const int orientation = params.apply_orientation ? image.info->orientation : 1;
  const auto& r = image.region;
  const Region upright =
      r.height ? Region{r.y, r.x, r.height, r.width} : Region{0, 0, image.info->height, image.info->width};
  const Region stored = stored_region(orientation, image.info->height, image.info->width, upright);
  p.channels = static_cast<uint32_t>(output_channels(*image.info, params.type));
  p.bgr = params.type == ImageType::bgr;
  p.planes = h.components == 1 || params.type == ImageType::gray ? 1 : 3;
  p.x = static_cast<uint32_t>(stored.x), p.y = static_cast<uint32_t>(stored.y);
  p.region_width = static_cast<uint32_t>(stored.width), p.region_height = static_cast<uint32_t>(stored.height);
  mcu_range(stored.x, stored.width, h.h, h.chroma_width, p.column_begin, p.column_end);
  mcu_range(stored.y, stored.height, h.v, h.chroma_height, p.row_begin, p.row_end);
  // The same turns as in transpose_upright() and decode_upright().
  const int64_t pixel = p.channels, row = upright.width * pixel;
  p.dense = orientation == 1;
  p.row_step = transposes(orientation) ? pixel : row;
  p.pixel_step = transposes(orientation) ? row : pixel;
  auto out = reinterpret_cast<uint64_t>(image.pixels);
  if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7) {
    out += static_cast<uint64_t>((stored.height - 1) * p.row_step);
    p.row_step = -p.row_step;
  }
  if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8) {
    out += static_cast<uint64_t>((stored.width - 1) * p.pixel_step);
    p.pixel_step = -p.pixel_step;
  }
  p.out = out;
}

bool Plan::add(DeviceDecode& image, const DecodeParams& params, size_t at) {
  FileHeader own;
  const auto* kept = image.header.get<FileHeader>();
  const char* why = kept ? nullptr : read_file_header(image.file, image.header, own);
  const FileHeader& h = kept ? *kept : own;
  const bool turned = params.apply_orientation && transposes(image.info->orientation);
  if (!why && (h.width != (turned ? image.info->height : image.info->width) ||
               h.height != (turned ? image.info->width : image.info->height)))
    why = "the headers are inconsistent";
  if (why) {
    image.error = Error(ErrorKind::data, fmt::format("jpeg/cuda cannot decode this file: {}", why));
    return true;
  }
  Picture p{};
  place(p, image, params, h);
  const uint64_t scan_bytes = image.file.size() - h.scan, bits = scan_bytes * 8, sub_bits = division_.sub_bits;
  p.segments = h.restart_interval ? static_cast<uint32_t>((h.mcus() - 1) / h.restart_interval + 1) : 1;
  const uint64_t subs = up(bits, sub_bits) / sub_bits + (p.segments > 1 ? p.segments : 0);
  const uint64_t words = up(subs * (sub_bits / 32) + kSlackWords, 32);
  if (words * 4 > kMostPartBytes) {  // a restart marker every few bits
    image.error = Error(ErrorKind::data, "jpeg/cuda cannot decode this file: it has too many restart markers");
    return true;
  }
  uint64_t samples = 0;
  const uint64_t mcus = uint64_t{p.column_end - p.column_begin} * (p.row_end - p.row_begin);
  for (int c = 0; c < h.components; ++c) samples += 64 * mcus * (c ? 1 : h.h * h.v) + 16;
  const auto full = [&](uint64_t have, uint64_t more, uint64_t most) { return have + more > most; };
  if (pictures() > 0 &&
      (full(at, image.file.size(), kMostPartBytes) || full(sample_bytes_, samples, kMostPartSamples) ||
       full(uint64_t{words_} * 4, words * 4, kMostPartBytes)))
    return false;
  p.table_set = table_set(h.tables);
  p.selectors = h.selectors, p.component_of = h.component_of;
  p.mcu_blocks = h.mcu_blocks, p.sync_mcu_blocks = h.sync_mcu_blocks;
  p.scan_begin = static_cast<uint32_t>(at + h.scan);
  p.scan_end = static_cast<uint32_t>(at + image.file.size());
  p.word_base = words_, words_ += static_cast<uint32_t>(words);
  p.tiles = (p.scan_end - (p.scan_begin & ~15u) + kTile - 1) / kTile;
  p.tile_base = tiles_, tiles_ += p.tiles;
  p.subs = static_cast<uint32_t>(subs), p.sub_base = subs_, subs_ += p.subs;
  const uint32_t number = static_cast<uint32_t>(pictures()), entries = division_.sub_bits / division_.entry_bits;
  const uint32_t warm = (division_.warm_bits + division_.sub_bits - 1) / division_.sub_bits, step = kThreads - warm;
  for (uint32_t i = 0; i < p.tiles; ++i) tile_items_.push_back({number, i});
  p.sync_base = syncs_;
  for (uint32_t k = 0; k == 0 || k * step + warm < p.subs; ++k) sync_items_.push_back({number, k}), ++p.sync_blocks;
  syncs_ += p.sync_blocks;
  for (uint32_t first = 0; first < p.subs * entries; first += kThreads)
    decode_items_.push_back({number, p.sub_base * entries + first, std::min(kThreads, p.subs * entries - first)});
  p.width = static_cast<uint32_t>(h.width), p.height = static_cast<uint32_t>(h.height);
  p.mcu_columns = static_cast<uint32_t>(h.mcu_columns), p.mcu_rows = static_cast<uint32_t>(h.mcu_rows);
  p.components = static_cast<uint32_t>(h.components);
  p.h = static_cast<uint32_t>(h.h), p.v = static_cast<uint32_t>(h.v);
  p.blocks = p.mcu_columns * p.mcu_rows * p.mcu_blocks;
  p.segment_blocks = static_cast<uint32_t>(h.restart_interval) * p.mcu_blocks;
  p.segment_base = segments_;
  if (p.segments > 1) segments_ += p.segments;
  p.stored_base = blocks_, blocks_ += static_cast<uint32_t>(mcus * p.mcu_blocks);
  for (int c = 0; c < h.components; ++c) {
    p.plane[c] = static_cast<uint32_t>(sample_bytes_);
    sample_bytes_ += up(64 * mcus * (c ? 1 : h.h * h.v), 16);
    std::copy_n(h.quant[c], 64, p.quant[c]);
  }
  first_transform_.push_back(transforms_);
  const uint64_t wanted = p.planes == 1 ? mcus * h.h * h.v : mcus * p.mcu_blocks;
  transforms_ += static_cast<uint32_t>(up(wanted, 32 * division_.turns) / (32 * division_.turns));
  first_color_.push_back(colors_);
  const uint64_t x0 = p.x & ~7u, y0 = p.y & ~1u, groups = up(p.x + p.region_width - x0, 8) / 8;
  p.lanes = std::bit_ceil(static_cast<uint32_t>(std::min<uint64_t>(groups, 32)));
  const uint64_t pairs = up(p.y + p.region_height - y0, 2) / 2, pairs_a_warp = 32 / p.lanes * division_.turns;
  const uint64_t warps = up(groups, p.lanes) / p.lanes * (up(pairs, pairs_a_warp) / pairs_a_warp);
  colors_ += static_cast<uint32_t>(up(warps, kThreads / 32) / (kThreads / 32));
  pictures_.push_back(p);
  return true;
}

int64_t Plan::blocks_of(int kernel) const {
  switch (kernel) {
    case kCountKept: return static_cast<int64_t>(specs_.size()) + tiles_;
    case kWriteWords: return tiles_;
    case kFindRestarts:
    case kWriteSegments: return has_restarts() ? tiles_ : 0;
    case kLayOutSegments: return has_restarts() ? pictures() : 0;
    case kSynchronize: return syncs_;
    case kMakeEntries:
    case kSumDc: return pictures();
    case kDecodeBlocks: return static_cast<int64_t>(decode_items_.size());
    case kTransformBlocks: return transforms_;
    case kWritePixels: return colors_;
    default: return 0;
  }
}

size_t Plan::shared_bytes_of(int kernel) {
  return kernel == kSynchronize || kernel == kMakeEntries || kernel == kDecodeBlocks ? kStreamBytes : 0;
}

size_t Plan::description_bytes() {
  size_t end = 0;
  const auto take = [&](size_t bytes) {
    const size_t at = end;
    end = up(end + bytes, 256);
    return at;
  };
  take(sizeof(BatchTable));
  at_.pictures = take(pictures_.size() * sizeof(Picture));
  at_.specs = take(specs_.size() * sizeof(TableSpec));
  at_.tiles = take(tile_items_.size() * sizeof(Item));
  at_.syncs = take(sync_items_.size() * sizeof(Item));
  at_.decodes = take(decode_items_.size() * sizeof(DecodeItem));
  at_.first_transform = take(pictures_.size() * 4);
  at_.first_color = take(pictures_.size() * 4);
  at_.markers = take(pictures_.size() * 4);
  at_.bits = take(pictures_.size() * 4);
  at_.flags = take(pictures_.size() * 4);
  at_.end = end;
  lay_out_scratch();
  return end;
}

void Plan::lay_out_scratch() {
  size_t end = 0;
  guards_.clear();
  const auto take = [&](size_t count, size_t bytes) {
    const size_t at = end;
    end = up(end + count * bytes, 256) + kGuard;
    if (kGuard) guards_.push_back({at + count * bytes, end - at - count * bytes});
    return at;
  };
  const size_t entries = size_t{subs_} * (division_.sub_bits / division_.entry_bits);
  scratch_.tables = take(specs_.size(), sizeof(TableSet));
  scratch_.words = take(words_ + kEndWords, 4);
  scratch_.tile_kept = take(tiles_, 4);
  scratch_.tile_restarts = take(tiles_, 4);
  scratch_.segment_end = take(segments_, 4);
  scratch_.segment_bytes = take(segments_, 4);
  scratch_.segment_sub = take(segments_, 4);
  scratch_.sub_segment = take(has_restarts() ? subs_ : 0, 4);
  scratch_.sub_state = take(subs_, 4);
  scratch_.sub_record = take(entries, 4);
  scratch_.incoming = take(syncs_, 4);
  scratch_.entry = take(entries, sizeof(Entry));
  scratch_.dc_sum = take(entries, 16);
  scratch_.block_entry = take(blocks_, 4);
  scratch_.coefficients = take(blocks_, 128);
  scratch_.samples = take(sample_bytes_ + kSampleSlack, 1);
  scratch_.end = end;
}

void Plan::describe(uint8_t* to, uint8_t* device, const uint8_t* files, uint8_t* scratch) const {
  BatchTable b{};
  b.pictures = static_cast<uint32_t>(pictures_.size());
  b.table_sets = static_cast<uint32_t>(specs_.size());
  b.tiles = tiles_;
  b.sub_bits = division_.sub_bits;
  b.guess_bits = std::min(division_.guess_bits, division_.sub_bits);
  b.warm_subs = (division_.warm_bits + division_.sub_bits - 1) / division_.sub_bits;
  b.entries_per_sub = division_.sub_bits / division_.entry_bits;
  b.words_end = words_;
  b.rounds_alone = division_.rounds_alone;
  b.spread_below = division_.spread_below;
  b.turns = division_.turns;
  b.sample_bytes = static_cast<uint32_t>(sample_bytes_);
  b.files = files;
  const auto on = [&](auto*& p, size_t at) { p = reinterpret_cast<std::remove_reference_t<decltype(p)>>(device + at); };
  const auto in = [&](auto*& p, size_t at) {
    p = reinterpret_cast<std::remove_reference_t<decltype(p)>>(scratch + at);
  };
  on(b.picture, at_.pictures);
  on(b.specs, at_.specs);
  on(b.tile, at_.tiles);
  on(b.sync, at_.syncs);
  on(b.decode, at_.decodes);
  on(b.first_transform, at_.first_transform);
  on(b.first_color, at_.first_color);
  on(b.marker, at_.markers);
  on(b.bits, at_.bits);
  on(b.flags, at_.flags);
  in(b.tables, scratch_.tables);
  in(b.words, scratch_.words);
  in(b.tile_kept, scratch_.tile_kept);
  in(b.tile_restarts, scratch_.tile_restarts);
  in(b.segment_end, scratch_.segment_end);
  in(b.segment_bytes, scratch_.segment_bytes);
  in(b.segment_sub, scratch_.segment_sub);
  in(b.sub_segment, scratch_.sub_segment);
  in(b.sub_state, scratch_.sub_state);
  in(b.sub_record, scratch_.sub_record);
  in(b.incoming, scratch_.incoming);
  in(b.entry, scratch_.entry);
  in(b.dc_sum, scratch_.dc_sum);
  in(b.block_entry, scratch_.block_entry);
  in(b.coefficients, scratch_.coefficients);
  in(b.samples, scratch_.samples);
#ifdef PENSTOCK_GUARDS
  for (const auto& [at, bytes] : guards_) ASAN_POISON_MEMORY_REGION(scratch + at, bytes);
#endif
  b.statistics = statistics;
  std::memcpy(to, &b, sizeof b);
  const auto put = [&](size_t at, const auto& list) {
    if (!list.empty()) std::memcpy(to + at, list.data(), list.size() * sizeof list[0]);
  };
  put(at_.pictures, pictures_);
  for (size_t i = 0; i < specs_.size(); ++i)
    std::memcpy(to + at_.specs + i * sizeof(TableSpec), specs_[i].get(), sizeof(TableSpec));
  put(at_.tiles, tile_items_);
  put(at_.syncs, sync_items_);
  put(at_.decodes, decode_items_);
  put(at_.first_transform, first_transform_);
  put(at_.first_color, first_color_);
  std::memset(to + at_.markers, 0xFF, pictures_.size() * 4);
  std::memset(to + at_.bits, 0, at_.end - at_.bits);
}

}  // namespace penstock::jpeg_gpu
