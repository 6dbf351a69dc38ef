// SPDX-License-Identifier: Apache-2.0
#include "codecs/heif/heif_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "codecs/decode_errors.h"
#include "codecs/heif/box_reader.h"

namespace penstock::heif {

namespace {

// More than any writer makes; without a limit a small file could request much memory.
constexpr size_t kMostItems = 1 << 17, kMostExtents = 16, kMostProperties = 64;
constexpr uint32_t kFile = four("file"), kAv01 = four("av01"), kHvc1 = four("hvc1"), kGrid = four("grid");

struct Property {
  Box box;
  bool essential = false;
};

struct Item {
  uint32_t id = 0, type = 0;
  std::vector<Property> properties;  // in the order of the file
  uint64_t method = 0;               // 0: in the file, 1: in the box idat
  std::vector<CodedItem::Extent> extents;
  std::vector<uint32_t> tiles;  // the items that it is derived from

  const Box* property(uint32_t type_of_box) const {
    for (const Property& p : properties)
      if (p.box.type == type_of_box) return &p.box;
    return nullptr;
  }
};

struct Meta {
  uint32_t primary = 0;
  bool has_primary = false;
  std::vector<Item> items;
  std::unordered_map<uint32_t, size_t> places;  // indexes into items
  struct Reference {
    uint32_t type, from;
    std::vector<uint32_t> to;
  };
  std::vector<Reference> references;
  Bytes data;  // of idat
  uint64_t data_at = 0;

