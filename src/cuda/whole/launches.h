// SPDX-License-Identifier: Apache-2.0
// The kernels of one call of a whole operator, whose tables go to the device in one copy.
#pragma once
#include <functional>
#include <string>

#include "cuda/runtime/driver.h"
#include "cuda/stages/stage_pack.h"
#include "launch/entry.h"

namespace penstock {

// What goes along with the rows of a table.
class EntryData {
 public:
  template <class T> whole::InData<T> add(const T* from, size_t count) { return {put(from, count * sizeof(T))}; }
  template <class T> whole::InData<T> add(const std::vector<T>& all) { return add(all.data(), all.size()); }
  // Bytes that a kernel reads as T.
  template <class T = char> whole::InData<T> add_bytes(const std::vector<std::byte>& bytes) {
    return {put(bytes.data(), bytes.size())};
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  int64_t put(const void* from, size_t n);
  std::vector<std::byte> bytes_;
};

// A kernel: its header in a folder under src/, and the instance of the template. `rule` is what an operator gives as
// text: the members of `struct Rule`.
struct WholeKernel {
  const char* header;
  std::string instance;
  std::string rule = {};
  const char* folder = "cuda/whole/kernels/";
};

// The rows of a launch with their work. Blocks find their entry like those of stages.
template <class Row> class EntryTable {
 public:
  Row& add(int64_t work) { return rows_.emplace_back(work).row; }  // valid until the next call
  bool empty() const { return rows_.empty(); }
  EntryData data;
  const std::vector<whole::EntryRow<Row>>& rows() const { return rows_; }

 private:
  std::vector<whole::EntryRow<Row>> rows_;
};

// The same of rows whose type only the kernel knows.
struct AnyEntries {
  explicit AnyEntries(size_t bytes) : row_bytes(sizeof(int64_t) + bytes) {}
  std::byte* add(int64_t units, const void* row) {  // valid until the next call
    work.push_back(units);
    const size_t at = rows.size();
    rows.resize(at + row_bytes);
    std::memcpy(&rows[at], &units, sizeof units);
    std::memcpy(&rows[at] + sizeof units, row, row_bytes - sizeof units);
    return &rows[at] + sizeof units;
  }
  size_t row_bytes;  // with its work
  std::vector<int64_t> work;
  std::vector<std::byte> rows;
  EntryData data;
};

class Launches {
 public:
  Launches(Driver& driver, int device, StreamHandle stream) : driver_(driver), device_(device), stream_(stream) {}
  Driver& driver() const { return driver_; }
  int device() const { return device_; }
  StreamHandle stream() const { return stream_; }

  // Kernels run in the order in which they are added. A block takes a multiple of `granule` units of work.
  template <class Row>
  void add(const WholeKernel& kernel, const EntryTable<Row>& entries, int64_t granule, size_t shared_bytes = 0) {
    if (entries.empty()) return;
    std::vector<int64_t> work;
    for (const auto& r : entries.rows()) work.push_back(r.work);
    add_rows(kernel, {work, entries.rows().data(), sizeof(whole::EntryRow<Row>), entries.data.bytes()}, granule,
             shared_bytes);
  }
  void add(const WholeKernel& kernel, const AnyEntries& entries, int64_t granule, size_t shared_bytes = 0) {
    if (entries.work.empty()) return;
    add_rows(kernel, {entries.work, entries.rows.data(), entries.row_bytes, entries.data.bytes()}, granule,
             shared_bytes);
  }
  void add(const DeviceKernel& kernel, const TableWriter& table, int64_t blocks, size_t shared_bytes = 0);
  // The kernel of a text, which is compiled on first use; `name` identifies it in the process.
  const DeviceKernel& kernel(const std::string& name, const std::function<std::string()>& text);
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
  struct Rows {  // of one type
    const std::vector<int64_t>& work;
    const void* rows;
    size_t row_bytes;
    const std::vector<std::byte>& data;
  };
  void add_rows(const WholeKernel& kernel, const Rows& entries, int64_t granule, size_t shared_bytes);
  Driver& driver_;
  int device_;
  StreamHandle stream_;
  std::vector<One> all_;
  std::vector<std::byte> tables_;
  std::vector<std::shared_ptr<void>> scratch_;
  size_t scratch_left_ = 0;  // unused bytes of the last one
  char* scratch_at_ = nullptr;
};

// The text of such a kernel for the compiler: no includes, and the entry, which calls it.
std::string kernel_text(const WholeKernel& kernel);

}  // namespace penstock
