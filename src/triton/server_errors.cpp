// SPDX-License-Identifier: Apache-2.0
#include "triton/server_errors.h"

#include <new>

namespace penstock::triton {

void check(TRITONSERVER_Error* error) {
  if (!error) return;
  const ServerError thrown(TRITONSERVER_ErrorCode(error), TRITONSERVER_ErrorMessage(error));
  TRITONSERVER_ErrorDelete(error);
  throw thrown;
}

void ignore(TRITONSERVER_Error* error) {
  if (error) TRITONSERVER_ErrorDelete(error);
}

TRITONSERVER_Error_Code code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::argument:
    case ErrorKind::type:
    case ErrorKind::key:
    case ErrorKind::data: return TRITONSERVER_ERROR_INVALID_ARG;
    case ErrorKind::file_missing: return TRITONSERVER_ERROR_NOT_FOUND;
    case ErrorKind::cancelled: return TRITONSERVER_ERROR_CANCELLED;
    case ErrorKind::stopped:
    case ErrorKind::out_of_memory: return TRITONSERVER_ERROR_UNAVAILABLE;
    case ErrorKind::internal: break;
  }
  return TRITONSERVER_ERROR_INTERNAL;
}

TRITONSERVER_Error* current_error(const std::string& before) noexcept {
  const auto made = [&](TRITONSERVER_Error_Code code, const std::string& text) {
    return TRITONSERVER_ErrorNew(code, (before + text).c_str());
  };
  try {
    throw;
  } catch (const Error& e) {
    return made(code_of(e.kind()), e.full_message());
  } catch (const ServerError& e) {
    return made(e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "out of memory");
  } catch (const std::exception& e) {
    return made(TRITONSERVER_ERROR_INTERNAL, e.what());
  } catch (...) {
    return made(TRITONSERVER_ERROR_INTERNAL, "an unknown error");
  }
}

}  // namespace penstock::triton
