// SPDX-License-Identifier: Apache-2.0
#include "codecs/audio/ogg_packets.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "codecs/byte_order.h"

namespace penstock {

namespace {

constexpr size_t kPageHead = 27;
constexpr uint8_t kMark[] = {'O', 'g', 'g', 'S'};
enum PageFlag : uint8_t { kContinued = 1, kLast = 4 };

constexpr auto kSums = [] {
  std::array<uint32_t, 256> sums{};
  for (uint32_t b = 0; b < 256; ++b) {
    sums[b] = b << 24;
    for (int i = 0; i < 8; ++i) sums[b] = sums[b] << 1 ^ (sums[b] >> 31 ? 0x04C11DB7u : 0);
  }
  return sums;
}();

uint32_t sum_of(AudioBytes bytes, uint32_t sum) {
  for (const uint8_t b : bytes) sum = sum << 8 ^ kSums[sum >> 24 ^ b];
  return sum;
}

struct Page {
  AudioBytes head, segments, body;
  uint8_t flags() const { return head[5]; }
  bool is_open() const { return le32(&head[6]) == 0xFFFFFFFF && le32(&head[10]) == 0xFFFFFFFF; }
  uint32_t stream() const { return le32(&head[14]); }
  size_t bytes() const { return head.size() + segments.size() + body.size(); }
};

// The page that begins here; without bytes if none does.
Page page_at(AudioBytes file) {
  if (file.size() < kPageHead || std::memcmp(file.data(), kMark, sizeof kMark) || file[4] != 0) return {};
  Page page{file.first(kPageHead), {}, {}};
  if (file.size() - kPageHead < file[26]) return {};
  page.segments = file.subspan(kPageHead, file[26]);
  size_t length = 0;
  for (const uint8_t s : page.segments) length += s;
  const AudioBytes rest = file.subspan(kPageHead + page.segments.size());
  if (rest.size() < length) return {};
  page.body = rest.first(length);
  const uint8_t no_sum[4] = {};
  const uint32_t head = sum_of(page.head.subspan(26), sum_of(no_sum, sum_of(page.head.first(22), 0)));
  if (sum_of(page.body, sum_of(page.segments, head)) != le32(&page.head[22])) return {};
  return page;
}

}  // namespace

std::vector<uint8_t> join_ogg_packets(AudioBytes file) {
  std::vector<uint8_t> joined;
  joined.reserve(file.size());
  size_t whole = 0;        // bytes of complete packets
  bool is_inside = false;  // a packet continues from the last page
  uint32_t stream = 0, next_number = 0;
  bool is_first = true;
  for (size_t at = 0; at < file.size();) {
    const Page page = page_at(file.subspan(at));
    if (page.head.empty()) {
      const AudioBytes rest = file.subspan(at + 1);
      const auto found = std::search(rest.begin(), rest.end(), std::begin(kMark), std::end(kMark));
      at += 1 + static_cast<size_t>(found - rest.begin());
      continue;
    }
    at += page.bytes();
    if (is_first) stream = page.stream();
    if (page.stream() != stream) continue;
    const uint32_t number = le32(&page.head[18]);
    if (!is_first && number != next_number) is_inside = false;  // pages are missing
    next_number = number + 1, is_first = false;
    const bool goes_on = (page.flags() & kContinued) && is_inside;
    bool is_taken = goes_on || !(page.flags() & kContinued);
    if (!goes_on) joined.resize(whole);
    const uint8_t* from = page.body.data();
    for (const uint8_t length : page.segments) {
      if (is_taken) joined.insert(joined.end(), from, from + length);
      from += length;
      is_inside = length == 255;
      if (!is_inside) is_taken = true, whole = joined.size();
    }
    is_inside = is_inside && is_taken;
    if (page.flags() & kLast) break;
  }
  joined.resize(whole);
  return joined;
}

namespace {

// The last complete page; without bytes if there is none.
Page last_page(AudioBytes file) {
  for (size_t end = file.size(); end > 0;) {
    const auto found =
        std::find_end(file.begin(), file.begin() + static_cast<int64_t>(end), std::begin(kMark), std::end(kMark));
    if (found == file.begin() + static_cast<int64_t>(end)) break;
    const auto at = static_cast<size_t>(found - file.begin());
    if (const Page page = page_at(file.subspan(at)); !page.head.empty()) return page;
    end = at + sizeof kMark - 1;  // searches for marks before this one
  }
  return {};
}

}  // namespace

OwnEnd ogg_end(AudioBytes file) {
  const Page page = last_page(file);
  if (page.head.empty() || page.head.data() + page.bytes() != file.data() + file.size()) return {OwnEnd::cut};
  return {page.flags() & kLast ? OwnEnd::found : OwnEnd::missing, file.size()};
}

bool last_ogg_page_is_open(AudioBytes file) {
  // In most cases the page header decides, without a checksum of the page's bytes.
  const auto found = std::find_end(file.begin(), file.end(), std::begin(kMark), std::end(kMark));
  const AudioBytes rest = file.subspan(static_cast<size_t>(found - file.begin()));
  if (rest.size() >= kPageHead && (le32(&rest[6]) & le32(&rest[10])) != 0xFFFFFFFF) return false;
  const Page page = last_page(file);
  return !page.head.empty() && page.is_open();
}

}  // namespace penstock
