// SPDX-License-Identifier: Apache-2.0
#include "data/fits.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "base/memory.h"

namespace penstock {

namespace {

constexpr int64_t kBlock = 2880, kCard = 80;
constexpr int64_t kMostHeaderBlocks = 4096;  // 147,456 cards
constexpr int64_t kMostAxes = 999;           // limit of the standard

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// What an HDU's header says about its data.
struct Header {
  bool begins_file = false, simple = false, compressed = false, groups = false;
  std::string extension;  // for an HDU that is not the first: IMAGE, TABLE, BINTABLE
  int64_t bits = 0, axes = -1, parameters = 0, group_count = 1;
  std::array<int64_t, kMostAxes> extent;
  std::optional<int64_t> blank;
  double scale = 1, zero = 0;
  std::map<std::string, std::string, std::less<>> table;  // for a table: the keywords of a compressed image

  Header() { extent.fill(-1); }
  void take(std::string_view card, int64_t number);
  int64_t elements() const;
  int64_t data_bytes() const;
  bool has(std::string_view name) const { return table.find(name) != table.end(); }
  std::string text(std::string_view name, const char* otherwise = "") const {
    const auto found = table.find(name);
    return found == table.end() ? otherwise : found->second;
  }
  int64_t number(const std::string& name, int64_t otherwise, int64_t least, int64_t most) const;
};

std::string_view value_of(std::string_view card) {
  if (card.substr(8, 2) != "= ") return {};
  std::string_view v = trimmed(card.substr(10));
  if (v.starts_with('\'')) {
    const size_t end = v.find('\'', 1);
    if (end == std::string_view::npos) bad_data("FITS: the text of '{}' is not terminated", trimmed(card.substr(0, 8)));
    return trimmed(v.substr(1, end - 1));
  }
  return trimmed(v.substr(0, v.find('/')));
}

template <class T> T number_of(std::string_view name, std::string_view v) {
  std::string text(v);
  for (char& c : text)
    if (c == 'D' || c == 'd') c = 'E';
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* end = text.data() + text.size();
  T value{};
  const auto [after, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || after != end || begin == end) bad_data("FITS: {} is '{}', not a number", name, v);
  if constexpr (std::is_floating_point_v<T>)
    if (!std::isfinite(value)) bad_data("FITS: {} is '{}', not a number", name, v);
  return value;
}

void Header::take(std::string_view card, int64_t number) {
  for (const char c : card)
    if (c < ' ' || c > '~') bad_data("FITS: a header has the invalid byte {:#04x}", static_cast<uint8_t>(c));
  const std::string_view name = trimmed(card.substr(0, 8)), value = value_of(card);
  const auto whole = [&](int64_t least) {
    const auto v = number_of<int64_t>(name, value);
    if (v < least) bad_data("FITS: {} is {}", name, v);
    return v;
  };
  if (number == 0) {
    if (begins_file ? name != "SIMPLE" : name != "XTENSION") bad_data("FITS: a header begins with '{}'", name);
    if (begins_file) simple = value == "T";
    else extension = value;
  } else if (extension == "BINTABLE" && (name.starts_with('Z') || name.starts_with('T'))) {
    if (name == "ZIMAGE") compressed = value == "T";
    table.insert_or_assign(std::string(name), std::string(value));
  } else if (name == "BITPIX") {
    bits = number_of<int64_t>(name, value);
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != -32 && bits != -64)
      bad_data("FITS: BITPIX is {}", bits);
  } else if (name == "NAXIS") {
    axes = whole(0);
    if (axes > kMostAxes) bad_data("FITS: {} axes", axes);
  } else if (name.starts_with("NAXIS")) {
    const auto axis = number_of<int64_t>(name, name.substr(5));
    if (axis < 1 || axis > kMostAxes) bad_data("FITS: '{}' is not an axis", name);
    extent[axis - 1] = whole(0);
  } else if (name == "PCOUNT") {
    parameters = whole(0);
  } else if (name == "GCOUNT") {
    group_count = whole(0);
  } else if (name == "GROUPS") {
    groups = value == "T";
  } else if (name == "BLANK") {
    blank = number_of<int64_t>(name, value);
  } else if (name == "BSCALE") {
    scale = number_of<double>(name, value);
  } else if (name == "BZERO") {
    zero = number_of<double>(name, value);
  }
}

int64_t Header::elements() const {
  if (bits == 0 || axes < 0) bad_data("FITS: a header has no {}", bits == 0 ? "BITPIX" : "NAXIS");
  int64_t n = axes > 0;
  for (int64_t k = 0; k < axes; ++k) {
    if (extent[k] < 0) bad_data("FITS: a header has no NAXIS{}", k + 1);
    if (groups && k == 0 && extent[k] == 0) continue;
    if (__builtin_mul_overflow(n, extent[k], &n)) bad_data("FITS: the number of elements is too large");
  }
  return n;
}

int64_t Header::data_bytes() const {
  int64_t n = elements();
  if (__builtin_add_overflow(n, parameters, &n) || __builtin_mul_overflow(n, group_count, &n) ||
      __builtin_mul_overflow(n, std::abs(bits) / 8, &n))
    bad_data("FITS: the number of elements is too large");
  return n;
}

int64_t Header::number(const std::string& name, int64_t otherwise, int64_t least, int64_t most) const {
  const auto found = table.find(name);
  if (found == table.end() && otherwise >= least) return otherwise;
  if (found == table.end()) bad_data("FITS: a compressed image has no {}", name);
  const auto v = number_of<int64_t>(name, found->second);
  if (v < least || v > most) bad_data("FITS: {} is {}", name, v);
  return v;
}

DType stored_type(int64_t bits);

// "1PB(1234)", "D", "1J": parses the type of a table's column; returns its bytes per row.
int64_t column_bytes(std::string_view form, FitsColumn& c) {
  size_t k = 0;
  int64_t count = 0;
  while (k < form.size() && form[k] >= '0' && form[k] <= '9' && count < (1 << 28))
    count = 10 * count + (form[k++] - '0');
  if (k == 0) count = 1;
  if (k == form.size()) bad_data("FITS: a column has the invalid type '{}'", form);
  c.type = form[k];
  if (c.type == 'P' || c.type == 'Q') {
    c.heap = true, c.wide = c.type == 'Q';
    c.type = k + 1 < form.size() ? form[k + 1] : 0;
    return count * (c.wide ? 16 : 8);
  }
  switch (c.type) {
    case 'L':
    case 'B':
    case 'A': return count;
    case 'X': return (count + 7) / 8;
    case 'I': return 2 * count;
    case 'J':
    case 'E': return 4 * count;
    case 'K':
    case 'D':
    case 'C': return 8 * count;
    case 'M': return 16 * count;
    default: bad_data("FITS: a column has the invalid type '{}'", form);
  }
}

// Finds the columns of a compressed image.
void find_columns(const Header& h, FitsTiles& t) {
  int64_t at = 0;
  for (int64_t k = 1, columns = h.number("TFIELDS", -1, 0, 999); k <= columns; ++k) {
    const std::string name = h.text("TTYPE" + std::to_string(k)), form = h.text("TFORM" + std::to_string(k));
    FitsColumn c;
    const int64_t bytes = column_bytes(form, c);
    c.at = at;
    at += bytes;
    if (bytes == 0) continue;
    const bool whole = c.type == 'B' || c.type == 'I' || c.type == 'J' || c.type == 'K';
    const auto take = [&](const char* called, FitsColumn& to, bool in_heap, bool fits) {
      if (name != called) return;
      if (c.heap != in_heap || !fits) bad_data("FITS: {} has the invalid type '{}'", name, form);
      to = c;
    };
    const bool known = whole || c.type == 'E' || c.type == 'D';
    take("COMPRESSED_DATA", t.data, true, c.type == 'B' || c.type == 'I');
    take("GZIP_COMPRESSED_DATA", t.gzip_data, true, c.type == 'B');
    take("UNCOMPRESSED_DATA", t.plain_data, true, known);
    take("ZSCALE", t.scale, false, known);
    take("ZZERO", t.zero, false, known);
    take("ZBLANK", t.blanks, false, whole);
  }
  if (at != t.row_bytes) bad_data("FITS: rows have {} bytes, but their columns have {}", t.row_bytes, at);
  if (t.data.at < 0) bad_data("FITS: a compressed image has no COMPRESSED_DATA");
}

// Reads the description of a compressed image from the header of the table `at`.
std::shared_ptr<FitsTiles> find_tiles(const Header& h, int64_t at, int64_t bytes) {
  auto t = std::make_shared<FitsTiles>();
  t->compression = h.text("ZCMPTYPE");
  if (t->compression == "RICE_ONE") t->compression = "RICE_1";
  if (t->compression != "RICE_1" && t->compression != "GZIP_1" && t->compression != "GZIP_2" &&
      t->compression != "PLIO_1" && t->compression != "HCOMPRESS_1" && t->compression != "NOCOMPRESS")
    bad_data("FITS: the compression '{}' is not supported; funpack (CFITSIO) decompresses the image", t->compression);
  const int64_t bits = h.number("ZBITPIX", -100, -64, 64), axes = h.number("ZNAXIS", -1, 0, kMostAxes);
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != -32 && bits != -64)
    bad_data("FITS: ZBITPIX is {}", bits);
  t->stored = stored_type(bits);
  if (axes == 0) bad_data("FITS: a compressed image has no elements");
  if (axes > Shape::kMaxDims) bad_data("FITS: {} axes, but at most {} are supported", axes, Shape::kMaxDims);
  int64_t count = 1, elements = 1;
  for (int64_t k = axes; k > 0; --k) {
    const int64_t extent = h.number("ZNAXIS" + std::to_string(k), -1, 1, INT32_MAX);
    const int64_t tile = h.number("ZTILE" + std::to_string(k), k == 1 ? extent : 1, 1, INT32_MAX);
    t->shape.push_back(extent), t->tile.push_back(std::min(tile, extent));
    if (__builtin_mul_overflow(count, (extent - 1) / tile + 1, &count) ||
        __builtin_mul_overflow(elements, extent, &elements))
      bad_data("FITS: the number of elements is too large");
  }
  if (h.bits != 8 || h.axes != 2 || h.group_count != 1) bad_data("FITS: a compressed image is not in a table");
  t->table = at, t->row_bytes = h.extent[0], t->rows = h.extent[1];
  if (t->rows != count) bad_data("FITS: a compressed image has {} tiles in {} rows", count, t->rows);
  const int64_t heap = h.number("THEAP", t->row_bytes * t->rows, t->row_bytes * t->rows, bytes);
  t->heap = at + heap, t->heap_bytes = bytes - heap;
  constexpr int64_t kMostToAByte = 4096;  // no compression gives a higher ratio
  if (elements / kMostToAByte > bytes) bad_data("FITS: {} bytes cannot hold {} elements", elements, bytes);
  find_columns(h, *t);
  for (int64_t k = 1; h.has("ZNAME" + std::to_string(k)); ++k) {
    const std::string name = h.text("ZNAME" + std::to_string(k)), value = "ZVAL" + std::to_string(k);
    if (name == "BLOCKSIZE") t->block = h.number(value, -1, 1, 1 << 16);
    if (name == "BYTEPIX") t->pixel_bytes = h.number(value, -1, 1, 8);
    if (name == "SMOOTH" && h.number(value, -1, 0, INT32_MAX) != 0)
      bad_data("FITS: HCOMPRESS_1 with smoothing is not supported");
  }
  if (t->compression == "RICE_1" && t->pixel_bytes != 1 && t->pixel_bytes != 2 && t->pixel_bytes != 4)
    bad_data("FITS: RICE_1 has elements of {} bytes", t->pixel_bytes);
  t->dither = h.text("ZQUANTIZ", "NO_DITHER");
  t->seed = h.number("ZDITHER0", 1, 1, 10000);
  t->has_blank = h.has("ZBLANK");
  if (t->has_blank) t->blank = h.number("ZBLANK", 0, INT64_MIN, INT64_MAX);
  return t;
}

