// SPDX-License-Identifier: Apache-2.0
#include "data/arrow_file.h"

#include <algorithm>

#include "data/arrow_column.h"
#include "data/arrow_messages.h"
#include "data/container_formats.h"

namespace penstock {
namespace {

constexpr std::string_view kMagic = "ARROW1";

bool begins_with_magic(FileScan& file) {
  if (file.bytes() < 8) return false;
  const Bytes start = file.at(0, 8, "the start of the file");
  return std::equal(kMagic.begin(), kMagic.end(), start.begin());
}

// Calls f(message, its place, its bytes) for each message until it returns false, or to the end.
template <class F> void each_message(FileScan& file, F&& f) {
  const bool closed = begins_with_magic(file);
  const int64_t end = file.bytes() - (closed ? 10 : 0);
  int64_t at = closed ? 8 : 0;
  while (at < end) {
    int prefix = 8;
    const int64_t bytes = arrow_metadata_bytes(file.at(at, std::min<int64_t>(8, end - at), "a message"), prefix);
    if (bytes == 0) return;
    const Bytes metadata = file.at(at + prefix, bytes, "the metadata of a message");
    const ArrowMessage message = arrow_message(metadata);
    const int64_t size = prefix + bytes + message.body;
    if (message.body > file.bytes() || size > file.bytes() - at)
      file.fail(at, "a message of {} bytes does not lie inside the file of {} bytes", message.body, file.bytes());
    if (!f(message, at, size)) return;
    at += size;
  }
  if (closed) file.fail(at, "the file has no end: it was not closed, or cut");
}

// Errors of the metadata get their place.
template <class F> void with_place(const FileScan& file, const int64_t& at, F&& f) {
  try {
    f();
  } catch (const Error& e) {
    if (!e.source.empty()) throw;
    file.fail(at, "{}", e.what());
  }
}

std::vector<ArrowField> fields_of(FileScan& file) {
  std::vector<ArrowField> fields;
  bool found = false;
  with_place(file, 0, [&] {
    each_message(file, [&](const ArrowMessage& message, int64_t, int64_t) {
      found = message.kind == ArrowMessage::Kind::schema;
      if (found) fields = schema_of_message(message);
      return false;
    });
  });
  if (!found) file.fail(0, "this is not an Arrow IPC file");
  return fields;
}

// The records of the container are record batches, with their metadata.
ContainerIndex scan_arrow(FileScan& file) {
  ContainerIndex index;
  const std::vector<ArrowField> fields = fields_of(file);
  int64_t last = 0;
  with_place(file, last, [&] {
    each_message(file, [&](const ArrowMessage& message, int64_t at, int64_t size) {
      last = at;
      if (message.kind == ArrowMessage::Kind::batch) {
        batch_of_message(message, fields, 0);
        index.add(at, size);
      }
      return true;
    });
  });
  return index;
}

// Buffers that are read with every value are kept in memory: which values are absent, offsets, views.
bool is_small(const ArrowField& field, size_t buffer) {
  const std::string_view format = field.format;
  if (buffer == 0) return true;
  const bool offsets =
      format == "z" || format == "u" || format == "Z" || format == "U" || format == "+l" || format == "+L";
  return buffer == 1 && (offsets || format[0] == 'v');
}

class ArrowFiles final : public ArrowTable {
 public:
  ArrowFiles(const std::vector<std::string>& paths, const std::vector<int>& columns)
      : files_(container_format("arrow"), paths), columns_(columns) {
    fields_ = arrow_file_fields(files_.path(0));
    for (int file = 0; file < files_.files(); ++file) {
      const std::vector<ArrowField> fields = file ? arrow_file_fields(files_.path(file)) : fields_;
      check_same(fields, file);
      for (int64_t record = files_.first_of(file); record < files_.first_of(file + 1); ++record)
        add(record, file, fields);
    }
    if (rows() == 0) fail_on(files_.path(0), ErrorKind::data, "the files have no rows");
  }
  std::shared_ptr<const ArrowGroup> group(int number) const override { return groups_[number]; }
  std::string source(int64_t row) const override {
    const ArrowPlace at = place(row);
    return fmt::format("{}, row {}", files_.path(groups_[at.group]->file), first_row_[at.group] + at.row);
  }
  std::string folder() const override { return files_.path(0); }
  uint64_t hash() const override { return files_.hash() ^ ArrowTable::hash(); }

