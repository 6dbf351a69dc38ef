// SPDX-License-Identifier: Apache-2.0
// The messages of Arrow IPC: what describes a schema or a record batch, as FlatBuffers of Arrow's format.
#pragma once
#include "data/arrow_table.h"

namespace penstock {

struct ArrowMessage {
  enum class Kind : uint8_t { other, schema, dictionary, batch };
  Kind kind = Kind::other;
  int64_t body = 0;  // bytes that follow the message
  Bytes metadata;
};

// The beginning of a message, 8 bytes: the number of bytes of its metadata; 0: the stream ends here. `prefix` becomes
// the number of bytes before the metadata: 8, or 4 in files of before 2019. Error (data) where no message begins.
int64_t arrow_metadata_bytes(Bytes start, int& prefix);
ArrowMessage arrow_message(Bytes metadata);
std::vector<ArrowField> schema_of_message(const ArrowMessage& message);
// The record batch; the buffers get their places, for a body that begins at `body` of the file. Error (data) if they do
// not lie inside the body.
ArrowGroup batch_of_message(const ArrowMessage& message, const std::vector<ArrowField>& fields, int64_t body);

}  // namespace penstock
