// SPDX-License-Identifier: Apache-2.0
// Tables that other libraries lend through Arrow's C data interface, for penstock/_operators/arrow.py.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <tuple>

#include "bindings.h"
#include "data/arrow_file.h"
#include "data/arrow_memory.h"
#include "data/arrow_rows.h"
#include "data/kept_groups.h"
#include "data/parquet_pages.h"
#include "gil.h"
#include "interop.h"
#include "user_code.h"

namespace penstock::python {
namespace {

template <class T> T& pointer_in(nb::handle capsule, const char* name) {
  void* pointer = PyCapsule_GetPointer(capsule.ptr(), name);
  if (!pointer) throw nb::python_error();
  return *static_cast<T*>(pointer);
}

std::shared_ptr<const ArrowTable> table_of_stream(nb::handle capsule) {
  auto& stream = pointer_in<ArrowArrayStream>(capsule, "arrow_array_stream");
  const ReleaseGil release;  // a stream may decode what it gives
  return arrow_groups(stream);
}

std::shared_ptr<const ArrowTable> table_of_array(nb::handle schema, nb::handle array) {
  return arrow_groups(pointer_in<ArrowSchema>(schema, "arrow_schema"), pointer_in<ArrowArray>(array, "arrow_array"));
}

// Columns of groups that are not decoded, because their values lie in the files as they are.
class PlainColumns {
 public:
  // chunks: (group, column, number of the file, offset, bytes, whether its pages have levels).
  PlainColumns(std::vector<std::string> paths,
               const std::vector<std::tuple<int, int, int, int64_t, int64_t, bool>>& chunks, size_t groups)
      : of_group_(groups) {
    std::vector<ContainerIndex> records(paths.size());
    for (const auto& [group, column, file, offset, bytes, levels] : chunks) {
      records.at(static_cast<size_t>(file)).add(offset, bytes);
      of_group_.at(static_cast<size_t>(group)).push_back({column, file, offset, bytes, levels});
    }
    if (!paths.empty()) files_ = std::make_shared<const Container>("parquet", std::move(paths), std::move(records));
  }
  // The fields of a group without these columns.
  std::vector<ArrowField> others(const std::vector<ArrowField>& fields, int group) const {
    std::vector<ArrowField> left;
    for (size_t k = 0; k < fields.size(); ++k)
      if (std::none_of(of_group_[group].begin(), of_group_[group].end(),
                       [&](const ParquetChunk& c) { return c.column == static_cast<int>(k); }))
        left.push_back(fields[k]);
    return left;
  }
  // Puts them in their places among the columns that were decoded.
  void add_to(ArrowGroup& group, int number, const std::vector<ArrowField>& fields, const std::string& source) const {
    if (of_group_[number].empty()) return;
    auto owners = std::make_shared<std::vector<std::shared_ptr<void>>>();
    owners->push_back(std::move(group.owner));
    for (const ParquetChunk& chunk : of_group_[number]) {  // in the order of the columns
      ParquetColumn column = of_file(chunk, group.rows, fields[chunk.column].name, source);
      group.columns.insert(group.columns.begin() + chunk.column, std::move(column.node));
      owners->push_back(std::move(column.owner));
      group.file = chunk.file;
    }
    group.files = files_.get();
    group.owner = std::move(owners);
  }

 private:
  ParquetColumn of_file(const ParquetChunk& chunk, int64_t rows, const std::string& name,
                        const std::string& source) const {
    try {
      return parquet_column(*files_, chunk, rows);
    } catch (const Error& e) {
      Error named(e.kind(), fmt::format("column '{}': {}", name, e.what()));
      named.source = source;
      throw named;
    }
  }

  std::vector<std::vector<ParquetChunk>> of_group_;
  std::shared_ptr<const Container> files_;
};

// Groups of rows that a function of the program decodes: the ones of a window and of the next one are kept.
class DecodedGroups final : public ArrowTable {
 public:
  DecodedGroups(std::vector<ArrowField> fields, const std::vector<int64_t>& rows, std::vector<std::string> sources,
                nb::object decode, PlainColumns plain, bool others_stay)
      : sources_(std::move(sources)),
        decode_(std::move(decode)),
        plain_(std::move(plain)),
        others_stay_(others_stay),
        kept_(kMostKept) {
    if (sources_.size() != rows.size()) bad_argument("{} groups and {} names", rows.size(), sources_.size());
    fields_ = std::move(fields);
    for (const int64_t n : rows) add_rows(n);
  }
  ~DecodedGroups() override {
    if (!Py_IsInitialized()) {  // leaks it: releasing would need the GIL
      decode_.release();
      return;
    }
    const HoldGil gil;
    decode_.reset();
  }
  DecodedGroups(const DecodedGroups&) = delete;
  DecodedGroups& operator=(const DecodedGroups&) = delete;
  bool resident() const override { return false; }
  std::string source(int64_t row) const override {
    const ArrowPlace at = place(row);
    return fmt::format("{}, row {}", sources_[at.group], at.row);
  }
  std::string reader() const override { return "readers.parquet"; }
  std::shared_ptr<const ArrowGroup> group(int number) const override {
    return kept_.get(number, [&] { return decoded(number); });
  }
  std::shared_ptr<const ArrowGroup> group_in_order(int number,
                                                   const std::function<std::vector<int>()>& after) const override {
    return kept_.get(number, [&] { return decoded(number); }, [&] { return decode_one_of(after()); });
  }