// Reads the header at `at` and moves `at` to its end.
Header read_header(const ReadBytes& read, int64_t file_bytes, int64_t& at) {
  Header h;
  h.begins_file = at == 0;
  std::array<uint8_t, kBlock> block;
  for (int64_t number = 0; number < kMostHeaderBlocks; ++number) {
    if (file_bytes - at < kBlock) bad_data("FITS: the file of {} bytes ends inside a header", file_bytes);
    read(at, kBlock, block.data());
    if (at == 0 && std::memcmp(block.data(), "SIMPLE  ", 8) != 0)
      bad_data("not a FITS file{}",
               block[0] == 0x1F && block[1] == 0x8B ? "; the whole file is compressed by gzip" : "");
    at += kBlock;
    for (int64_t c = 0; c < kBlock; c += kCard) {
      const std::string_view card(reinterpret_cast<const char*>(block.data()) + c, kCard);
      if (trimmed(card) == "END") return h;
      h.take(card, number * (kBlock / kCard) + c / kCard);
    }
  }
  bad_data("FITS: a header is not terminated");
}

DType stored_type(int64_t bits) {
  switch (bits) {
    case 8: return DType::uint8;
    case 16: return DType::int16;
    case 32: return DType::int32;
    case 64: return DType::int64;
    case -32: return DType::float32;
    default: return DType::float64;
  }
}

