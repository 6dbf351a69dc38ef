// SPDX-License-Identifier: Apache-2.0
// A library that Penstock does without where it is not there. Looked for when it is needed first, and never closed.
#pragma once
#include <dlfcn.h>

#include <string>
#include <type_traits>
#include <utility>

namespace penstock {

class OptionalLibrary {
 public:
  // What dlopen() gave; or null, and why. `lacks` is what why_not() says before the name of a missing function.
  OptionalLibrary(void* library, std::string why_not, std::string lacks)
      : library_(library), why_not_(std::move(why_not)), lacks_(std::move(lacks)) {}

  // Sets `function` to the library's. A library that lacks one counts as absent.
  template <class F>
  void find(F& function, const char* name) {
    void* found = library_ ? dlsym(library_, name) : nullptr;
    function = reinterpret_cast<std::remove_reference_t<F>>(found);
    if (!found && why_not_.empty()) why_not_ = lacks_ + " " + name;
  }
  const std::string& why_not() const { return why_not_; }  // empty: it is here, with all functions that were looked for

 private:
  void* library_;
  std::string why_not_, lacks_;
};

// Its functions, found once: `find(library, functions)` looks them up.
template <class Functions>
class OptionalFunctions {
 public:
  template <class Find>
  OptionalFunctions(OptionalLibrary library, Find&& find) : library_(std::move(library)) {
    find(library_, functions_);
  }
  // Null where the library is absent; `why` then says why.
  const Functions* get(std::string& why) const {
    why = library_.why_not();
    return why.empty() ? &functions_ : nullptr;
  }

 private:
  OptionalLibrary library_;
  Functions functions_;
};

}  // namespace penstock
