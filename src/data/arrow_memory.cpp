// SPDX-License-Identifier: Apache-2.0
#include "data/arrow_memory.h"

#include <cstring>

#include "data/arrow_column.h"

namespace penstock {
namespace {

constexpr int kMostNested = 32;

ArrowField field_of(const ArrowSchema& schema, int depth) {
  if (!schema.format) bad_argument("an Arrow schema has a field without a format");
  if (depth > kMostNested) bad_argument("an Arrow schema is nested deeper than {}", kMostNested);
  ArrowField field{schema.name ? schema.name : "", schema.dictionary ? kDictionary : schema.format, {}};
  if (schema.dictionary) return field;
  for (int64_t i = 0; i < schema.n_children; ++i) field.children.push_back(field_of(*schema.children[i], depth + 1));
  return field;
}

ArrowNode node_of(const ArrowField& field, const ArrowArray& array) {
  ArrowNode node{array.length, array.offset, false, {}, {}};
  const auto children = static_cast<int64_t>(field.children.size());
  if (array.length < 0 || array.offset < 0 || array.n_children < children || array.n_buffers < arrow_buffers(field))
    bad_argument("column '{}': the Arrow array does not have the form of its type {}", field.name, field.format);
  for (int64_t i = 0; i < array.n_buffers; ++i)
    node.buffers.push_back({static_cast<const uint8_t*>(array.buffers[i]), -1, -1});
  for (int64_t i = 0; i < children; ++i) node.children.push_back(node_of(field.children[i], *array.children[i]));
  return node;
}

template <class T> void release(T& lent) {
  if (lent.release) lent.release(&lent);
}

struct Lent {
  ArrowArray array;
  explicit Lent(ArrowArray& taken) : array(taken) { taken.release = nullptr; }
  ~Lent() { release(array); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
};

}  // namespace

std::vector<ArrowField> arrow_fields(const ArrowSchema& schema) {
  ArrowField table = field_of(schema, 0);
  if (table.format != "+s") bad_argument("an Arrow table is needed: rows of columns, not one array of a type");
  return std::move(table.children);
}

ArrowGroup arrow_group(const std::vector<ArrowField>& fields, ArrowArray& array) {
  auto lent = std::make_shared<Lent>(array);
  const ArrowField table{"", "+s", fields};
  ArrowNode node = node_of(table, lent->array);
  for (ArrowNode& column : node.children) column.offset += node.offset;
  return {node.length, std::move(node.children), lent, nullptr, 0};
}

std::shared_ptr<const ArrowTable> arrow_groups(const ArrowSchema& schema, ArrowArray& array) {
  auto table = std::make_shared<ArrowGroups>(arrow_fields(schema));
  table->add(arrow_group(table->fields(), array));
  return table;
}

std::shared_ptr<const ArrowTable> arrow_groups(ArrowArrayStream& stream) {
  ArrowArrayStream own = stream;
  stream.release = nullptr;
  const std::shared_ptr<void> closes(&own, [](void* s) { release(*static_cast<ArrowArrayStream*>(s)); });
  const auto check = [&](int code) {
    if (code == 0) return;
    const char* said = own.get_last_error(&own);
    bad_data("the Arrow stream ends with an error: {}", said ? said : std::strerror(code));
  };
  ArrowSchema schema{};
  check(own.get_schema(&own, &schema));
  const std::shared_ptr<void> releases(&schema, [](void* s) { release(*static_cast<ArrowSchema*>(s)); });
  auto table = std::make_shared<ArrowGroups>(arrow_fields(schema));
  for (;;) {
    ArrowArray array{};
    check(own.get_next(&own, &array));
    if (!array.release) return table;
    table->add(arrow_group(table->fields(), array));
  }
}

}  // namespace penstock
