// SPDX-License-Identifier: Apache-2.0
// The kernels of one call of a whole operator, whose tables go to the device in one copy.
#pragma once
#include <functional>
#include <string>

#include "cuda/runtime/driver.h"
#include "cuda/stages/stage_pack.h"

namespace penstock {

// Rows of words, one for each entry, and data that they refer to by offsets. A row's word 0 is its work: the number of
// units that its threads process. Blocks find their entry like those of stages.
class EntryTable {
 public:
  explicit EntryTable(int words) : words_(words) {}
  // The words of a new entry; those after the work are 0. Valid until the next call.
  int64_t* add(int64_t work);
  int64_t data(const void* from, size_t bytes);  // an offset from the start of the data
  bool empty() const { return work_.empty(); }
  // A block takes a multiple of `granule`; as many blocks as keep the device busy. Returns their number.
  int64_t write(TableWriter& table, int64_t granule, int multiprocessors) const;

 private:
  int words_;
  std::vector<int64_t> work_, rows_;
  std::vector<std::byte> data_;
};

class Launches {
 public:
  Launches(Driver& driver, int device, StreamHandle stream) : driver_(driver), device_(device), stream_(stream) {}
  Driver& driver() const { return driver_; }
  int device() const { return device_; }
  StreamHandle stream() const { return stream_; }

  // The kernel of a text, which is compiled on first use; `name` identifies it in the process.
  const DeviceKernel& kernel(const std::string& name, const std::function<std::string()>& text);
  // Kernels run in the order in which they are added.
  void add(const DeviceKernel& kernel, const TableWriter& table, int64_t blocks, size_t shared_bytes = 0);
  void add(const DeviceKernel& kernel, const EntryTable& table, int64_t granule, size_t shared_bytes = 0);
  TableWriter table() const { return {default_memory(), nullptr, 4096}; }
  // Device memory that lives until the kernels have run.
  void* scratch(size_t bytes);
  void run();

 private:
  struct One {
    const DeviceKernel* kernel;
    Launch how;
    size_t table;
  };
  Driver& driver_;
  int device_;
  StreamHandle stream_;
  std::vector<One> all_;
  std::vector<std::byte> tables_;
  std::vector<std::shared_ptr<void>> scratch_;
  size_t scratch_left_ = 0;  // unused bytes of the last one
  char* scratch_at_ = nullptr;
};

// The beginning of such a kernel's text, and its entry, which calls penstock::run(table). `body` may use the words `s`,
// `data`, and the range [begin, end) of the block: kEntryWords declares them.
std::string whole_text(int words, const std::string& body);
// In a body, the first lines of run(): declares s, data, begin, end.
extern const char* const kFindEntry;

}  // namespace penstock
