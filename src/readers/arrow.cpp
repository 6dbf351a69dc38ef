// SPDX-License-Identifier: Apache-2.0
// readers.arrow: columns of Arrow IPC files, and of tables in memory.
#include "data/arrow_file.h"
#include "readers/arrow_source.h"

namespace penstock {
namespace {

struct ReadersArrow : ArrowOptions {
  std::vector<std::string> path;
  std::vector<ArrowField> fields() const {
    if (path.empty() == (table < 0)) bad_argument("give the path of Arrow files, or a table");
    if (table >= 0) return registered_arrow_table(table)->fields();
    return arrow_file_fields(expand_paths(path).front());
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    if (table < 0) return infer_arrow(fields(), columns, out);
    as_reader_of(*registered_arrow_table(table), [&] { infer_arrow(fields(), columns, out); });
  }

  static Schema<ReadersArrow> schema() {
    using Op = ReadersArrow;
    return Schema<Op>(
               "readers.arrow",
               "Reads columns of Arrow tables: tables in memory, and Arrow IPC files (stream and file format).\n\n"
               "One output for each column: bytes and text are uint8, 1-D; a number is a scalar of its type; a list "
               "of numbers is 1-D, lists of lists and lists of fixed length have a dimension for each. For a column of "
               "structs with a field \"bytes\", as Hugging Face stores pictures, that field is read, or the file that "
               "the field \"path\" names where it is absent; \"column.field\" names any other field. Values in memory "
               "go to the next operator without a copy.\n\nExample:\n@pipeline_def(batch_size=32)\ndef photos():\n    "
               "jpegs, labels = fn.readers.arrow(\"photos/*.arrow\", columns=[\"image\", \"label\"])\n    return "
               "fn.decoders.image(jpegs), labels")
        .inputs(0)
        .loads_samples()
        .required("columns", &Op::columns, "Names of the columns, an output for each.")
        .arg("path", &Op::path, "Paths of Arrow IPC files; patterns with * or ? become the files that match, sorted.")
        .arg("table", &Op::table, "The number of a table in memory, instead of `path`; fn.readers.arrow gives it.")
        .with(arrow_arguments<Op>)
        .with(reader_arguments<Op>);
  }
};

class ReadArrow final : public ArrowSource {
 public:
  ReadArrow(uint64_t seed, const ReadersArrow& a) : ArrowSource(a) {
    if (a.table >= 0) {
      const auto table = registered_arrow_table(a.table);
      as_reader_of(*table, [&] { open(seed, table); });
      return;
    }
    const std::vector<ArrowField> fields = a.fields();
    std::vector<int> used;
    for (const auto& name : a.columns) used.push_back(arrow_column(fields, name).path[0]);
    open(seed, open_arrow_files(a.path, used));
  }
};

PENSTOCK_READER(ReadersArrow, ReadArrow);

}  // namespace
}  // namespace penstock
