// SPDX-License-Identifier: Apache-2.0
#include "data/mds.h"

#include <charconv>

#include "base/json_text.h"
#include "data/number_at.h"
#include "data/storage.h"

namespace penstock {
namespace {

constexpr int64_t kMostIndex = int64_t{1} << 30, kMostDimensions = 6;
constexpr int64_t kMostExtent = int64_t{1} << 31;  // an array without elements may have any extents beside the 0

const char* name_of_dtype(std::string_view name) {
  for (const char* known :
       {"uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64"})
    if (name == known) return known;
  return nullptr;
}

Shape shape_of(std::string_view text) {
  Shape shape;
  while (!text.empty()) {
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 1 || extent > kMostExtent || shape.size() >= kMostDimensions)
      bad_data("a column has an invalid shape");
    shape.push_back(extent);
    text.remove_prefix(std::min<size_t>(text.size(), static_cast<size_t>(end - text.data()) + 1));
  }
  int64_t volume = 1;
  for (const int64_t extent : shape)
    if (volume *= extent; volume > default_file_limit) bad_data("a column has a shape of too many elements");
  return shape;
}

// "ndarray", "ndarray:float32" or "ndarray:float32:3,4".
void set_array(MdsColumn& column, std::string_view rest) {
  column.dtype = DType::none;
  if (rest.empty()) return;
  const size_t colon = rest.find(':');
  const char* dtype = name_of_dtype(rest.substr(0, colon));
  if (!dtype) bad_data("column '{}' has an encoding that is not known: {}", column.name, column.encoding);
  column.dtype = dtype_from_name(dtype);
  if (colon != std::string_view::npos) column.shape = shape_of(rest.substr(colon + 1));
}

void set_type(MdsColumn& column) {
  const std::string_view encoding = column.encoding, kind = encoding.substr(0, encoding.find(':'));
  const std::string_view rest = kind.size() < encoding.size() ? encoding.substr(kind.size() + 1) : std::string_view();
  for (const char* bytes : {"bytes", "str", "json", "jpeg", "png", "str_int", "str_float", "str_decimal"})
    if (kind == bytes) column.bytes = true;
  if (column.bytes) return;
  if (kind == "ndarray") return set_array(column, rest);
  if (kind == "int" || name_of_dtype(kind)) {
    column.dtype = dtype_from_name(kind == "int" ? "int64" : std::string(kind));
    column.shape = Shape{};
  } else if (kind == "pkl") {
    column.refused =
        "it holds pickled objects, which can run any code when they are read: write it with another encoding";
  } else if (kind == "pil") {
    column.refused = "it holds raw pictures of Pillow: write it as jpeg or png";
  } else {
    column.refused = fmt::format("its encoding \"{}\" is not known", encoding);
  }
}

int64_t number_in(const nlohmann::json& j, const char* what, int64_t most) {
  const auto found = j.find(what);
  if (found == j.end() || !found->is_number_unsigned() || found->get<uint64_t>() > static_cast<uint64_t>(most))
    bad_data("{} must be a whole number from 0 to {}", what, most);
  return found->get<int64_t>();
}

std::string text_in(const nlohmann::json& j, const char* what) {
  const auto found = j.find(what);
  if (found == j.end() || !found->is_string()) bad_data("{} must be a text", what);
  return found->get<std::string>();
}

const nlohmann::json& list_in(const nlohmann::json& j, const char* what) {
  const auto found = j.find(what);
  if (found == j.end() || !found->is_array()) bad_data("{} must be a list", what);
  return *found;
}

std::vector<MdsColumn> columns_of(const nlohmann::json& shard) {
  const auto &names = list_in(shard, "column_names"), &encodings = list_in(shard, "column_encodings"),
             &sizes = list_in(shard, "column_sizes");
  if (names.size() != encodings.size() || names.size() != sizes.size())
    bad_data("the lists of columns differ in length");
  std::vector<MdsColumn> columns;
  for (size_t k = 0; k < names.size(); ++k) {
    if (!names[k].is_string() || !encodings[k].is_string()) bad_data("names and encodings of columns must be texts");
    MdsColumn column{names[k].get<std::string>(), encodings[k].get<std::string>()};
    if (!sizes[k].is_null()) {
      if (!sizes[k].is_number_unsigned() || sizes[k].get<uint64_t>() > uint64_t{default_file_limit})
        bad_data("column_sizes must be whole numbers or null");
      column.size = sizes[k].get<int64_t>();
    }
    set_type(column);
    columns.push_back(std::move(column));
  }
  return columns;
}

// Names with folders that lead elsewhere are not part of the format.
std::string file_in(const nlohmann::json& data, const std::string& folder) {
  const std::string name = text_in(data, "basename");
  if (name.empty() || name[0] == '/' || name.find("..") != std::string::npos)
    bad_data("a shard has the name '{}'", name);
  return path_in(folder, name);
}

MdsShard shard_of(const nlohmann::json& j, const std::string& folder) {
  MdsShard shard;
  if (text_in(j, "format") != "mds") bad_data("the shards have the format {}, not mds", text_in(j, "format"));
  shard.samples = number_in(j, "samples", int64_t{1} << 30);
  const auto raw = j.find("raw_data"), packed = j.find("zip_data"), how = j.find("compression");
  if (raw == j.end() || !raw->is_object()) bad_data("raw_data must be an object");
  shard.bytes = number_in(*raw, "bytes", int64_t{1} << 32);
  const bool is_packed = how != j.end() && how->is_string() && packed != j.end() && packed->is_object();
  const nlohmann::json& there = is_packed ? *packed : *raw;
  if (is_packed) {
    const std::string text = how->get<std::string>();
    shard.compression = text.substr(0, text.find(':'));
    shard.packed_bytes = number_in(*packed, "bytes", default_file_limit);
  }
  shard.path = file_in(there, folder);
  if (const auto hashes = there.find("hashes"); hashes != there.end() && hashes->is_object())
    for (const auto& [name, value] : hashes->items())
      if (value.is_string()) shard.hashes.push_back({name, value.get<std::string>()});
  return shard;
}

bool same(const std::vector<MdsColumn>& a, const std::vector<MdsColumn>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.encoding == y.encoding && x.size == y.size;
  });
}