 private:
  static constexpr size_t kMostKept = 10;  // twice the four of a window, and those at its edges

  bool decode_one_of(const std::vector<int>& numbers) const {
    return std::any_of(numbers.begin(), numbers.end(),
                       [&](int k) { return kept_.load_early(k, [&] { return decoded(k); }); });
  }

  std::shared_ptr<const ArrowGroup> decoded(int number) const {
    const int64_t rows = first_of(number + 1) - first_of(number);
    const auto others = plain_.others(fields_, number);
    auto group = std::make_shared<ArrowGroup>();
    group->rows = rows;
    if (!others.empty()) *group = others_of(number, others);
    if (group->rows != rows) bad_data("row group {} has {} rows, its file said {}", number, group->rows, rows);
    plain_.add_to(*group, number, fields_, sources_[number]);
    return group;
  }

  // Those that stay are decoded once.
  ArrowGroup others_of(int number, const std::vector<ArrowField>& fields) const {
    if (!others_stay_) return decoded_by_program(number, fields);
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = staying_.find(number); found != staying_.end()) return found->second;
    }
    const ArrowGroup made = decoded_by_program(number, fields);
    const std::lock_guard lock(mutex_);
    return staying_.try_emplace(number, made).first->second;
  }

  ArrowGroup decoded_by_program(int number, const std::vector<ArrowField>& fields) const {
    const HoldGil gil;
    const InsideUserCode inside;
    try {
      const nb::object pair = called(decode_, nb::make_tuple(number));
      const nb::object schema = pair[0], array = pair[1];
      if (arrow_fields(pointer_in<ArrowSchema>(schema, "arrow_schema")).size() != fields.size())
        bad_data("row group {} has other columns than the first one", number);
      return arrow_group(fields, pointer_in<ArrowArray>(array, "arrow_array"));
    } catch (nb::python_error& e) {
      bad_data("row group {} cannot be decoded: {}", number, e.what());
    }
  }

  std::vector<std::string> sources_;  // of each group, for messages
  nb::object decode_;
  PlainColumns plain_;
  bool others_stay_;
  mutable KeptGroups<ArrowGroup> kept_;
  mutable std::mutex mutex_;                   // guards the member below
  mutable std::map<int, ArrowGroup> staying_;  // without plain columns
};

nb::list names_of(const std::vector<ArrowField>& fields) {
  nb::list names;
  for (const auto& field : fields) names.append(nb::str(field.name.c_str()));
  return names;
}

// What a pipeline keeps alive. Arrays that another library lent are released with Python's lock held.
struct LentTable {
  std::shared_ptr<const ArrowTable> table;
  int64_t number;
  explicit LentTable(std::shared_ptr<const ArrowTable> lent)
      : table(std::move(lent)), number(register_arrow_table(table)) {}
};

}  // namespace

void bind_arrow(nb::module_& m) {
  nb::class_<LentTable>(m, "ArrowTable")
      .def_prop_ro("number", [](const LentTable& t) { return t.number; })
      .def_prop_ro("rows", [](const LentTable& t) { return t.table->rows(); })
      .def_prop_ro("columns", [](const LentTable& t) { return names_of(t.table->fields()); });
  m.def("arrow_columns", [](const std::vector<std::string>& paths) {
    return names_of(without_gil([&] { return arrow_file_fields(expand_paths(paths).front()); }));
  });
  m.def("arrow_stream", [](nb::handle capsule) { return new LentTable(table_of_stream(capsule)); });
  m.def("arrow_array",
        [](nb::handle schema, nb::handle array) { return new LentTable(table_of_array(schema, array)); });
  // A table whose group k decode(k) gives, as the capsules of a schema and an array. sources: what messages call them.
  // paths and chunks: see PlainColumns; decode() gives the other columns, and is not called where there are none.
  // others_stay: it is called once for each group, because these columns are small.
  m.def("arrow_decoded", [](nb::handle schema, const std::vector<int64_t>& rows, std::vector<std::string> sources,
                            nb::object decode, std::vector<std::string> paths,
                            const std::vector<std::tuple<int, int, int, int64_t, int64_t, bool>>& chunks,
                            bool others_stay) {
    PlainColumns plain(std::move(paths), chunks, rows.size());
    return new LentTable(
        std::make_shared<const DecodedGroups>(arrow_fields(pointer_in<ArrowSchema>(schema, "arrow_schema")), rows,
                                              std::move(sources), std::move(decode), std::move(plain), others_stay));
  });
  // Rows of a table, as the bytes of int64 numbers.
  m.def("arrow_rows", [](const LentTable& of, nb::bytes rows) {
    std::vector<int64_t> numbers(rows.size() / sizeof(int64_t));
    std::memcpy(numbers.data(), rows.data(), numbers.size() * sizeof(int64_t));
    return new LentTable(arrow_rows(of.table, std::move(numbers)));
  });
}

}  // namespace penstock::python
