// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace penstock {

// The finalizer of SplitMix64 (Steele, Lea, Flood, 2014): every input bit reaches every output bit.
constexpr uint64_t mix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// Maps 64 random bits to [0, bound); the deviation from uniform is at most bound / 2^64.
constexpr uint64_t below(uint64_t bits, uint64_t bound) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(bits) * bound) >> 64);
}

// FNV-1a, 64 bit: the same on every machine. For telling lists apart; not safe against an attacker.
constexpr uint64_t hash_bytes(std::string_view bytes, uint64_t hash = 0xCBF29CE484222325u) {
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  return hash;
}

}  // namespace penstock