template <class T> T read_number(Bytes bytes, int64_t at) { return number_at<T>(bytes, at, "the sample is cut"); }

DType coded_dtype(uint8_t code) {
  switch (code) {
    case 8: return DType::uint8;
    case 9: return DType::int8;
    case 16: return DType::uint16;
    case 17: return DType::int16;
    case 18: return DType::float16;
    case 32: return DType::uint32;
    case 33: return DType::int32;
    case 34: return DType::float32;
    case 64: return DType::uint64;
    case 65: return DType::int64;
    case 66: return DType::float64;
    default: bad_data("the array has a type that is not known: {}", code);
  }
}

uint64_t extent_of(Bytes value, int64_t at, int log_size) {
  switch (log_size) {
    case 0: return read_number<uint8_t>(value, at);
    case 1: return read_number<uint16_t>(value, at);
    case 2: return read_number<uint32_t>(value, at);
    default: return read_number<uint64_t>(value, at);
  }
}

}  // namespace

MdsIndex parse_mds_index(const std::string& text, const std::string& folder) {
  const auto j = parse_json(text);
  if (!j.is_object()) bad_data("this is not the index of an MDS data set");
  MdsIndex index;
  for (const auto& entry : list_in(j, "shards")) {
    if (!entry.is_object()) bad_data("a shard must be an object");
    auto columns = columns_of(entry);
    if (index.shards.empty()) index.columns = std::move(columns);
    else if (!same(columns, index.columns))
      bad_data("shard {} has other columns than the first one", index.shards.size());
    index.shards.push_back(shard_of(entry, folder));
  }
  if (index.shards.empty()) bad_data("the data set has no shards");
  return index;
}

