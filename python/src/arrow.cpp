// SPDX-License-Identifier: Apache-2.0
// Tables that other libraries lend through Arrow's C data interface, for penstock/operators/arrow.py.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "bindings.h"
#include "data/arrow_file.h"
#include "data/arrow_memory.h"
#include "data/arrow_rows.h"
#include "data/kept_groups.h"
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

// Groups of rows that a function of the program decodes: the ones of a window and of the next one are kept.
class DecodedGroups final : public ArrowTable {
 public:
  DecodedGroups(std::vector<ArrowField> fields, const std::vector<int64_t>& rows, std::vector<std::string> sources,
                nb::object decode)
      : sources_(std::move(sources)), decode_(std::move(decode)), kept_(kMostKept) {
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
    const HoldGil gil;
    const InsideUserCode inside;
    try {
      const nb::object pair = called(decode_, nb::make_tuple(number));
      const nb::object schema = pair[0], array = pair[1];
      if (arrow_fields(pointer_in<ArrowSchema>(schema, "arrow_schema")).size() != fields_.size())
        bad_data("row group {} has other columns than the first one", number);
      auto group = std::make_shared<ArrowGroup>(arrow_group(fields_, pointer_in<ArrowArray>(array, "arrow_array")));
      if (group->rows != first_of(number + 1) - first_of(number))
        bad_data("row group {} has {} rows, its file said {}", number, group->rows,
                 first_of(number + 1) - first_of(number));
      return group;
    } catch (nb::python_error& e) {
      bad_data("row group {} cannot be decoded: {}", number, e.what());
    }
  }

  std::vector<std::string> sources_;  // of each group, for messages
  nb::object decode_;
  mutable KeptGroups<ArrowGroup> kept_;
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
  m.def("arrow_decoded", [](nb::handle schema, const std::vector<int64_t>& rows, std::vector<std::string> sources,
                            nb::object decode) {
    return new LentTable(std::make_shared<const DecodedGroups>(
        arrow_fields(pointer_in<ArrowSchema>(schema, "arrow_schema")), rows, std::move(sources), std::move(decode)));
  });
  // Rows of a table, as the bytes of int64 numbers.
  m.def("arrow_rows", [](const LentTable& of, nb::bytes rows) {
    std::vector<int64_t> numbers(rows.size() / sizeof(int64_t));
    std::memcpy(numbers.data(), rows.data(), numbers.size() * sizeof(int64_t));
    return new LentTable(arrow_rows(of.table, std::move(numbers)));
  });
}

}  // namespace penstock::python