 private:
  void check_same(const std::vector<ArrowField>& fields, int file) const {
    for (const int column : columns_)
      if (column >= static_cast<int>(fields.size()) || fields[column].name != fields_[column].name ||
          fields[column].format != fields_[column].format)
        fail_on(files_.path(file), ErrorKind::data, "column '{}' is not the one of {}", fields_[column].name,
                files_.path(0));
  }

  void add(int64_t record, int file, const std::vector<ArrowField>& fields) {
    try {
      const std::vector<uint8_t> metadata = metadata_of(record);
      const ArrowMessage message = arrow_message(metadata);
      if (message.body > files_.length(record)) bad_data("the record batch is not the one that was indexed");
      ArrowGroup group =
          batch_of_message(message, fields, files_.offset(record) + files_.length(record) - message.body);
      group.files = &files_, group.file = file;
      auto memory = std::make_shared<std::vector<std::unique_ptr<uint8_t[]>>>();
      for (const int column : columns_) read_small(group, fields[column], group.columns[column], *memory);
      group.owner = memory;
      if (group.rows == 0) return;
      first_row_.push_back(file != last_file_ ? 0 : first_row_.back() + groups_.back()->rows);
      last_file_ = file;
      add_rows(group.rows);
      groups_.push_back(std::make_shared<const ArrowGroup>(std::move(group)));
    } catch (Error& e) {
      if (e.source.empty()) e.source = files_.source(record);
      throw;
    }
  }

  std::vector<uint8_t> metadata_of(int64_t record) const {
    std::vector<uint8_t> bytes(static_cast<size_t>(std::min<int64_t>(files_.length(record), 4096)));
    files_.read_range(file_of(record), files_.offset(record), static_cast<int64_t>(bytes.size()), bytes.data());
    int prefix = 8;
    const int64_t size = arrow_metadata_bytes(bytes, prefix);
    if (size > files_.length(record) - prefix) bad_data("the metadata of the record batch is cut");
    const auto known = static_cast<int64_t>(bytes.size());
    bytes.resize(static_cast<size_t>(prefix + size));
    if (prefix + size > known)
      files_.read_range(file_of(record), files_.offset(record) + known, prefix + size - known, bytes.data() + known);
    bytes.erase(bytes.begin(), bytes.begin() + prefix);
    return bytes;
  }
  int file_of(int64_t record) const { return files_.file_of(record); }

  void read_small(const ArrowGroup& group, const ArrowField& field, ArrowNode& node,
                  std::vector<std::unique_ptr<uint8_t[]>>& memory) const {
    for (size_t k = 0; k < node.buffers.size(); ++k) {
      ArrowBuffer& buffer = node.buffers[k];
      if (!is_small(field, k) || buffer.place < 0) continue;
      memory.emplace_back(new uint8_t[static_cast<size_t>(std::max<int64_t>(1, buffer.bytes))]);
      read_arrow(group, buffer, 0, buffer.bytes, memory.back().get());
      buffer.data = memory.back().get();
    }
    for (size_t k = 0; k < node.children.size(); ++k) read_small(group, field.children[k], node.children[k], memory);
  }

  Container files_;
  std::vector<int> columns_;
  std::vector<std::shared_ptr<const ArrowGroup>> groups_;
  std::vector<int64_t> first_row_;  // of each group, in its file
  int last_file_ = -1;
};

PENSTOCK_CONTAINER_FORMAT(arrow, scan_arrow, nullptr, nullptr);

}  // namespace

std::vector<ArrowField> arrow_file_fields(const std::string& path) {
  const OpenFile file(path);
  FileScan through(file);
  return fields_of(through);
}

std::shared_ptr<const ArrowTable> open_arrow_files(const std::vector<std::string>& paths,
                                                   const std::vector<int>& columns) {
  return std::make_shared<const ArrowFiles>(expand_paths(paths), columns);
}

}  // namespace penstock
