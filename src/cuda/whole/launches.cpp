// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/launches.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "cuda/kernels/emit.h"
#include "cuda/kernels/vocabulary.h"
#include "device/batch_stage.h"

namespace penstock {

static_assert(whole::kThreads == kStageThreads && whole::kMostDims == Shape::kMaxDims);
namespace whole {
// Generated at build time.
const std::vector<VocabularyPart>& kernel_parts();
}  // namespace whole

int64_t EntryData::put(const void* from, size_t n) {
  bytes_.resize((bytes_.size() + 15) / 16 * 16);
  const auto at = static_cast<int64_t>(bytes_.size());
  const auto* p = static_cast<const std::byte*>(from);
  bytes_.insert(bytes_.end(), p, p + n);
  return at;
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

// As many blocks as keep the device busy.
void Launches::add(const WholeKernel& kernel, const AnyEntries& entries, int64_t granule, size_t shared_bytes) {
  if (entries.work.empty()) return;
  constexpr int64_t kMost = int64_t{1} << 31;
  int64_t total = 0;
  for (int64_t w : entries.work) total += w;
  const int64_t busy = int64_t{16} * driver_.multiprocessors(device_);
  const int64_t block = std::clamp<int64_t>((total / busy + granule - 1) / granule, 1, kernel.most) * granule;
  std::vector<int32_t> starts;
  int64_t blocks = 0;
  for (int64_t w : entries.work) {
    starts.push_back(static_cast<int32_t>(blocks));
    blocks += (w + block - 1) / block;
    if (blocks >= kMost) bad_argument("a batch of more than 2^31 blocks of work");
  }
  starts.push_back(static_cast<int32_t>(blocks));
  TableWriter t = table();
  const int64_t at = t.room(sizeof(whole::TableHead)), n = static_cast<int64_t>(entries.work.size());
  const int64_t starts_at = t.append(starts.data(), starts.size() * sizeof(int32_t));
  const int64_t rows_at = t.append(entries.rows.data(), entries.rows.size());
  const auto& data = entries.data.bytes();
  const whole::TableHead head{n, starts_at, rows_at, block, t.append(data.data(), data.size())};
  std::memcpy(t.at(at), &head, sizeof head);
  add(this->kernel(kernel.instance + '\n' + kernel.rule, [&] { return kernel_text(kernel); }), t, blocks, shared_bytes);
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
  const auto there = driver_.table_on_device(device_, tables_.data(), tables_.size(), stream_);
  for (const One& one : all_)
    driver_.launch(device_, *one.kernel, one.how, static_cast<const char*>(there.get()) + one.table, stream_);
  all_.clear(), tables_.clear();
}

std::string kernel_text(const WholeKernel& kernel) {
  std::string text = "#include \"pixel/prelude.h\"\n";
  text += fmt::format("#include \"{}{}\"\nnamespace penstock::whole {{\n", kernel.folder, kernel.header);
  if (!kernel.rule.empty()) text += "struct Rule { " + kernel.rule + " };\n";
  text += fmt::format(
      "}}\nextern \"C\" __global__ void __launch_bounds__({}{}) {}(const char* table) {{\n"
      "  using namespace penstock;\n  using namespace penstock::whole;\n  start(table, {});\n}}\n",
      kStageThreads, kernel.blocks > 1 ? fmt::format(", {}", kernel.blocks) : "", kStageEntry, kernel.instance);
  return with_includes(text, {&vocabulary_parts(), &whole::kernel_parts()});
}

}  // namespace penstock
