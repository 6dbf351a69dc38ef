// SPDX-License-Identifier: Apache-2.0
#include "data/tar.h"

#include <charconv>
#include <sstream>

#include "base/checksum.h"
#include "data/container_formats.h"

namespace penstock {
namespace {

constexpr int64_t kTarBlock = 512;
constexpr int64_t kLongestHead = 1 << 20;  // for a long name or pax headers

// A number in a header: octal digits, or base 256 if the highest bit is set. -1 if it is invalid.
int64_t number_of(Bytes field) {
  if (field[0] & 0x80) {
    if (field[0] != 0x80) return -1;  // negative, or above 2^88
    int64_t value = 0;
    for (const uint8_t byte : field.subspan(1)) {
      if (value > (int64_t{1} << 54)) return -1;
      value = value << 8 | byte;
    }
    return value;
  }
  size_t i = 0;
  while (i < field.size() && field[i] == ' ') ++i;
  int64_t value = 0;
  for (; i < field.size() && field[i] >= '0' && field[i] <= '7'; ++i) {
    if (value > (int64_t{1} << 59)) return -1;
    value = value * 8 + (field[i] - '0');
  }
  for (; i < field.size(); ++i)
    if (field[i] != ' ' && field[i] != 0) return -1;
  return value;
}

std::string text_of_field(Bytes field) {
  const std::string_view text(reinterpret_cast<const char*>(field.data()), field.size());
  return std::string(text.substr(0, text.find('\0')));
}

// Lines of "length key=value\n"; the length includes the whole line.
struct PaxHead {
  std::string path, size;
};
void read_pax(FileScan& file, int64_t at, Bytes text, PaxHead& out) {
  while (!text.empty() && text[0] != 0) {
    int64_t length = 0;
    const char* begin = reinterpret_cast<const char*>(text.data());
    const auto [end, error] = std::from_chars(begin, begin + text.size(), length);
    if (error != std::errc() || length < 5 || length > static_cast<int64_t>(text.size()) || begin + length < end + 3 ||
        *end != ' ' || begin[length - 1] != '\n')
      file.fail(at, "a damaged pax header");
    const std::string_view line(end + 1, begin + length - 1 - (end + 1));
    const size_t equals = line.find('=');
    if (equals == line.npos) file.fail(at, "a damaged pax header");
    if (line.substr(0, equals) == "path") out.path = line.substr(equals + 1);
    if (line.substr(0, equals) == "size") out.size = line.substr(equals + 1);
    text = text.subspan(length);
  }
}

uint32_t sum_of(Bytes head) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < kTarBlock; ++i) sum += i >= 148 && i < 156 ? ' ' : head[i];
  return sum;
}
bool is_file(uint8_t kind) { return kind == '0' || kind == 0 || kind == '7'; }

// Checks a record from an index file, which has nothing but the offset and length of a file.
void check_head(Bytes head, int64_t length) {
  if (number_of(head.subspan(148, 8)) != sum_of(head) || !is_file(head[156]))
    bad_data("it has no file header: does the index belong to the archive?");
  constexpr int64_t kMostOctal = int64_t{1} << 33;  // larger sizes are in a pax header
  if (length < kMostOctal && number_of(head.subspan(124, 12)) != length)
    bad_data("its header says {} bytes, but the index says {}: does the index belong to the archive?",
             number_of(head.subspan(124, 12)), length);
}

ContainerIndex scan_tar(FileScan& file) {
  ContainerIndex index;
  std::string long_name;
  PaxHead pax;
  for (int64_t at = 0; at < file.bytes();) {
    const Bytes head = file.at(at, kTarBlock, "the header of a file");
    const uint32_t sum = sum_of(head), checksum = crc32c(head);
    if (sum == 8 * ' ') break;  // a block of zeros ends the archive
    if (number_of(head.subspan(148, 8)) != sum)
      file.fail(at, "{}", at ? "the checksum of a tar header is wrong" : "this is not a tar archive");
    const uint8_t kind = head[156];
    int64_t size = number_of(head.subspan(124, 12));
    std::string name = text_of_field(head.first(100));
    const bool ustar = text_of_field(head.subspan(257, 6)).starts_with("ustar") && head[262] == 0;
    if (const std::string prefix = text_of_field(head.subspan(345, 155)); ustar && !prefix.empty())
      name = prefix + "/" + name;
    if (kind != 'x' && kind != 'g' && kind != 'L' && kind != 'K') {
      if (!pax.path.empty()) name = pax.path;
      if (!long_name.empty()) name = long_name;
      if (!pax.size.empty()) {
        const auto [end, error] = std::from_chars(pax.size.data(), pax.size.data() + pax.size.size(), size);
        if (error != std::errc() || end != pax.size.data() + pax.size.size()) size = -1;
      }
      pax = {}, long_name.clear();
    }
    const int64_t data = at + kTarBlock;
    const bool has_data = kind != '1' && kind != '2' && kind != '3' && kind != '4' && kind != '5' && kind != '6';
    if (!has_data) size = 0;
    if (size < 0 || size > file.bytes() - data)
      file.fail(at, "'{}' of {} bytes does not lie inside the archive of {} bytes", name, size, file.bytes());
    if (kind == 'x' || kind == 'L') {
      if (size > kLongestHead) file.fail(at, "a header has {} bytes", size);
      const Bytes text = file.at(data, size, "a header");
      if (kind == 'L') long_name = text_of_field(text);
      else read_pax(file, at, text, pax);
    }
    if (is_file(kind)) {
      index.add(data, size);
      index.heads.push_back(std::max<uint32_t>(1, checksum));
      index.names.push_back(std::move(name));
    }
    at = data + (size + kTarBlock - 1) / kTarBlock * kTarBlock;
  }
  return index;
}

// "v1.2 SAMPLES", then a line per sample: extension, offset, size, name of each file; version 1.1 has no names.
ContainerIndex parse_tar(const std::string& text, const std::string& path, int64_t) {
  std::istringstream lines(text);
  std::string line, version;
  int64_t samples = -1, number = 1;
  std::getline(lines, line);
  std::istringstream first(line);
  first >> version >> samples;
  if (!first || samples < 0 || (version != "v1.1" && version != "v1.2"))
    fail_on(path, ErrorKind::data, "line 1 of the index is not \"v1.1 COUNT\" or \"v1.2 COUNT\"");
  ContainerIndex index;
  int64_t found = 0;
  for (; std::getline(lines, line); ++found) {
    ++number;
    std::istringstream words(line);
    std::string extension, name;
    int64_t offset, size;
    while (words >> extension) {
      if (!(words >> offset >> size) || (version == "v1.2" && !(words >> name)))
        fail_on(path, ErrorKind::data, "line {} of the index does not have the extension, offset and size of each file",
                number);
      index.add(offset, size);
      // Named by the line, so that each line is one sample.
      index.names.push_back(fmt::format("{}.{}", number - 2, extension));
    }
  }
  if (found != samples)
    fail_on(path, ErrorKind::data, "the index has {} samples, but its first line says {}", found, samples);
  return index;
}

}  // namespace

// Regular files of the archive, named. Index files are wds2idx's, versions 1.1 and 1.2; they are not made.
PENSTOCK_CONTAINER_FORMAT(tar, scan_tar, parse_tar, nullptr, kTarBlock, check_head);

SampleName sample_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  const size_t dot = path.find('.', slash == path.npos ? 0 : slash + 1);
  if (dot == path.npos) return {path, {}};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

}  // namespace penstock
