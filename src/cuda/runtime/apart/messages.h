// SPDX-License-Identifier: Apache-2.0
// The messages between a program and its compiling process, through a socket: lists of texts.
#pragma once
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

namespace penstock::apart {

constexpr uint64_t kMostTexts = 64, kMostBytes = uint64_t{1} << 30;

inline bool send_bytes(int to, const void* from, size_t bytes) {
  for (auto* p = static_cast<const char*>(from); bytes > 0;) {
    const ssize_t n = ::send(to, p, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n, bytes -= static_cast<size_t>(n);
  }
  return true;
}
inline bool receive_bytes(int from, void* to, size_t bytes) {
  for (auto* p = static_cast<char*>(to); bytes > 0;) {
    const ssize_t n = ::recv(from, p, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n, bytes -= static_cast<size_t>(n);
  }
  return true;
}

inline bool send(int to, const std::vector<std::string>& texts) {
  std::string all;
  const auto number = [&](uint64_t x) { all.append(reinterpret_cast<const char*>(&x), sizeof x); };
  number(texts.size());
  for (const std::string& t : texts) number(t.size()), all += t;
  return send_bytes(to, all.data(), all.size());
}
// False: the other side has ended.
inline bool receive(int from, std::vector<std::string>& texts) {
  uint64_t count = 0;
  if (!receive_bytes(from, &count, sizeof count) || count > kMostTexts) return false;
  texts.assign(count, {});
  for (std::string& t : texts) {
    uint64_t bytes = 0;
    if (!receive_bytes(from, &bytes, sizeof bytes) || bytes > kMostBytes) return false;
    t.resize(bytes);
    if (!receive_bytes(from, t.data(), bytes)) return false;
  }
  return true;
}

}  // namespace penstock::apart
