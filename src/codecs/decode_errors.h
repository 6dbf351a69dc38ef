// SPDX-License-Identifier: Apache-2.0
// Errors of decoders that a program distinguishes by type, not by text. Until they reach the user they may become plain
// Errors.
#pragma once
#include <cstdint>
#include <utility>

#include "base/error.h"

namespace penstock {

// The bytes end before the data that they promise.
class EndsEarly : public Error {
 public:
  explicit EndsEarly(const std::string& message) : Error(ErrorKind::data, message) {}
};

// The same, thrown with DecodeParams::partial by a decoder that has written what is there and filled the rest.
class KeptRows : public EndsEarly {
 public:
  using EndsEarly::EndsEarly;
};

// The file may be good: this installation or this library has no decoder for it.
class NoDecoder : public Error {
 public:
  explicit NoDecoder(const std::string& message) : Error(ErrorKind::data, message) {}
};

// What an error says about a file.
enum class FileFault : uint8_t { damaged, ends_early, no_decoder };
inline FileFault fault_of(const Error& error) {
  if (dynamic_cast<const EndsEarly*>(&error)) return FileFault::ends_early;
  return dynamic_cast<const NoDecoder*>(&error) ? FileFault::no_decoder : FileFault::damaged;
}

template <class... A>
[[noreturn]] void ends_early(fmt::format_string<A...> text, A&&... args) {
  throw EndsEarly(fmt::format(text, std::forward<A>(args)...));
}
template <class... A>
[[noreturn]] void no_decoder(fmt::format_string<A...> text, A&&... args) {
  throw NoDecoder(fmt::format(text, std::forward<A>(args)...));
}

}  // namespace penstock
