// SPDX-License-Identifier: Apache-2.0
#include "data/arrow_messages.h"

#include "data/arrow_column.h"
#include "data/flatbuffer.h"

namespace penstock {
namespace {

constexpr int kMostNestedFields = 32;
constexpr int64_t kMostMetadata = int64_t{1} << 28;

const char* number_format(int bits, bool is_signed) {
  switch (bits) {
    case 8: return is_signed ? "c" : "C";
    case 16: return is_signed ? "s" : "S";
    case 32: return is_signed ? "i" : "I";
    case 64: return is_signed ? "l" : "L";
    default: bad_data("the schema has an integer of {} bits", bits);
  }
}

// The format of a type by its number in Arrow's Schema.fbs. Types that no column can have here are named by themselves.
std::string format_of(int type, const FlatTable& of) {
  static constexpr const char* kUnits[] = {"s", "m", "u", "n"};
  const auto unit = [&](int otherwise) { return kUnits[of.number<int16_t>(0, static_cast<int16_t>(otherwise)) & 3]; };
  switch (type) {
    case 1: return "n";
    case 2: return number_format(of.number<int32_t>(0, 0), of.number<uint8_t>(1, 0) != 0);
    case 3: return std::string(1, "efg"[std::min<uint16_t>(of.number<uint16_t>(0, 0), 2)]);
    case 4: return "z";
    case 5: return "u";
    case 6: return "b";
    case 7: return "d";
    case 8: return of.number<int16_t>(0, 1) == 0 ? "tdD" : "tdm";
    case 9: return fmt::format("tt{}", unit(1));
    case 10: return fmt::format("ts{}:", unit(0));
    case 11: return "ti";
    case 12: return "+l";
    case 13: return "+s";
    case 14: return of.number<int16_t>(0, 0) == 0 ? "+us:" : "+ud:";
    case 15: return fmt::format("w:{}", of.number<int32_t>(0, 0));
    case 16: return fmt::format("+w:{}", of.number<int32_t>(0, 0));
    case 17: return "+m";
    case 18: return fmt::format("tD{}", unit(1));
    case 19: return "Z";
    case 20: return "U";
    case 21: return "+L";
    case 22: return "+r";
    case 23: return "vz";
    case 24: return "vu";
    case 25: return "+vl";
    case 26: return "+vL";
    default: bad_data("the schema has a type that is not known: {}", type);
  }
}

ArrowField field_of(const FlatTable& field, int depth, int64_t& budget) {
  if (depth > kMostNestedFields || --budget < 0) bad_data("the schema has too many fields, or is nested too deeply");
  ArrowField made{std::string(field.text(0)), {}, {}};
  if (field.has(4)) {
    made.format = kDictionary;
    return made;
  }
  made.format = format_of(field.number<uint8_t>(2, 0), field.table(3));
  const FlatVector children = field.vector(5);
  for (int64_t i = 0; i < children.size(); ++i) made.children.push_back(field_of(children.table(i), depth + 1, budget));
  return made;
}

// Nodes and buffers of a record batch are lists, in the order of the fields.
struct Lists {
  FlatVector nodes, buffers, views;
  int64_t node = 0, buffer = 0, view = 0;
  int64_t body = 0, bytes = 0;  // of the record batch
};

ArrowBuffer next_buffer(Lists& lists) {
  if (lists.buffer >= lists.buffers.size()) bad_data("the record batch has too few buffers");
  const auto offset = lists.buffers.number<int64_t>(lists.buffer, 16, 0);
  const auto length = lists.buffers.number<int64_t>(lists.buffer, 16, 8);
  ++lists.buffer;
  if (offset < 0 || length < 0 || length > lists.bytes || offset > lists.bytes - length)
    bad_data("a buffer of the record batch does not lie inside its {} bytes", lists.bytes);
  return {nullptr, length, lists.body + offset};
}

ArrowNode next_node(Lists& lists, const ArrowField& field) {
  if (lists.node >= lists.nodes.size()) bad_data("the record batch has too few arrays");
  ArrowNode node;
  node.length = lists.nodes.number<int64_t>(lists.node, 16, 0);
  const auto absent = lists.nodes.number<int64_t>(lists.node, 16, 8);
  ++lists.node;
  if (node.length < 0) bad_data("the record batch has an array of negative length");
  int64_t buffers = arrow_buffers(field);
  if (field.format[0] == 'v') {
    const auto more = lists.view < lists.views.size() ? lists.views.number<int64_t>(lists.view++, 8, 0) : -1;
    if (more < 0 || more > lists.buffers.size()) bad_data("the record batch has no number of buffers for its views");
    buffers += more;
  }
  for (int64_t i = 0; i < buffers; ++i) node.buffers.push_back(next_buffer(lists));
  if (!node.buffers.empty() && (absent == 0 || node.buffers[0].bytes == 0)) node.buffers[0] = {};
  for (const auto& child : field.children) node.children.push_back(next_node(lists, child));
  return node;
}

}  // namespace

int64_t arrow_metadata_bytes(Bytes start, int& prefix) {
  uint32_t words[2] = {};
  std::memcpy(words, start.data(), std::min<size_t>(start.size(), sizeof words));
  prefix = words[0] == 0xFFFFFFFFu ? 8 : 4;
  const int64_t bytes = prefix == 8 ? words[1] : words[0];
  if (bytes > kMostMetadata) bad_data("no message of Arrow IPC begins here");
  return bytes;
}

ArrowMessage arrow_message(Bytes metadata) {
  const FlatTable table = FlatTable::root(metadata);
  ArrowMessage message{ArrowMessage::Kind::other, table.number<int64_t>(3, 0), metadata};
  if (message.body < 0) bad_data("a message of Arrow IPC has a body of negative size");
  switch (table.number<uint8_t>(1, 0)) {
    case 1: message.kind = ArrowMessage::Kind::schema; break;
    case 2: message.kind = ArrowMessage::Kind::dictionary; break;
    case 3: message.kind = ArrowMessage::Kind::batch; break;
    default: break;
  }
  return message;
}

std::vector<ArrowField> schema_of_message(const ArrowMessage& message) {
  const FlatTable schema = FlatTable::root(message.metadata).table(2);
  if (schema.number<int16_t>(0, 0) != 0) bad_data("the numbers of the file are big-endian, which cannot be read");
  std::vector<ArrowField> fields;
  const FlatVector all = schema.vector(1);
  int64_t budget = static_cast<int64_t>(message.metadata.size());  // a field has more than a byte
  for (int64_t i = 0; i < all.size(); ++i) fields.push_back(field_of(all.table(i), 0, budget));
  return fields;
}

ArrowGroup batch_of_message(const ArrowMessage& message, const std::vector<ArrowField>& fields, int64_t body) {
  const FlatTable batch = FlatTable::root(message.metadata).table(2);
  if (batch.has(3)) bad_data("the record batches of the file are compressed: write it without compression");
  ArrowGroup group;
  group.rows = batch.number<int64_t>(0, 0);
  Lists lists{batch.vector(1), batch.vector(2), batch.vector(4), 0, 0, 0, body, message.body};
  if (group.rows < 0) bad_data("the record batch has {} rows", group.rows);
  for (const auto& field : fields) {
    group.columns.push_back(next_node(lists, field));
    if (group.columns.back().length != group.rows)
      bad_data("column '{}' has {} values in {} rows", field.name, group.columns.back().length, group.rows);
  }
  return group;
}

}  // namespace penstock
