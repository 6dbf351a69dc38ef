// SPDX-License-Identifier: Apache-2.0
#include "families/window/median_rows.h"

#include <cstring>
#include <vector>

#include "base/crew.h"
#include "base/intrinsics.h"
#include "base/memory.h"
#include "families/window/kernels/median_columns.h"

#if PENSTOCK_HAS_TARGETS
#pragma GCC diagnostic ignored "-Wuninitialized"  // as -Wmaybe-uninitialized in base/intrinsics.h
#endif

namespace penstock::window {
namespace {

// Two whole rows of 3 x 3 medians of elements that are keys, from rows in place. False as of two_rows.
using WholeRows = bool (*)(void* const* to, const void* const* rows, int64_t n);
constexpr int64_t kLeastWhole = 192;  // bytes of a row: three of the widest vectors

// The loops for one type of keys, or of elements that need none, and one target. Lengths and distances are in elements.
struct NetworkLoops {
  bool (*plain)(const void* from, int64_t n);  // whether these elements need no keys; null: none of the type does
  void (*keys)(void* to, const void* from, int64_t n, const KeyBits&);
  // Two rows of elements of the output, from rows of keys that begin half a window before it; reads up to a vector
  // more than n elements and a window. Planes are for ranks of columns. For 3 x 3 and 5 x 5. False where the last two
  // rows need keys and have none.
  bool (*two_rows[2])(void* const* to, const void* const* rows, void* planes, int64_t n, int64_t step, const KeyBits&);
  WholeRows whole[4];  // of 1 to 4 channels; null: there are none
};

#define PENSTOCK_LOOPS network
#define PENSTOCK_LOOPS_TEXT "families/window/median_loops.inc.h"
#include "base/foreach_target.h"

constexpr int64_t kBand = 32;   // rows of a tile: narrow tiles of all rows would leave a page after each
constexpr int64_t kSpare = 64;  // bytes of the widest vector

// A tile of columns and rows of one plane after the other. Where elements are keys, rows are read in place, else and at
// the ends of a row from copies with what is seen beside them.
class Network {
 public:
  // `direct`: the loops without keys, or null.
  Network(const NetworkLoops& keyed, const NetworkLoops* direct, DType dtype, const ImageRule::Extents& image, int size)
      : keyed_(keyed),
        direct_(direct),
        image_(image),
        key_bits_(key_bits(dtype)),
        window_(size),
        bytes_(static_cast<int64_t>(size_of(dtype))),
        pixel_(image.inner * bytes_),
        length_(image.width * pixel_),
        halo_(size / 2 * pixel_),
        end_((halo_ + kSpare + 63) / 64 * 64),
        tile_(size == 3 ? 8192 : 2048) {
    narrow_ = length_ < 2 * end_ + 256;
    const int64_t widest = (narrow_ ? length_ : std::max(std::min(tile_, length_), end_)) + 2 * halo_ + kSpare;
    row_bytes_ = (widest + 63) / 64 * 64;
    const int64_t rows = 3 * window_ + 2;
    memory_ = allocate_shared(default_memory(), checked_bytes(rows, static_cast<size_t>(row_bytes_)));
    std::memset(memory_.get(), 0, static_cast<size_t>(rows * row_bytes_));  // beyond the elements that are seen
  }
  static int64_t bands(const ImageRule::Extents& image) { return image.outer * bands_of_plane(image); }
  // Bands [first, end) of all planes.
  void run(const std::byte* in, std::byte* out, int64_t first, int64_t end) {
    const int64_t each = bands_of_plane(image_);
    for (int64_t band = first; band < end; ++band) {
      const int64_t plane = band / each * image_.height * length_;
      in_ = in + plane, out_ = out + plane;
      top_ = band % each * kBand;
      if (whole_rows()) continue;
      for (at_ = 0; at_ < length_; at_ += count_) tile();
    }
  }

