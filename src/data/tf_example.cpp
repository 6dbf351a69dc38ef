// SPDX-License-Identifier: Apache-2.0
#include "data/tf_example.h"

#include <algorithm>
#include <bit>

#include "data/wire_format.h"

namespace penstock {

const char* name_of(ExampleValue::Kind kind) {
  static constexpr const char* kNames[] = {"nothing", "byte strings", "floats", "integers"};
  return kNames[static_cast<int>(kind)];
}

// A Feature is one of three lists. The last kind wins; pieces of one kind form one list.
static void read_feature(Bytes feature, ExampleValue& out) {
  WireReader r(feature);
  while (r.next()) {
    if (r.type() != WireReader::length_delimited || r.number() > 3) continue;
    const auto kind = static_cast<ExampleValue::Kind>(r.number());
    if (kind != out.kind) {
      out.kind = kind, out.list = r.bytes(), out.joined.clear();
    } else {
      if (out.joined.empty()) out.joined.assign(out.list.begin(), out.list.end());
      out.joined.insert(out.joined.end(), r.bytes().begin(), r.bytes().end());
      out.list = out.joined;
    }
  }
}

void read_example(Bytes example, std::span<const std::string> names, std::span<ExampleValue> out) {
  for (auto& v : out) v = {};
  WireReader top(example);
  while (top.next()) {
    if (!top.is(1, WireReader::length_delimited)) continue;
    WireReader features(top.bytes());
    while (features.next()) {
      if (!features.is(1, WireReader::length_delimited)) continue;
      WireReader entry(features.bytes());
      Bytes name, value;
      while (entry.next()) {
        if (entry.is(1, WireReader::length_delimited)) name = entry.bytes();
        if (entry.is(2, WireReader::length_delimited)) value = entry.bytes();
      }
      const std::string_view text(reinterpret_cast<const char*>(name.data()), name.size());
      for (size_t k = 0; k < names.size(); ++k) {
        if (names[k] != text) continue;
        out[k] = {};
        read_feature(value, out[k]);
      }
    }
  }
}

std::vector<Bytes> strings_of(const ExampleValue& value) {
  std::vector<Bytes> out;
  WireReader r(value.list);
  while (r.next())
    if (r.is(1, WireReader::length_delimited)) out.push_back(r.bytes());
  return out;
}

void read_floats(const ExampleValue& value, std::vector<float>& out) {
  out.clear();
  WireReader r(value.list);
  while (r.next()) {
    if (r.is(1, WireReader::fixed32)) out.push_back(std::bit_cast<float>(static_cast<uint32_t>(r.value())));
    if (!r.is(1, WireReader::length_delimited)) continue;
    if (r.bytes().size() % 4) bad_data("a damaged message: {} bytes of packed floats", r.bytes().size());
    const size_t n = out.size();
    out.resize(n + r.bytes().size() / 4);
    if (!r.bytes().empty()) std::memcpy(out.data() + n, r.bytes().data(), r.bytes().size());
  }
}

void read_integers(const ExampleValue& value, std::vector<int64_t>& out) {
  out.clear();
  WireReader r(value.list);
  while (r.next()) {
    if (r.is(1, WireReader::varint)) out.push_back(static_cast<int64_t>(r.value()));
    if (!r.is(1, WireReader::length_delimited)) continue;
    WireReader packed(r.bytes());
    while (!packed.at_end()) out.push_back(static_cast<int64_t>(packed.take_varint()));
  }
}

}  // namespace penstock
