// SPDX-License-Identifier: Apache-2.0
// Errors of Penstock and of the server, from one to the other.
#pragma once
#include <exception>
#include <string>

#include "base/error.h"
#include "triton/server_api.h"

namespace penstock::triton {

// What a function of the server refused: it goes back to the server as it came.
class ServerError : public std::exception {
 public:
  ServerError(TRITONSERVER_Error_Code code, std::string text) : code_(code), text_(std::move(text)) {}
  TRITONSERVER_Error_Code code() const { return code_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  TRITONSERVER_Error_Code code_;
  std::string text_;
};

// Throws a ServerError of an error, and deletes that.
void check(TRITONSERVER_Error* error);
// Of a call whose failure changes nothing for us.
void ignore(TRITONSERVER_Error* error);

TRITONSERVER_Error_Code code_of(ErrorKind kind);
// Of the current exception; `before` is put before its text.
TRITONSERVER_Error* current_error(const std::string& before = {}) noexcept;

// The body of a function that the server calls: no exception leaves it.
template <class F> TRITONSERVER_Error* guarded(F&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (...) {
    return current_error();
  }
}

}  // namespace penstock::triton
