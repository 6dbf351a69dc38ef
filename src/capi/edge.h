// SPDX-License-Identifier: Apache-2.0
// The boundary between C and the library: the types of the handles, statuses from exceptions, structs that may grow.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "batch/transfer.h"
#include "exec/pipeline.h"
#include "penstock/penstock.h"

struct penstock_allocator {
  std::shared_ptr<penstock::MemoryResource> memory;
};
struct penstock_batch {
  penstock::Batch batch;
};
struct penstock_arguments {
  struct Entry {
    std::string name;
    penstock::Value value;
    std::unique_ptr<penstock::Batch> per_sample;  // instead of a value
    penstock::ValueRef ref;                       // instead of either, in a graph
  };
  std::vector<Entry> entries;
};
struct penstock_graph {
  penstock::Graph graph;
  std::string device;  // for the operators that are added next
};
struct penstock_pipeline {
  std::unique_ptr<penstock::Pipeline> pipeline;
  std::vector<penstock::LeftOut> left_out;     // of the last batch
  std::vector<penstock::SampleOrigin> origin;  // of its samples
};

namespace penstock {

penstock_status status_of(ErrorKind kind);
// The status of the current exception; keeps its message for this thread.
penstock_status report_exception() noexcept;

// Every function of the interface runs its body in this one: no exception leaves it.
template <class F> penstock_status guarded(F&& body) noexcept {
  try {
    body();
    return PENSTOCK_OK;
  } catch (...) {
    return report_exception();
  }
}

template <class T> T& required(T* p, const char* what) {
  if (!p) bad_argument("{} is NULL", what);
  return *p;
}

inline void check_struct_size(size_t given, const char* what) {
  if (given <= sizeof(size_t) || given > 4096) bad_argument("struct_size of {} is {}: set it to sizeof", what, given);
}

// The caller's part of a struct, and zeros for the rest. Nonzero fields of a newer program ask for
// something that this library does not know.
template <class T> T read_struct(const T* p, const char* what) {
  const size_t given = required(p, what).struct_size;
  check_struct_size(given, what);
  T t{};
  std::memcpy(&t, p, std::min(given, sizeof(T)));
  const auto* bytes = reinterpret_cast<const unsigned char*>(p);
  for (size_t i = sizeof(T); i < given; ++i)
    if (bytes[i]) bad_argument("{} requests a feature that only a newer version of Penstock has", what);
  return t;
}
template <class T> T read_optional_struct(const T* p, const char* what) { return p ? read_struct(p, what) : T{}; }

// Writes the fields that fit into the caller's struct.
template <class T> void write_struct(T* p, T t, const char* what) {
  const size_t given = required(p, what).struct_size;
  check_struct_size(given, what);
  t.struct_size = given;
  std::memcpy(p, &t, std::min(given, sizeof(T)));
}

Device device_of(penstock_device_kind kind, int id);  // throws if it cannot be used
inline StreamHandle stream_of(void* stream) { return stream ? stream : kLegacyStream; }

// Calls the program's function with the last reference, once `function` is set: a failed call does not take ownership.
struct Release {
  void (*function)(void*) = nullptr;
  void* user = nullptr;
  ~Release() {
    if (function) function(user);
  }
};

std::shared_ptr<MemoryResource> memory_of(const penstock_allocator* allocator);  // NULL: the default
char* copy_text(const std::string& text);                                        // for penstock_free_text

// Returns all batches or none.
void give_batches(std::vector<Batch> batches, penstock_batch** outputs);
std::vector<Batch> take_batches(const penstock_batch* const* batches, size_t count, const char* what);

// What this thread's last call says of its samples: penstock_sample_message reads it.
using SampleErrors = std::vector<std::optional<Error>>;
SampleErrors& sample_errors();
std::vector<std::string>& sample_lacks();
void forget_samples();
void tell_statuses(penstock_status* statuses, size_t count);

}  // namespace penstock
