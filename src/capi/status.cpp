// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "capi/edge.h"

namespace penstock {
namespace {

// Of fixed size, because it must hold the message that there is no memory.
thread_local char last_error[4096];

penstock_status keep(penstock_status status, const char* message) noexcept {
  std::snprintf(last_error, sizeof last_error, "%s", message);
  return status;
}

}  // namespace

penstock_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::argument: return PENSTOCK_ERROR_ARGUMENT;
    case ErrorKind::type: return PENSTOCK_ERROR_TYPE;
    case ErrorKind::key: return PENSTOCK_ERROR_KEY;
    case ErrorKind::file_missing: return PENSTOCK_ERROR_FILE_MISSING;
    case ErrorKind::data: return PENSTOCK_ERROR_DATA;
    case ErrorKind::stopped: return PENSTOCK_ERROR_STOPPED;
    case ErrorKind::cancelled: return PENSTOCK_ERROR_CANCELLED;
    case ErrorKind::out_of_memory: return PENSTOCK_ERROR_OUT_OF_MEMORY;
    case ErrorKind::internal: break;
  }
  return PENSTOCK_ERROR_INTERNAL;
}

penstock_status report_exception() noexcept {
  constexpr const char* no_memory = "there is not enough memory";
  try {
    try {
      throw;
    } catch (const Error& e) {
      return keep(status_of(e.kind()), e.full_message().c_str());
    } catch (const std::bad_alloc&) {
      return keep(PENSTOCK_ERROR_OUT_OF_MEMORY, no_memory);
    } catch (const std::length_error&) {
      return keep(PENSTOCK_ERROR_OUT_OF_MEMORY, no_memory);
    } catch (const std::exception& e) {
      return keep(PENSTOCK_ERROR_INTERNAL, e.what());
    } catch (...) {
      return keep(PENSTOCK_ERROR_INTERNAL, "an unknown exception");
    }
  } catch (...) {  // no memory for the message itself
    return keep(PENSTOCK_ERROR_OUT_OF_MEMORY, no_memory);
  }
}

char* copy_text(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace penstock

#define PENSTOCK_TEXT_OF(x) #x
#define PENSTOCK_DOTTED(a, b, c) PENSTOCK_TEXT_OF(a) "." PENSTOCK_TEXT_OF(b) "." PENSTOCK_TEXT_OF(c)

const char* penstock_version(void) {
  return PENSTOCK_DOTTED(PENSTOCK_VERSION_MAJOR, PENSTOCK_VERSION_MINOR, PENSTOCK_VERSION_PATCH);
}

const char* penstock_status_text(penstock_status status) {
  constexpr const char* texts[] = {"no error",      "wrong argument",  "wrong type",      "unknown name",
                                   "missing file",  "unreadable data", "end of the data", "cancelled",
                                   "out of memory", "internal fault"};
  const int i = static_cast<int>(status);
  return i >= 0 && i < 10 ? texts[i] : "unknown status";
}

const char* penstock_last_error(void) { return penstock::last_error; }

void penstock_free_text(char* text) { std::free(text); }