  Item* find(uint32_t id) {
    const auto place = places.find(id);
    return place == places.end() ? nullptr : &items[place->second];
  }
  Item& at(uint32_t id) {
    if (Item* item = find(id)) return *item;
    bad_data("HEIF: item {} does not exist", id);
  }
};

void read_items(const Box& box, Meta& m) {
  Fields f = box.fields();
  f.read(box.version == 0 ? 2 : 4);  // their number
  for_boxes(f.rest(), box.type, false, [&](const Box& entry) {
    const Box infe = entry.full();
    if (infe.type != four("infe") || infe.version < 2) return false;
    Fields e = infe.fields();
    Item item;
    item.id = static_cast<uint32_t>(e.read(infe.version == 2 ? 2 : 4));
    if (e.read(2)) return false;  // protected
    item.type = static_cast<uint32_t>(e.read(4));
    if (m.items.size() >= kMostItems) bad_data("HEIF: more than {} items", kMostItems);
    if (!m.places.emplace(item.id, m.items.size()).second) bad_data("HEIF: two items have the ID {}", item.id);
    m.items.push_back(std::move(item));
    return false;
  });
}

void read_locations(const Box& box, Meta& m) {
  Fields f = box.fields();
  const auto sizes = static_cast<int>(f.read(2));
  const int offset_bytes = sizes >> 12, length_bytes = sizes >> 8 & 15, base_bytes = sizes >> 4 & 15;
  const int index_bytes = box.version > 0 ? sizes & 15 : 0;
  for (int bytes : {offset_bytes, length_bytes, base_bytes, index_bytes})
    if (bytes != 0 && bytes != 4 && bytes != 8) bad_data("HEIF: the box 'iloc' has fields of {} bytes", bytes);
  const int id_bytes = box.version < 2 ? 2 : 4;
  for (uint64_t count = f.read(id_bytes); count > 0; --count) {
    Item* const item = m.find(static_cast<uint32_t>(f.read(id_bytes)));
    const uint64_t method = box.version > 0 ? f.read(2) & 15 : 0;
    f.read(2);  // the index of the file that has the data: this one
    const uint64_t base = f.read(base_bytes);
    const uint64_t extents = f.read(2);
    for (uint64_t i = 0; i < extents; ++i) {
      f.read(index_bytes);
      CodedItem::Extent e;
      e.at = base + f.read(offset_bytes);
      e.bytes = f.read(length_bytes);
      if (e.at < base) bad_data("HEIF: the offset of an item does not fit into 64 bits");
      // An extent without fields takes no bytes of the file; writers make one such extent.
      if (length_bytes == 0 && i > 0) bad_data("HEIF: an item has several extents without lengths");
      if (!item) continue;
      if (item->extents.size() >= kMostExtents)
        bad_data("HEIF: item {} has more than {} extents", item->id, kMostExtents);
      item->extents.push_back(e);
    }
    if (item) item->method = method;
  }
}

void read_properties(const Box& box, Meta& m) {
  std::vector<Box> all;
  for_boxes(box.body, box.type, false, [&](const Box& part) {
    if (part.type == four("ipco"))
      for_boxes(part.body, part.type, false, [&](const Box& p) { return all.push_back(p), false; });
    return false;
  });
  for_boxes(box.body, box.type, false, [&](const Box& part) {
    if (part.type != four("ipma")) return false;
    const Box ipma = part.full();
    Fields f = ipma.fields();
    const int index_bytes = ipma.flags & 1 ? 2 : 1;
    for (uint64_t count = f.read(4); count > 0; --count) {
      Item* const item = m.find(static_cast<uint32_t>(f.read(ipma.version == 0 ? 2 : 4)));
      for (uint64_t n = f.read(1); n > 0; --n) {
        const uint64_t v = f.read(index_bytes), top = uint64_t{1} << (8 * index_bytes - 1), index = v & (top - 1);
        if (index > all.size()) bad_data("HEIF: property {} does not exist", index);
        if (!item || index == 0) continue;
        if (item->properties.size() >= kMostProperties)
          bad_data("HEIF: item {} has more than {} properties", item->id, kMostProperties);
        item->properties.push_back({all[index - 1], (v & top) != 0});
      }
    }
    return false;
  });
}

void read_references(const Box& box, Meta& m) {
  const int id_bytes = box.version == 0 ? 2 : 4;
  for_boxes(box.body, box.type, false, [&](const Box& reference) {
    Fields f = reference.fields();
    const auto from = static_cast<uint32_t>(f.read(id_bytes));
    std::vector<uint32_t> to;
    for (uint64_t n = f.read(2); n > 0; --n) to.push_back(static_cast<uint32_t>(f.read(id_bytes)));
    m.references.push_back({reference.type, from, std::move(to)});
    return false;
  });
}

Meta read_meta(Bytes file) {
  Meta m;
  bool there = false, cut = false;
  for_boxes(file, kFile, true, [&](const Box& top) {
    cut = top.cut;
    if (cut && (top.type == four("meta") || top.type == four("ftyp")))
      ends_early("HEIF: premature end of file in the box '{}'", four_cc_text(top.type));
    if (top.type != four("meta")) return false;
    there = true;
    const Box meta = top.full();
    // The items first, because the other boxes refer to them.
    const auto each = [&](uint32_t type, const auto& read) {
      for_boxes(meta.body, meta.type, false, [&](const Box& b) {
        if (b.type == type) read(b);
        return false;
      });
    };
    each(four("iinf"), [&](const Box& b) { read_items(b.full(), m); });
    each(four("pitm"), [&](const Box& b) {
      const Box pitm = b.full();
      m.primary = static_cast<uint32_t>(pitm.fields().read(pitm.version == 0 ? 2 : 4));
      m.has_primary = true;
    });
    each(four("iloc"), [&](const Box& b) { read_locations(b.full(), m); });
    each(four("iprp"), [&](const Box& b) { read_properties(b, m); });
    each(four("iref"), [&](const Box& b) { read_references(b.full(), m); });
    each(four("idat"),
         [&](const Box& b) { m.data = b.body, m.data_at = static_cast<uint64_t>(b.body.data() - file.data()); });
    return true;
  });
  if (!there && cut) ends_early("HEIF: premature end of file before the box 'meta'");
  if (!there) bad_data("HEIF: the file of {} bytes contains no box 'meta'", file.size());
  if (!m.has_primary) bad_data("HEIF: the file has no primary picture (a movie without a still picture?)");
  // From here on offsets are those in the file.
  for (Item& item : m.items)
    if (item.method == 1)
      for (auto& e : item.extents) {
        if (e.at > m.data.size() || e.bytes > m.data.size() - e.at)
          bad_data("HEIF: item {} exceeds the box 'idat'", item.id);
        if (e.bytes == 0) e.bytes = m.data.size() - e.at;
        e.at += m.data_at;
      }
  return m;
}

void size_of_item(const Item& item, int64_t& height, int64_t& width) {
  const Box* ispe = item.property(four("ispe"));
  if (!ispe) bad_data("HEIF: item {} has no size", item.id);
  const Box box = ispe->full();
  Fields f = box.fields();
  width = static_cast<int64_t>(f.read(4)), height = static_cast<int64_t>(f.read(4));
  if (width < 1 || height < 1 || width > INT32_MAX || height > INT32_MAX)
    bad_data("HEIF: item {} has an invalid size of {} x {} pixels", item.id, height, width);
}

void check_essential(const Item& item) {
  constexpr uint32_t kKnown[] = {four("ispe"), four("av1C"), four("hvcC"), four("irot"), four("imir"),
                                 four("clap"), four("pixi"), four("colr"), four("auxC"), four("pasp"),
                                 four("clli"), four("mdcv"), four("a1lx")};
  for (const Property& p : item.properties)
    if (p.essential && std::ranges::find(kKnown, p.box.type) == std::end(kKnown))
      bad_data("HEIF: item {} needs the unknown property '{}'", item.id, four_cc_text(p.box.type));
}

CodedItem coded_item(const Item& item, std::optional<Codec>& codec) {
  if (item.type != kAv01 && item.type != kHvc1)
    bad_data("HEIF: a picture of type '{}' is not supported, only AV1, HEVC and grids of those",
             four_cc_text(item.type));
  const Codec own = item.type == kAv01 ? Codec::av1 : Codec::hevc;
  if (codec && *codec != own) bad_data("HEIF: the tiles have different codecs");
  codec = own;
  check_essential(item);
  if (item.method > 1 || item.extents.empty()) bad_data("HEIF: the data of item {} is not in this file", item.id);
  CodedItem c;
  c.id = item.id;
  size_of_item(item, c.height, c.width);
  const Box* configuration = item.property(own == Codec::av1 ? four("av1C") : four("hvcC"));
  if (!configuration) bad_data("HEIF: item {} has no decoder configuration", item.id);
  c.configuration = configuration->body;
  c.extents = item.extents;
  return c;
}

Picture picture_of(Meta& m, const Item& item, Bytes file, std::optional<Codec>& codec) {
  Picture p;
  if (item.type != kGrid) {
    p.tiles.push_back(coded_item(item, codec));
    p.height = p.tiles[0].height, p.width = p.tiles[0].width;
    return p;
  }
  check_essential(item);
  CodedItem grid;
  grid.id = item.id, grid.extents = item.extents;
  const std::vector<uint8_t> bytes = coded_bytes(file, grid);
  Fields f(bytes, kGrid);
  f.read(1);
  const int size_bytes = f.read(1) & 1 ? 4 : 2;
  p.rows = static_cast<int>(f.read(1)) + 1, p.columns = static_cast<int>(f.read(1)) + 1;
  p.width = static_cast<int64_t>(f.read(size_bytes)), p.height = static_cast<int64_t>(f.read(size_bytes));
  const std::vector<uint32_t>* ids = nullptr;
  for (const auto& r : m.references)
    if (r.type == four("dimg") && r.from == item.id) ids = &r.to;
  if (!ids || ids->size() != static_cast<size_t>(p.rows) * p.columns)
    bad_data("HEIF: a grid of {} x {} tiles lists {} tiles", p.rows, p.columns, ids ? ids->size() : 0);
  for (uint32_t id : *ids) {
    CodedItem tile = coded_item(m.at(id), codec);
    if (!p.tiles.empty() && (tile.height != p.tiles[0].height || tile.width != p.tiles[0].width))
      bad_data("HEIF: the tiles of a grid differ in size");
    p.tiles.push_back(std::move(tile));
  }
  const int64_t h = p.tiles[0].height, w = p.tiles[0].width;
  if (p.height < 1 || p.width < 1 || p.height > h * p.rows || p.height <= h * (p.rows - 1) || p.width > w * p.columns ||
      p.width <= w * (p.columns - 1) || p.height > INT32_MAX || p.width > INT32_MAX)
    bad_data("HEIF: {} x {} tiles of {} x {} do not cover {} x {} pixels", p.rows, p.columns, h, w, p.height, p.width);
  return p;
}

// The clean aperture: its size and the offset of its center from the picture's center, as fractions.
Region aperture(const Box& box, int64_t height, int64_t width) {
  Fields f = box.fields();
  int64_t n[4], d[4];
  for (int i = 0; i < 4; ++i) {
    n[i] = static_cast<int32_t>(f.read(4)), d[i] = static_cast<int32_t>(f.read(4));
    if (d[i] < 1) bad_data("HEIF: a clean aperture has the denominator {}", d[i]);
  }
  const auto part = [&](int size, int offset, int64_t extent, int64_t& begin, int64_t& length) {
    length = n[size] / d[size];
    if (length < 1 || length > extent)
      bad_data("HEIF: a clean aperture of {} does not fit in {} pixels", length, extent);
    // begin = (extent - length) / 2 + offset
    const int64_t twice = (extent - length) * d[offset] + 2 * n[offset];
    begin = twice / (2 * d[offset]);
    if (n[size] % d[size] || twice % (2 * d[offset]) || begin < 0 || begin > extent - length)
      bad_data("HEIF: the clean aperture is not aligned to pixels of the picture of {} x {}", height, width);
  };
  Region r;
  part(0, 2, width, r.x, r.width);
  part(1, 3, height, r.y, r.height);
  return r;
}

// Where (right, down) of the stored picture go: rows of a matrix. EXIF's orientations 1 to 8 in this form.
using Turn = std::array<int, 4>;
constexpr Turn kTurns[8] = {{1, 0, 0, 1}, {-1, 0, 0, 1}, {-1, 0, 0, -1}, {1, 0, 0, -1},
                            {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, -1, 0}, {0, 1, -1, 0}};
constexpr Turn after(const Turn& a, const Turn& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
}

void read_transformations(const Item& item, HeifFile& file) {
  file.shown = {0, 0, file.color.height, file.color.width};
  Turn turn = kTurns[0];
  bool shown = false, turned = false;
  for (const Property& p : item.properties) {
    if (p.box.type == four("clap")) {
      if (shown || turned) bad_data("HEIF: a clean aperture after a rotation is not supported");
      file.shown = aperture(p.box, file.color.height, file.color.width);
      shown = true;
    } else if (p.box.type == four("irot")) {
      turned = true;
      for (uint64_t n = p.box.fields().read(1) & 3; n > 0; --n) turn = after(kTurns[7], turn);  // counterclockwise
    } else if (p.box.type == four("imir")) {
      turned = true;
      turn = after(p.box.fields().read(1) & 1 ? kTurns[1] : kTurns[3], turn);  // 1: exchanges left and right
    }
  }
  file.orientation = static_cast<int>(std::ranges::find(kTurns, turn) - kTurns) + 1;
}

bool is_alpha(const Item& item) {
  using namespace std::string_view_literals;
  const Box* aux = item.property(four("auxC"));
  if (!aux) return false;
  const Bytes body = aux->full().body;
  const std::string_view text(reinterpret_cast<const char*>(body.data()), body.size());
  for (const std::string_view name :
       {"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0"sv, "urn:mpeg:hevc:2015:auxid:1\0"sv})
    if (text.starts_with(name)) return true;
  return false;
}

}  // namespace

bool is_heif(Bytes file) {
  if (file.size() < 16 || be32(&file[4]) != four("ftyp")) return false;
  const size_t end = std::min<size_t>(be32(file.data()), file.size());
  constexpr uint32_t kBrands[] = {four("avif"), four("avis"), four("heic"), four("heix"), four("heim"),
                                  four("heis"), four("hevc"), four("hevx"), four("mif1"), four("msf1")};
  for (size_t at = 8; at + 4 <= end; at += 4)
    if (at != 12 && std::ranges::find(kBrands, be32(&file[at])) != std::end(kBrands)) return true;
  return false;
}

HeifFile read_heif(Bytes file) {
  Meta m = read_meta(file);
  const Item& primary = m.at(m.primary);
  HeifFile h;
  std::optional<Codec> codec;
  h.color = picture_of(m, primary, file, codec);
  h.codec = *codec;
  h.coded = read_configuration(h.codec, h.color.tiles[0].configuration);
  for (const Property& p : primary.properties) {
    if (p.box.type != four("colr")) continue;
    Fields f = p.box.fields();
    if (f.read(4) != four("nclx")) continue;
    f.read(4);
    const auto matrix = static_cast<int>(f.read(2));
    h.colors = Colors{matrix, (f.read(1) & 128) != 0};
  }
  read_transformations(primary, h);
  for (const auto& r : m.references) {
    if (r.type != four("auxl") || std::ranges::find(r.to, m.primary) == r.to.end()) continue;
    const Item* item = m.find(r.from);
    if (!item || !is_alpha(*item)) continue;
    h.alpha = picture_of(m, *item, file, h.alpha_codec);
    if (h.alpha->height != h.color.height || h.alpha->width != h.color.width)
      bad_data("HEIF: the alpha picture has {} x {} pixels, the picture {} x {}", h.alpha->height, h.alpha->width,
               h.color.height, h.color.width);
    break;
  }
  return h;
}

std::vector<uint8_t> coded_bytes(Bytes file, const CodedItem& item) {
  uint64_t total = 0;
  std::vector<CodedItem::Extent> extents = item.extents;
  for (auto& e : extents) {
    if (e.bytes == 0 && e.at < file.size()) e.bytes = file.size() - e.at;
    if (e.at > file.size() || e.bytes > file.size() - e.at || e.bytes == 0)
      ends_early("HEIF: premature end of file: item {} needs {} bytes from byte {} on, but the file has {}", item.id,
                 e.bytes, e.at, file.size());
    total += e.bytes;
    if (total > file.size()) bad_data("HEIF: the extents of item {} overlap", item.id);
  }
  std::vector<uint8_t> bytes;
  bytes.reserve(total);
  for (const auto& e : extents)
    bytes.insert(bytes.end(), file.begin() + static_cast<int64_t>(e.at),
                 file.begin() + static_cast<int64_t>(e.at + e.bytes));
  return bytes;
}

}  // namespace penstock::heif
