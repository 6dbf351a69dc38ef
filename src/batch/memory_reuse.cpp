// SPDX-License-Identifier: Apache-2.0
#include "batch/memory_reuse.h"

#include <algorithm>
#include <atomic>
#include <map>

namespace penstock {
namespace {

// The block that samples share after part_samples().
struct Shared {
  std::shared_ptr<void> memory;
};
struct LeaveShared {
  std::shared_ptr<Shared> of;
  void operator()(void*) noexcept { of.reset(); }
};

const std::shared_ptr<void>& holder(const Batch& b, int i) {
  const Batch::Sample& s = b.sample(i);
  return s.owner ? s.owner : b.block;
}

bool is_ours(const std::shared_ptr<void>& memory) {
  return std::get_deleter<FreeOnStream>(memory) || std::get_deleter<FreeWithToken>(memory);
}

template <class T> using ByOwner = std::map<std::shared_ptr<void>, T, std::owner_less<std::shared_ptr<void>>>;

}  // namespace

void part_samples(Batch& b) {
  ByOwner<std::shared_ptr<Shared>> shared;
  std::map<const void*, std::shared_ptr<void>> owners;  // fn.expand can repeat a sample: its children have one owner
  for (int i = 0; i < b.size(); ++i) {
    const std::shared_ptr<void> whole = holder(b, i);
    if (!whole || !is_ours(whole)) {
      b.sample(i).owner = whole;
      continue;
    }
    auto& s = shared[whole];
    if (!s) s = std::make_shared<Shared>(Shared{whole});
    auto& owner = owners[b.sample(i).data];
    if (!owner) owner = std::shared_ptr<void>(b.sample(i).data, LeaveShared{s});
    b.sample(i).owner = owner;
  }
  b.block = nullptr;
}

std::vector<char> held_alone(const Batch& b) {
  std::vector<char> alone(static_cast<size_t>(b.size()), 0);
  ByOwner<long> held;  // references by the batch itself, where there is more than one
  const auto by_it_alone = [&](const std::shared_ptr<void>& h) {
    if (held.empty()) {
      if (h.use_count() == 1) return true;
      if (b.block) ++held[b.block];
      for (int i = 0; i < b.size(); ++i)
        if (b.sample(i).owner) ++held[b.sample(i).owner];
    }
    return h.use_count() == held.at(h) + 1;  // `held` has one more
  };
  std::vector<std::pair<const char*, int>> places;
  for (int i = 0; i < b.size(); ++i) {
    const auto& h = holder(b, i);
    if (!h || !b.view(i).dense() || b.shape(i).volume() == 0) continue;
    if (const auto* parted = std::get_deleter<LeaveShared>(h))
      alone[static_cast<size_t>(i)] = parted->of->memory.use_count() == 1 && by_it_alone(h);
    else alone[static_cast<size_t>(i)] = is_ours(h) && by_it_alone(h);
    places.emplace_back(static_cast<const char*>(b.sample(i).data), i);
  }
  std::sort(places.begin(), places.end());  // fn.expand can repeat a sample
  for (size_t k = 1; k < places.size(); ++k) {
    const int before = places[k - 1].second, i = places[k].second;
    const auto bytes = static_cast<size_t>(b.shape(before).volume()) * size_of(b.dtype());
    if (places[k].first < places[k - 1].first + bytes)
      alone[static_cast<size_t>(before)] = alone[static_cast<size_t>(i)] = 0;
  }
  std::atomic_thread_fence(std::memory_order_acquire);  // reads by others happened before their release
  return alone;
}

// Which samples of `out` take memory that is offered. Padding makes samples larger; then all get memory of their own,
// and are one tensor.
static std::vector<char> taken(const Batch& out, const Batch& from, std::span<const char> offered) {
  const auto bytes = [](const Batch& b, int i) {
    return b.shape(i).volume() * static_cast<int64_t>(size_of(b.dtype()));
  };
  for (int i = 0; i < out.size(); ++i)
    if (bytes(out, i) != bytes(from, i)) return std::vector<char>(offered.size(), 0);
  return {offered.begin(), offered.end()};
}

void allocate_others(Batch& out, const Batch& from, std::span<const char> offered,
                     const std::shared_ptr<MemoryResource>& memory, StreamHandle stream) {
  const std::vector<char> take = taken(out, from, offered);
  if (std::ranges::count(take, 1) == 0) return out.allocate(memory, stream);
  Batch fresh(out.dtype(), out.ndim(), out.layout(), static_cast<int>(std::count(take.begin(), take.end(), 0)));
  int k = 0;
  for (int i = 0; i < out.size(); ++i)
    if (!take[static_cast<size_t>(i)]) fresh.sample(k++).shape = out.shape(i);
  if (k > 0) {
    fresh.allocate(memory, stream);
    part_samples(fresh);
  }
  out.set_device(memory->device());
  out.stream = stream;
  k = 0;
  for (int i = 0; i < out.size(); ++i) {
    Batch::Sample& s = out.sample(i);
    const bool taken = take[static_cast<size_t>(i)];
    s.data = taken ? from.sample(i).data : fresh.sample(k).data;
    s.owner = taken ? from.sample(i).owner : fresh.sample(k).owner;
    k += !taken;
  }
  if (k == 0) out.block = from.block;  // samples without an owner of their own belong to its block
  else if (from.block)
    for (int i = 0; i < out.size(); ++i)
      if (!out.sample(i).owner) out.sample(i).owner = from.block;
}

size_t bytes_of_others(const Batch& b, std::span<const char> take) {
  size_t bytes = 0;
  for (int i = 0; i < b.size(); ++i)
    if (!take[static_cast<size_t>(i)]) bytes += static_cast<size_t>(b.shape(i).volume()) * size_of(b.dtype());
  return bytes;
}

}  // namespace penstock