// BZERO of half the range makes signed integers unsigned, and bytes signed.
DType value_type(const FitsImage& i) {
  if (i.scale == 1 && i.zero == 0) return i.stored;
  if (i.scale == 1) {
    if (i.stored == DType::uint8 && i.zero == -128) return DType::int8;
    if (i.stored == DType::int16 && i.zero == 32768) return DType::uint16;
    if (i.stored == DType::int32 && i.zero == 2147483648.0) return DType::uint32;
    if (i.stored == DType::int64 && i.zero == 9223372036854775808.0) return DType::uint64;
  }
  return size_of(i.stored) <= 2 || i.stored == DType::float32 ? DType::float32 : DType::float64;
}

template <class U> U big_endian(const uint8_t* p) {
  U v = 0;
  for (size_t k = 0; k < sizeof(U); ++k) v = static_cast<U>(v << 8 | p[k]);
  return v;
}

template <class Stored, class U, class To>
void scale_values(const FitsImage& image, int64_t n, const uint8_t* from, To* to) {
  for (int64_t i = 0; i < n; ++i, from += sizeof(U)) {
    const auto v = std::bit_cast<Stored>(big_endian<U>(from));
    bool none = false;
    if constexpr (std::is_integral_v<Stored>) none = image.has_blank && static_cast<int64_t>(v) == image.blank;
    to[i] = none ? std::numeric_limits<To>::quiet_NaN()
                 : static_cast<To>(static_cast<double>(v) * image.scale + image.zero);
  }
}

