// SPDX-License-Identifier: Apache-2.0
// The only exception type of the library. Three kinds of fault: the caller's, the data's, ours.
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace penstock {

enum class ErrorKind {
  argument,       // a wrong value: Python ValueError
  type,           // a wrong dtype, layout or kind of object: TypeError
  key,            // an unknown name of an argument or operator: TypeError with "did you mean"
  file_missing,   // FileNotFoundError
  data,           // a file or record that cannot be read or decoded: penstock.DataError
  stopped,        // end of the data: StopIteration
  cancelled,      // interrupted by the user
  out_of_memory,  // MemoryError
  internal,       // a bug in Penstock: RuntimeError
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  // Callers higher up, who know them, fill in the file or record, the operator and the user's line.
  std::string source;
  std::string op;
  std::string user_line;
  // "[operator] message (file: source)\n  at user_line"
  std::string full_message() const;

 private:
  ErrorKind kind_;
};

template <class... A>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<A...> text, A&&... args) {
  throw Error(kind, fmt::format(text, std::forward<A>(args)...));
}
template <class... A>
[[noreturn]] void bad_argument(fmt::format_string<A...> text, A&&... args) {
  throw Error(ErrorKind::argument, fmt::format(text, std::forward<A>(args)...));
}
template <class... A>
[[noreturn]] void bad_type(fmt::format_string<A...> text, A&&... args) {
  throw Error(ErrorKind::type, fmt::format(text, std::forward<A>(args)...));
}
template <class... A>
[[noreturn]] void bad_data(fmt::format_string<A...> text, A&&... args) {
  throw Error(ErrorKind::data, fmt::format(text, std::forward<A>(args)...));
}
// The name in `known` nearest to `name` by edit distance, as ", did you mean 'x'?" or "".
std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);

}  // namespace penstock
