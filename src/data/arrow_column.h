// SPDX-License-Identifier: Apache-2.0
// The value of a column in a row, as bytes or numbers.
#pragma once
#include <optional>

#include "base/dtype.h"
#include "base/shape.h"
#include "data/arrow_table.h"

namespace penstock {

// The number of buffers that an array of this type has at least.
int arrow_buffers(const ArrowField& field);

// A column that can be read: bytes and text are uint8, 1-D; numbers have no dimension; a list adds one.
struct ArrowColumn {
  std::string name;       // as the user gives it
  std::vector<int> path;  // the number of the column, then of the fields of its structs
  int other = -1;         // of a struct {bytes, path}: the field that names a file where the bytes are absent
  ArrowField other_field;
  ArrowField field;  // at the end of the path
  DType dtype = DType::uint8;
  int ndim = 0;
  bool fixed = false;  // all values have `shape`
  bool bits = false;   // booleans, eight in a byte
  Shape shape;
};

// Finds a column by its name, or a field of a struct as "column.field". A struct with a field "bytes" is that field.
// Error (argument) that lists what there is if it does not exist, or cannot be read.
ArrowColumn arrow_column(const std::vector<ArrowField>& fields, const std::string& name);

// Where a value lies.
struct ArrowValue {
  bool absent = false;
  std::string path;                     // the file that holds the value, if that is not empty
  const ArrowBuffer* buffer = nullptr;  // of its elements; null: it has none
  int64_t at = 0;                       // in bytes; of booleans in bits
  Shape shape;
  int64_t bytes = 0;
};

// Error (data) if an offset is not inside its buffer, where that has a known size, or if a list has an absent element.
ArrowValue arrow_value(const ArrowGroup& group, const ArrowColumn& column, int64_t row);
// Reads bytes of a buffer that is in the file, or copies them. Error (data) if they are not inside it.
void read_arrow(const ArrowGroup& group, const ArrowBuffer& buffer, int64_t at, int64_t bytes, uint8_t* out);

}  // namespace penstock