 private:
  static int64_t bands_of_plane(const ImageRule::Extents& image) { return (image.height + kBand - 1) / kBand; }
  // A band of rows in place, where the loops for that may compare all elements that it sees.
  bool whole_rows() {
    if (window_ != 3 || image_.inner > 4 || length_ < kLeastWhole) return false;
    const NetworkLoops& loops = direct_ ? *direct_ : keyed_;
    const WholeRows two = loops.whole[image_.inner - 1];
    if (!two || (!direct_ && !key_bits_.none())) return false;
    const auto row = [&](int64_t y) { return in_ + std::clamp<int64_t>(y, 0, image_.height - 1) * length_; };
    const int64_t bottom = std::min(top_ + kBand, image_.height), n = length_ / bytes_;
    for (const int64_t y : {top_ - 1, top_})
      if (loops.plain && !loops.plain(row(y), n)) return false;
    for (int64_t y = top_; y < bottom; y += 2) {
      const void* const rows[4] = {row(y - 1), row(y), row(y + 1), row(y + 2)};
      std::byte* const to = out_ + y * length_;
      void* const both[2] = {to, y + 1 < bottom ? to + length_ : to};
      if (!two(both, rows, n)) return false;
    }
    return true;
  }
  void tile() {
    const bool inside = !narrow_ && at_ > 0 && at_ < length_ - end_;
    count_ = narrow_ ? length_ : inside ? std::min(tile_, length_ - end_ - at_) : std::min(end_, length_ - at_);
    if (!direct_ || !fill(*direct_, {}, inside)) fill(keyed_, key_bits_, inside);
  }
  // Whether all elements that the tile sees may be compared by these loops.
  bool fill(const NetworkLoops& loops, const KeyBits& bits, bool inside) {
    loops_ = &loops, bits_ = bits;
    in_place_ = inside && bits_.none();
    const void* rows[6];
    for (int i = 0; i < window_ - 1; ++i) {
      rows[i] = row(i);
      if (loops.plain && !loops.plain(rows[i], (count_ + 2 * halo_) / bytes_)) return false;
    }
    const int64_t bottom = std::min(top_ + kBand, image_.height);
    for (int64_t y = top_; y < bottom; y += 2) {
      const bool two = y + 1 < bottom;
      const int64_t next = y - top_ + window_ - 1;
      rows[window_ - 1] = row(next);
      rows[window_] = two ? row(next + 1) : rows[window_ - 1];
      std::byte* const first = out_ + y * length_ + at_;
      void* const to[2] = {first, two ? first + length_ : slot(window_ + 1)};
      const auto two_rows = loops.two_rows[window_ / 2 - 1];
      if (!two_rows(to, rows, slot(window_ + 2), count_ / bytes_, image_.inner, bits_)) return false;
      std::copy(rows + 2, rows + window_ + 1, rows);
    }
    return true;
  }
  std::byte* slot(int64_t i) const { return static_cast<std::byte*>(memory_.get()) + i * row_bytes_; }

  // The keys of the i-th row that the tile sees, from half a window before it.
  const void* row(int64_t i) {
    const int64_t y = std::clamp<int64_t>(top_ + i - window_ / 2, 0, image_.height - 1);
    const std::byte* const from = in_ + y * length_;
    const int64_t begin = at_ - halo_, end = at_ + count_ + halo_;
    const int64_t first = std::max<int64_t>(begin, 0), last = std::min(end, length_);
    if (in_place_) return from + begin;
    std::byte* const to = slot(i % (window_ + 1));
    loops_->keys(to + first - begin, from + first, (last - first) / bytes_, bits_);
    for (int64_t x = first - pixel_; x >= begin; x -= pixel_)
      std::memcpy(to + x - begin, to + first - begin, static_cast<size_t>(pixel_));
    for (int64_t x = last; x < end; x += pixel_)
      std::memcpy(to + x - begin, to + last - pixel_ - begin, static_cast<size_t>(pixel_));
    return to;
  }

  const NetworkLoops& keyed_;
  const NetworkLoops* const direct_;
  const ImageRule::Extents image_;
  const KeyBits key_bits_;
  const int64_t window_;
  // In bytes: an element, a pixel, a row, what a window reaches to one side, tiles at the ends of a row and between.
  const int64_t bytes_, pixel_, length_, halo_, end_, tile_;
  bool narrow_ = false;
  int64_t row_bytes_ = 0;
  std::shared_ptr<void> memory_;
  const std::byte* in_ = nullptr;
  std::byte* out_ = nullptr;
  int64_t top_ = 0, at_ = 0, count_ = 0;  // this tile: its first row, byte, and its bytes
  const NetworkLoops* loops_ = nullptr;
  KeyBits bits_{};  // none where elements are their own keys
  bool in_place_ = false;
};

// The loops that compare elements, of types whose order is no integer's with a sign.
const NetworkLoops* direct_loops(Target target, DType dtype) {
  switch (dtype) {
    case DType::uint16: return &PENSTOCK_FOR_TARGET(target, network, kLoops<uint16_t>);
    case DType::float32: return &PENSTOCK_FOR_TARGET(target, network, kLoops<float>);
    default: return nullptr;
  }
}

}  // namespace

void median_network(Target target, DType dtype, const void* in, void* out, const ImageRule::Extents& image, int size) {
  const NetworkLoops& loops = dispatch_keys(dtype, [&]<class K>(TypeTag<K>) -> const NetworkLoops& {
    return PENSTOCK_FOR_TARGET(target, network, kLoops<K>);
  });
  const NetworkLoops* const direct = direct_loops(target, dtype);
  const int64_t bytes = image.outer * image.height * image.width * image.inner * static_cast<int64_t>(size_of(dtype));
  Crew::share(Network::bands(image), bytes, [&](int64_t first, int64_t end) {
    Network(loops, direct, dtype, image, size)
        .run(static_cast<const std::byte*>(in), static_cast<std::byte*>(out), first, end);
  });
}

}  // namespace penstock::window
