// SPDX-License-Identifier: Apache-2.0
// The location of each record's entry. Many threads use it; each key takes one of 64 locks for some nanoseconds.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <random>
#include <vector>

namespace penstock {

class IndexTable {
 public:
  struct Place {
    int64_t offset = 0;                            // in the file
    uint32_t bytes = 0;                            // 0: no such entry
    const std::vector<uint8_t>* memory = nullptr;  // its bytes, if they are not written yet
  };

  Place find(uint64_t key) {
    key = scrambled(key);
    Shard& s = shard(key);
    std::lock_guard lock(s.mutex);
    return s.find(key);
  }
  // The same; bytes that are not written yet are copied, because they may be freed as soon as the lock is released.
  Place find(uint64_t key, std::vector<uint8_t>& copy) {
    key = scrambled(key);
    Shard& s = shard(key);
    std::lock_guard lock(s.mutex);
    const Place p = s.find(key);
    if (p.memory) copy.assign(p.memory->begin(), p.memory->end());
    return p;
  }
  Place put(uint64_t key, const Place& place) {  // returns the previous location
    key = scrambled(key);
    Shard& s = shard(key);
    std::lock_guard lock(s.mutex);
    return s.put(key, place);
  }
  // Forgets the entries in the file; those that are not written yet stay.
  void forget_file() {
    for (Shard& s : shards_) {
      std::lock_guard lock(s.mutex);
      auto old = std::move(s.slots);
      s.slots.clear();
      s.used = 0;
      for (const Slot& slot : old)
        if (slot.place.memory) s.put(slot.key, slot.place);
    }
  }
  int64_t size() {
    int64_t n = 0;
    for (Shard& s : shards_) {
      std::lock_guard lock(s.mutex);
      n += static_cast<int64_t>(s.used);
    }
    return n;
  }
  // visit(place) for each; meanwhile this thread must not call find() or put().
  void each(auto&& visit) {
    for (Shard& s : shards_) {
      std::lock_guard lock(s.mutex);
      for (const Slot& slot : s.slots)
        if (slot.place.bytes) visit(slot.place);
    }
  }

 private:
  struct Slot {
    uint64_t key = 0;
    Place place;
  };
  struct alignas(64) Shard {  // open addressing, at most three quarters full
    std::mutex mutex;
    std::vector<Slot> slots;
    size_t used = 0;

    size_t at(uint64_t key) const {
      const size_t mask = slots.size() - 1;
      size_t i = key & mask;
      while (slots[i].place.bytes && slots[i].key != key) i = (i + 1) & mask;
      return i;
    }
    Place find(uint64_t key) const { return slots.empty() ? Place{} : slots[at(key)].place; }
    Place put(uint64_t key, const Place& place) {
      if (4 * (used + 1) > 3 * slots.size()) {
        auto old = std::move(slots);
        slots.assign(std::max<size_t>(16, 2 * old.size()), {});
        for (const Slot& slot : old)
          if (slot.place.bytes) slots[at(slot.key)] = slot;
      }
      Slot& slot = slots[at(key)];
      const Place before = slot.place;
      used += before.bytes == 0;
      slot = {key, place};
      return before;
    }
  };
  Shard& shard(uint64_t key) { return shards_[key >> 58]; }
  // Keys come from a file: salted, so that nobody can make a file whose keys collide.
  uint64_t scrambled(uint64_t key) const {
    const unsigned __int128 p = static_cast<unsigned __int128>(key ^ salt_[0]) * (salt_[1] | 1);
    return (static_cast<uint64_t>(p) ^ static_cast<uint64_t>(p >> 64)) * 0x9E3779B97F4A7C15u;
  }
  static uint64_t random64() {
    std::random_device random;
    return uint64_t{random()} << 32 | random();
  }
  const uint64_t salt_[2] = {random64(), random64()};
  std::array<Shard, 64> shards_;
};

}  // namespace penstock
