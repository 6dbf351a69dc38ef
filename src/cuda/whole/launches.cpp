// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/launches.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "cuda/kernels/kernel_source.h"
#include "cuda/kernels/kernel_writer.h"
#include "cuda/kernels/vocabulary.h"
#include "device/batch_stage.h"

namespace penstock {

int64_t* EntryTable::add(int64_t work) {
  work_.push_back(work);
  rows_.resize(rows_.size() + static_cast<size_t>(words_));
  int64_t* row = rows_.data() + rows_.size() - words_;
  row[0] = work;
  return row;
}

int64_t EntryTable::data(const void* from, size_t bytes) {
  data_.resize((data_.size() + 15) / 16 * 16);
  const auto at = static_cast<int64_t>(data_.size());
  const auto* p = static_cast<const std::byte*>(from);
  data_.insert(data_.end(), p, p + bytes);
  return at;
}

int64_t EntryTable::write(TableWriter& table, int64_t granule, int multiprocessors) const {
  constexpr int64_t kMost = int64_t{1} << 31;
  const auto n = static_cast<int64_t>(work_.size());
  int64_t total = 0;
  for (int64_t w : work_) total += w;
  const int64_t block =
      std::clamp<int64_t>((total / (int64_t{16} * multiprocessors) + granule - 1) / granule, 1, 16) * granule;
  std::vector<int32_t> starts;
  int64_t blocks = 0;
  for (int64_t w : work_) {
    starts.push_back(static_cast<int32_t>(blocks));
    blocks += (w + block - 1) / block;
    if (blocks >= kMost) bad_argument("a batch of more than 2^31 blocks of work");
  }
  starts.push_back(static_cast<int32_t>(blocks));
  int64_t head[5] = {n, 0, 0, block, 0};
  const int64_t at = table.room(sizeof head);
  head[1] = table.append(starts.data(), starts.size() * 4);
  head[2] = table.append(rows_.data(), rows_.size() * 8);
  head[4] = table.append(data_.data(), data_.size());
  std::memcpy(table.at(at), head, sizeof head);
  return blocks;
}

const DeviceKernel& Launches::kernel(const std::string& name, const std::function<std::string()>& text) {
  static std::mutex mutex;
  static auto* kernels = new std::map<std::pair<int, std::string>, std::shared_ptr<const DeviceKernel>>;
  {
    std::lock_guard lock(mutex);
    if (auto it = kernels->find({device_, name}); it != kernels->end()) return *it->second;
  }
  std::string why;
  auto made = driver_.kernel(device_, text(), kStageEntry, why);
  if (!made) throw NoKernel(why);
  std::lock_guard lock(mutex);
  return *kernels->emplace(std::pair(device_, name), std::move(made)).first->second;
}

void Launches::add(const DeviceKernel& kernel, const TableWriter& table, int64_t blocks, size_t shared_bytes) {
  if (blocks == 0) return;
  tables_.resize((tables_.size() + 255) / 256 * 256);
  all_.push_back({&kernel, {blocks, kStageThreads, shared_bytes}, tables_.size()});
  const auto* p = static_cast<const std::byte*>(table.block().get());
  tables_.insert(tables_.end(), p, p + table.size());
}

void Launches::add(const DeviceKernel& kernel, const EntryTable& entries, int64_t granule, size_t shared_bytes) {
  if (entries.empty()) return;
  TableWriter t = table();
  const int64_t blocks = entries.write(t, granule, driver_.multiprocessors(device_));
  add(kernel, t, blocks, shared_bytes);
}

void* Launches::scratch(size_t bytes) {
  constexpr size_t kBlock = size_t{1} << 18;  // for many small ones
  bytes = (bytes + 255) / 256 * 256;
  if (bytes > scratch_left_) {
    scratch_left_ = std::max(bytes, kBlock);
    scratch_.push_back(allocate_shared(driver_.memory(device_), scratch_left_, stream_));
    scratch_at_ = static_cast<char*>(scratch_.back().get());
  }
  void* p = scratch_at_;
  scratch_at_ += bytes, scratch_left_ -= bytes;
  return p;
}

void Launches::run() {
  if (all_.empty()) return;
  const auto pinned = allocate_shared(driver_.pinned_memory(), tables_.size(), stream_);
  std::memcpy(pinned.get(), tables_.data(), tables_.size());
  const auto there = allocate_shared(driver_.memory(device_), tables_.size(), stream_);
  driver_.copy(device_, there.get(), pinned.get(), tables_.size(), stream_);
  for (const One& one : all_)
    driver_.launch(device_, *one.kernel, one.how, static_cast<const char*>(there.get()) + one.table, stream_);
}

const char* const kFindEntry = R"(
  const int64_t* head = reinterpret_cast<const int64_t*>(table);
  const int32_t* starts = reinterpret_cast<const int32_t*>(table + head[1]);
  const int entry = find_entry(starts, static_cast<int>(head[0]), static_cast<int>(blockIdx.x));
  const int64_t* s = reinterpret_cast<const int64_t*>(table + head[2]) + entry * kWords;
  const char* data = table + head[4];
  const int64_t begin = static_cast<int64_t>(static_cast<int>(blockIdx.x) - starts[entry]) * head[3];
  const int64_t end = s[0] - begin < head[3] ? s[0] : begin + head[3];
)";

std::string whole_text(int words, const std::string& body) {
  return whole_vocabulary() + kernel_source("spellings.h") +
         fmt::format("namespace penstock {{\nconstexpr int kWords = {};\n", words) + body +
         "}  // namespace penstock\n" + entry_text(false, 0);
}

}  // namespace penstock