MdsIndex read_mds_index(const std::string& folder) {
  const std::string path = path_in(folder, "index.json");
  std::vector<uint8_t> text;
  read_file(path, text, kMostIndex);
  try {
    return parse_mds_index({text.begin(), text.end()}, folder);
  } catch (Error& e) {
    if (e.source.empty()) e.source = path;
    throw;
  }
}

int find_mds_column(const MdsIndex& index, const std::string& name) {
  std::string names;
  for (size_t k = 0; k < index.columns.size(); ++k) {
    const MdsColumn& column = index.columns[k];
    if (column.name != name) {
      names += fmt::format("{}'{}'", k ? ", " : "", column.name);
      continue;
    }
    if (!column.refused.empty()) bad_argument("column '{}' cannot be read: {}", name, column.refused);
    return static_cast<int>(k);
  }
  bad_argument("there is no column '{}'; there are {}", name, names);
}

ContainerIndex mds_places(Bytes start, const MdsShard& shard) {
  if (read_number<uint32_t>(start, 0) != shard.samples)
    bad_data("the shard has {} samples, its index says {}", read_number<uint32_t>(start, 0), shard.samples);
  ContainerIndex index;
  for (int64_t k = 0; k < shard.samples; ++k) {
    const int64_t begin = read_number<uint32_t>(start, 4 + 4 * k), end = read_number<uint32_t>(start, 8 + 4 * k);
    if (begin < 8 + 4 * shard.samples || end < begin || end > shard.bytes)
      bad_data("sample {} at {} to {} does not lie inside the shard of {} bytes", k, begin, end, shard.bytes);
    index.add(begin, end - begin);
  }
  return index;
}

void split_mds_sample(Bytes sample, const std::vector<MdsColumn>& columns, std::vector<Bytes>& values) {
  int64_t at = 0;
  for (const auto& column : columns) at += column.size < 0 ? 4 : 0;
  values.clear();
  int64_t head = 0;
  for (const auto& column : columns) {
    int64_t bytes = column.size;
    if (bytes < 0) bytes = read_number<uint32_t>(sample, head), head += 4;
    if (bytes > static_cast<int64_t>(sample.size()) - at)
      bad_data("column '{}' of {} bytes does not lie inside the sample of {} bytes", column.name, bytes, sample.size());
    values.push_back(sample.subspan(static_cast<size_t>(at), static_cast<size_t>(bytes)));
    at += bytes;
  }
  if (at != static_cast<int64_t>(sample.size())) bad_data("the sample has {} bytes, its columns {}", sample.size(), at);
}

MdsArray mds_array(const MdsColumn& column, Bytes value) {
  MdsArray array{column.dtype, column.shape.value_or(Shape{}), {}};
  int64_t at = 0;
  if (array.dtype == DType::none) array.dtype = coded_dtype(read_number<uint8_t>(value, at++));
  if (!column.shape) {
    const auto code = read_number<uint8_t>(value, at++);
    if (code >> 2 > kMostDimensions) bad_data("the array has {} dimensions", code >> 2);
    for (int k = 0; k < code >> 2; ++k, at += int64_t{1} << (code & 3)) {
      const uint64_t extent = extent_of(value, at, code & 3);
      if (extent > uint64_t{kMostExtent}) bad_data("the array does not have the elements of its shape");
      array.shape.push_back(static_cast<int64_t>(extent));
    }
  }
  array.data = value.subspan(static_cast<size_t>(at));
  __int128 bytes = static_cast<int64_t>(size_of(array.dtype));
  for (const int64_t extent : array.shape) bytes = std::min<__int128>(bytes * extent, __int128{1} << 62);
  if (bytes != static_cast<__int128>(array.data.size())) bad_data("the array does not have the elements of its shape");
  return array;
}

}  // namespace penstock
