// SPDX-License-Identifier: Apache-2.0
// libjpeg with its jumps caught: for the tools, which read a whole file and keep libjpeg's messages about it.
#pragma once
#include <csetjmp>
#include <cstddef>
#include <cstdio>  // jpeglib.h needs FILE and size_t
#include <string>

#include <jerror.h>
#include <jpeglib.h>

#include "codecs/image_decoder.h"

namespace penstock {

// libjpeg leaves its functions by longjmp: the `steps` of guarded() must own nothing on their stack.
class JpegSession {
 public:
  explicit JpegSession(Bytes file);
  ~JpegSession();
  JpegSession(const JpegSession&) = delete;
  JpegSession& operator=(const JpegSession&) = delete;

  // Runs the steps; false if libjpeg gave up, with message().
  template <class Steps> [[gnu::noinline]] bool guarded(const Steps& steps) {
    if (setjmp(jump_)) return false;
    steps();
    return true;
  }
  jpeg_decompress_struct in{};
  jpeg_compress_struct out{};  // its user creates it, with errors()
  jpeg_error_mgr* errors() { return &errors_; }
  void share_errors() { out.err = &errors_, out.client_data = this; }

  const char* message() const { return message_; }  // of the error that ended it
  bool ended() const { return ended_; }             // libjpeg asked for bytes after the last one
  int warnings() const { return warnings_; }
  int first_warning_code() const { return first_code_; }
  const char* first_warning() const { return first_warning_; }
  int first_warning_row() const { return first_row_; }   // of MCUs, -1 before the first
  size_t first_warning_at() const { return first_at_; }  // about where that MCU begins in the file
  size_t left() const { return in.src->bytes_in_buffer; }

 private:
  static JpegSession& of(j_common_ptr c) { return *static_cast<JpegSession*>(c->client_data); }
  jpeg_error_mgr errors_{};
  jpeg_source_mgr source_{};
  jpeg_progress_mgr progress_{};
  jmp_buf jump_;
  bool ended_ = false;
  int warnings_ = 0, first_row_ = -1, first_code_ = 0;
  size_t size_ = 0, first_at_ = 0;
  char message_[JMSG_LENGTH_MAX] = "", first_warning_[JMSG_LENGTH_MAX] = "";
};

}  // namespace penstock
