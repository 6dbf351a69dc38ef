// SPDX-License-Identifier: Apache-2.0
// Tables that other libraries lend through Arrow's C data interface.
#pragma once
#include "data/arrow_abi.h"
#include "data/arrow_table.h"

namespace penstock {

// The columns of a table's schema. Error (argument) if it is not a struct, or nested too deeply.
std::vector<ArrowField> arrow_fields(const ArrowSchema& schema);
// One record batch. Takes the array over: the last user of its memory releases it. Error (argument) if the array does
// not have the form of the fields.
ArrowGroup arrow_group(const std::vector<ArrowField>& fields, ArrowArray& array);
// All record batches of a stream, which it takes over; nothing is copied. Error (data) where the stream has one.
std::shared_ptr<const ArrowTable> arrow_groups(ArrowArrayStream& stream);
// A table of one record batch.
std::shared_ptr<const ArrowTable> arrow_groups(const ArrowSchema& schema, ArrowArray& array);

}  // namespace penstock
