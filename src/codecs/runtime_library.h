// SPDX-License-Identifier: Apache-2.0
// Libraries of codecs that are loaded on first use: Penstock links no LGPL library, and users without such files need
// no library for them.
#pragma once
#include <initializer_list>
#include <string>

#include "base/settings.h"

namespace penstock {

class RuntimeLibrary {
 public:
  // Loads the first of `files` ("libmpg123.so.0") that the loader finds. The setting ("PENSTOCK_MPG123") gives another
  // file, or is "off". Never closed.
  RuntimeLibrary(Setting setting, std::initializer_list<const char*> files);

  // Sets `to` to the function; without it the library counts as absent.
  template <class F> void find(F*& to, const char* name) { to = reinterpret_cast<F*>(address(name)); }
  const std::string& why_not() const { return why_not_; }  // empty: the library is loaded

 private:
  void* address(const char* name);
  void* library_ = nullptr;
  std::string why_not_;
};

}  // namespace penstock
