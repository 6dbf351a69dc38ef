// SPDX-License-Identifier: Apache-2.0
#include "data/tfrecord.h"

#include <cstring>

#include "base/checksum.h"
#include "data/container_formats.h"
#include "data/container_index.h"

namespace penstock {
namespace {

template <class T> T load_field(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

uint32_t masked(Bytes bytes) {
  const uint32_t sum = crc32c(bytes);
  return (sum >> 15 | sum << 17) + 0xA282EAD8u;
}

// A length without a valid checksum means nothing: this detects files of other formats.
ContainerIndex scan_tfrecord(FileScan& file) {
  ContainerIndex index;
  for (int64_t at = 0; at < file.bytes();) {
    const Bytes head = file.at(at, kTfrecordHead, "the head of a record");
    const auto length = load_field<uint64_t>(head.data());
    if (masked(head.first(8)) != load_field<uint32_t>(head.data() + 8))
      file.fail(at, "{}",
                index.size() ? "the checksum (CRC-32C) of the record's length is wrong"
                             : "this is not a TFRecord file");
    const int64_t left = file.bytes() - at - kTfrecordFrame;
    if (left < 0 || length > static_cast<uint64_t>(left))
      file.fail(at, "record {} of {} bytes does not lie inside the file of {} bytes", index.size(), length,
                file.bytes());
    index.add(at, static_cast<int64_t>(length) + kTfrecordFrame);
    at += static_cast<int64_t>(length) + kTfrecordFrame;
  }
  return index;
}

ContainerIndex parse_tfrecord(const std::string& text, const std::string& path, int64_t) {
  ContainerIndex index;
  for (const auto& line : number_lines(text, path, 2)) index.add(line[0], line[1]);
  return index;
}

std::string text_of_tfrecord(const ContainerIndex& index) {
  std::string text;
  for (int64_t i = 0; i < index.size(); ++i) text += fmt::format("{} {}\n", index.offsets[i], index.lengths[i]);
  return text;
}

}  // namespace

// Records are indexed with their frame: 16 bytes more than the data. Index files are tfrecord2idx's.
PENSTOCK_CONTAINER_FORMAT(tfrecord, scan_tfrecord, parse_tfrecord, text_of_tfrecord);

Bytes tfrecord_payload(Bytes record, bool check) {
  const auto bytes = static_cast<int64_t>(record.size());
  if (bytes < kTfrecordFrame)
    bad_data("a record of {} bytes is too short for its frame: does the index belong to the file?", bytes);
  const auto length = load_field<uint64_t>(record.data());
  if (length != static_cast<uint64_t>(bytes - kTfrecordFrame))
    bad_data("the record has {} bytes of data, but according to the index {}", length, bytes - kTfrecordFrame);
  const Bytes data = record.subspan(kTfrecordHead, length);
  if (check) {
    if (masked(record.first(8)) != load_field<uint32_t>(record.data() + 8))
      bad_data("the checksum (CRC-32C) of the record's length is wrong");
    if (masked(data) != load_field<uint32_t>(record.data() + kTfrecordHead + length))
      bad_data("the checksum (CRC-32C) of the record's data is wrong");
  }
  return data;
}

}  // namespace penstock
