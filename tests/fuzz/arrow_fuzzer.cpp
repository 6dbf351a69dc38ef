// SPDX-License-Identifier: Apache-2.0
// A file as Arrow IPC: each value of each column that can be read.
#include "data/arrow_column.h"
#include "data/arrow_file.h"
#include "fuzz_containers.h"

using namespace penstock;

namespace {

void read_all(const ArrowTable& table, const ArrowColumn& column) {
  const int64_t rows = std::min<int64_t>(table.rows(), 64);
  for (int64_t row = 0; row < rows; ++row) {
    fuzz::may_refuse([&] {
      const ArrowPlace at = table.place(row);
      const auto group = table.group(at.group);
      const ArrowValue value = arrow_value(*group, column, at.row);
      if (!value.buffer || column.bits || value.bytes > 1 << 20) return;
      std::vector<uint8_t> bytes(static_cast<size_t>(value.bytes));
      read_arrow(*group, *value.buffer, value.at, value.bytes, bytes.data());
    });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::MemoryFile file(data, size);
  fuzz::may_refuse([&] {
    const std::vector<ArrowField> fields = arrow_file_fields(file.path());
    std::vector<int> numbers;
    for (size_t i = 0; i < fields.size(); ++i) numbers.push_back(static_cast<int>(i));
    const auto table = open_arrow_files({file.path()}, numbers);
    for (const auto& field : fields) {
      try {
        read_all(*table, arrow_column(fields, field.name));
      } catch (const Error& e) {  // a type that cannot be read
        if (e.kind() != ErrorKind::argument) throw;
      }
    }
  });
  return 0;
}
