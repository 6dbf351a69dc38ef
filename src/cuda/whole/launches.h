// SPDX-License-Identifier: Apache-2.0
// The kernels of one call of a whole operator, whose tables go to the device in one copy.
#pragma once
#include <functional>
#include <map>
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
  // What several rows share goes along once: make() adds it at the first call for its address.
  template <class Make> auto once(const void* shared, const Make& make) {
    const auto [found, fresh] = known_.try_emplace(shared);
    if (fresh) found->second = make().offset;
    return decltype(make()){found->second};
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  int64_t put(const void* from, size_t n);
  std::map<const void*, int64_t> known_;
  std::vector<std::byte> bytes_;
};

// A kernel: its header in a folder under src/, and the instance of the template. `rule` is what an operator gives as
// text: the members of `struct Rule`.
struct WholeKernel {
  const char* header;
  std::string instance;
  std::string rule = {};
  const char* folder = "cuda/whole/kernels/";
  int blocks = 1;  // that registers of a multiprocessor should hold
  int most = 16;   // granules of a block, where there are many
};

// The rows of a launch with their work. Blocks find their entry like those of stages.
struct AnyEntries {
  explicit AnyEntries(size_t bytes) : row_bytes(sizeof(int64_t) + bytes) {}
  std::byte* add(int64_t units) {  // valid until the next call
    work.push_back(units);
    rows.resize(rows.size() + row_bytes);
    std::byte* const row = rows.data() + (rows.size() - row_bytes);
    std::memcpy(row, &units, sizeof units);
    return row + sizeof units;
  }
  size_t row_bytes;  // with its work
  std::vector<int64_t> work;
  std::vector<std::byte> rows;
  EntryData data;
};
template <class Row> struct EntryTable : AnyEntries {
  static_assert(sizeof(whole::EntryRow<Row>) == sizeof(int64_t) + sizeof(Row));
  EntryTable() : AnyEntries(sizeof(Row)) {}
  Row& add(int64_t units) { return *new (AnyEntries::add(units)) Row{}; }
};

class Launches {
 public:
  Launches(Driver& driver, int device, StreamHandle stream) : driver_(driver), device_(device), stream_(stream) {}
  Driver& driver() const { return driver_; }
  int device() const { return device_; }
  StreamHandle stream() const { return stream_; }

  // Kernels run in the order in which they are added. A block takes a multiple of `granule` units of work.
  void add(const WholeKernel& kernel, const AnyEntries& entries, int64_t granule, size_t shared_bytes = 0);
  void add(const DeviceKernel& kernel, const TableWriter& table, int64_t blocks, size_t shared_bytes = 0);
  // The kernel of a text, which is compiled on first use; `name` identifies it in the process.
  const DeviceKernel& kernel(const std::string& name, const std::function<std::string()>& text);
  TableWriter table() const { return {default_memory(), nullptr, 4096}; }
  // Device memory that lives until the kernels have run.
  void* scratch(size_t bytes);
  void run();  // what was added since the last time

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

// The text of such a kernel for the compiler: no includes, and the entry, which calls it.
std::string kernel_text(const WholeKernel& kernel);

}  // namespace penstock
