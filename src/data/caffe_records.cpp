// SPDX-License-Identifier: Apache-2.0
#include "data/caffe_records.h"

#include <bit>

#include "data/wire_format.h"

namespace penstock {

CaffeDatum read_datum(Bytes record) {
  CaffeDatum d;
  int64_t extent[3] = {0, 0, 0};  // channels, height, width
  bool encoded = true;
  WireReader r(record);
  while (r.next()) {
    if (r.type() == WireReader::varint) {
      if (r.number() <= 3) extent[r.number() - 1] = static_cast<int64_t>(r.value());
      if (r.number() == 5) d.label = static_cast<int32_t>(r.value());
      if (r.number() == 7) encoded = r.value() != 0;
    }
    if (r.is(4, WireReader::length_delimited)) d.data = r.bytes();
  }
  const auto bytes = static_cast<int64_t>(d.data.size());
  d.shape = Shape{bytes};
  if (encoded) return d;
  constexpr int64_t kLargest = 1 << 20;
  for (const int64_t e : extent)
    if (e < 0 || e > kLargest) bad_data("a Datum has the extent {}", e);
  d.shape = Shape{extent[1], extent[2], extent[0]};
  if (d.shape.volume() != bytes) bad_data("a Datum of shape {} has {} bytes", d.shape.text(), bytes);
  return d;
}

static CaffeTensor read_tensor(Bytes message) {
  CaffeTensor t;
  uint64_t type = 1;
  int strings = 0;
  WireReader r(message);
  while (r.next()) {
    const bool list = r.type() == WireReader::length_delimited;
    if (r.number() == 1) {
      const auto push = [&](uint64_t extent) {
        if (extent > (uint64_t{1} << 40)) bad_data("a tensor has the extent {}", extent);
        if (t.dims.size() == Shape::kMaxDims) bad_data("a tensor has more than {} dimensions", Shape::kMaxDims);
        t.dims.push_back(static_cast<int64_t>(extent));
      };
      if (!list) push(r.value());
      for (WireReader packed(list ? r.bytes() : Bytes{}); !packed.at_end();) push(packed.take_varint());
    } else if (r.is(2, WireReader::varint)) {
      type = r.value();
    } else if (r.number() == 3) {
      if (r.type() == WireReader::fixed32) t.floats.push_back(std::bit_cast<float>(static_cast<uint32_t>(r.value())));
      if (list && r.bytes().size() % 4) bad_data("a damaged message: {} bytes of packed floats", r.bytes().size());
      const size_t n = t.floats.size(), more = list ? r.bytes().size() / 4 : 0;
      t.floats.resize(n + more);
      if (more) std::memcpy(t.floats.data() + n, r.bytes().data(), 4 * more);
    } else if (r.number() == 4) {
      if (r.type() == WireReader::varint) t.integers.push_back(static_cast<int32_t>(r.value()));
      for (WireReader packed(list ? r.bytes() : Bytes{}); !packed.at_end();)
        t.integers.push_back(static_cast<int32_t>(packed.take_varint()));
    } else if (list && (r.number() == 5 || r.number() == 6)) {
      t.bytes = r.bytes();
      strings += r.number() == 6;
    }
  }
  using Kind = CaffeTensor::Kind;
  switch (type) {
    case 1: t.kind = Kind::floats; break;
    case 2: t.kind = Kind::integers; break;
    case 3: t.kind = Kind::bytes; break;
    case 4: t.kind = Kind::text; break;
    default: bad_data("a tensor has the unsupported type {}; supported are floats, int32, bytes and strings", type);
  }
  if (strings > 1) bad_data("a tensor has {} strings, more than the one that is supported", strings);
  return t;
}

std::vector<CaffeTensor> read_tensors(Bytes record) {
  std::vector<CaffeTensor> out;
  WireReader r(record);
  while (r.next())
    if (r.is(1, WireReader::length_delimited)) out.push_back(read_tensor(r.bytes()));
  return out;
}

}  // namespace penstock