template <class Stored, class U> void convert_as(const FitsImage& image, const uint8_t* from, void* to) {
  const int64_t n = image.shape.volume();
  if (image.scaled()) {
    if (image.dtype == DType::float32) scale_values<Stored, U>(image, n, from, static_cast<float*>(to));
    else scale_values<Stored, U>(image, n, from, static_cast<double*>(to));
    return;
  }
  const U sign = image.dtype == image.stored ? U{0} : static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  auto* out = static_cast<uint8_t*>(to);
  for (int64_t i = 0; i < n; ++i) {
    const U v = static_cast<U>(big_endian<U>(from + i * sizeof(U)) ^ sign);
    std::memcpy(out + i * sizeof(U), &v, sizeof(U));
  }
}

}  // namespace

FitsImage find_fits_image(const ReadBytes& read, int64_t file_bytes, int64_t number) {
  if (number < 1) bad_argument("HDUs are counted from 1, got {}", number);
  int64_t at = 0;
  for (int64_t k = 1;; ++k) {
    if (at >= file_bytes && k > 1) bad_data("FITS: the file has {} HDUs, but HDU {} was requested", k - 1, number);
    const Header h = read_header(read, file_bytes, at);
    const int64_t bytes = h.data_bytes();
    if (bytes > file_bytes - at)
      bad_data("FITS: the {} bytes of HDU {} do not lie inside a file of {} bytes", bytes, k, file_bytes);
    if (k < number) {
      const int64_t padded = (bytes + kBlock - 1) / kBlock * kBlock;
      at = std::min(file_bytes, at + padded);
      continue;
    }
    if (h.compressed) {
      FitsImage image;
      const auto tiles = find_tiles(h, at, bytes);
      image.stored = tiles->stored, image.shape = tiles->shape, image.data = at;
      image.scale = h.scale, image.zero = h.zero;
      image.has_blank = tiles->has_blank || h.blank.has_value(),
      image.blank = tiles->has_blank ? tiles->blank : h.blank.value_or(0);
      image.dtype = value_type(image);
      image.tiles = tiles;
      return image;
    }
    if (!h.begins_file && h.extension != "IMAGE") bad_data("FITS: HDU {} is '{}', not an image", k, h.extension);
    if (h.begins_file && !h.simple) bad_data("FITS: the file does not follow the standard (SIMPLE is not T)");
    if (h.groups && h.axes > 0 && h.extent[0] == 0)
      bad_data("FITS: HDU {} has random groups, which are not supported", k);
    if (h.elements() == 0)
      bad_data("FITS: HDU {} has no elements{}", k, k == 1 ? "; hdu_indices=[2] is the first one after it" : "");
    if (h.parameters != 0 || h.group_count != 1)
      bad_data("FITS: an image has PCOUNT {} and GCOUNT {}", h.parameters, h.group_count);
    if (h.axes > Shape::kMaxDims) bad_data("FITS: {} axes, but at most {} are supported", h.axes, Shape::kMaxDims);
    FitsImage image;
    image.stored = stored_type(h.bits);
    image.scale = h.scale, image.zero = h.zero;
    image.has_blank = h.blank.has_value(), image.blank = h.blank.value_or(0);
    image.dtype = value_type(image);
    for (int64_t d = h.axes; d-- > 0;) image.shape.push_back(h.extent[d]);
    image.data = at;
    return image;
  }
}

void read_fits_elements(const ReadBytes& read, const FitsImage& image, uint8_t* out) {
  const size_t bytes = checked_bytes(image.shape.volume(), size_of(image.stored));
  if (image.tiles) read_fits_tiles(read, *image.tiles, out);
  else read(image.data, static_cast<int64_t>(bytes), out);
}

void convert_fits(const FitsImage& image, const uint8_t* from, void* to) {
  switch (image.stored) {
    case DType::uint8: return convert_as<uint8_t, uint8_t>(image, from, to);
    case DType::int16: return convert_as<int16_t, uint16_t>(image, from, to);
    case DType::int32: return convert_as<int32_t, uint32_t>(image, from, to);
    case DType::int64: return convert_as<int64_t, uint64_t>(image, from, to);
    case DType::float32: return convert_as<float, uint32_t>(image, from, to);
    default: return convert_as<double, uint64_t>(image, from, to);
  }
}

}  // namespace penstock
