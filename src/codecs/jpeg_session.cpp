// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg_session.h"

namespace penstock {

constexpr int kMostScans = 200;  // as in the decoder: each may cost a whole pass

JpegSession::JpegSession(Bytes file) : size_(file.size()) {
  in.err = jpeg_std_error(&errors_);
  errors_.error_exit = [](j_common_ptr c) {
    c->err->format_message(c, of(c).message_);
    longjmp(of(c).jump_, 1);
  };
  errors_.emit_message = [](j_common_ptr c, int level) {
    if (level >= 0) return;
    JpegSession& s = of(c);
    if (s.warnings_++ > 0) return;
    c->err->format_message(c, s.first_warning_);
    s.first_code_ = c->err->msg_code;
    s.first_at_ = s.ended_ ? s.size_ : s.size_ - s.source_.bytes_in_buffer;
    s.first_row_ = s.in.input_scan_number > 0 ? static_cast<int>(s.in.input_iMCU_row) : -1;
  };
  errors_.output_message = [](j_common_ptr) {};
  in.client_data = this;
  jpeg_create_decompress(&in);
  source_.init_source = [](j_decompress_ptr) {};
  source_.term_source = [](j_decompress_ptr) {};
  source_.resync_to_restart = jpeg_resync_to_restart;
  source_.fill_input_buffer = [](j_decompress_ptr d) -> boolean {
    static const JOCTET end_marker[2] = {0xFF, JPEG_EOI};
    of(reinterpret_cast<j_common_ptr>(d)).ended_ = true;
    d->src->next_input_byte = end_marker;
    d->src->bytes_in_buffer = 2;
    return TRUE;
  };
  source_.skip_input_data = [](j_decompress_ptr d, long count) {
    if (count <= 0) return;
    if (static_cast<size_t>(count) > d->src->bytes_in_buffer) {
      d->src->fill_input_buffer(d);
      return;
    }
    d->src->next_input_byte += count;
    d->src->bytes_in_buffer -= static_cast<size_t>(count);
  };
  source_.next_input_byte = file.data();
  source_.bytes_in_buffer = file.size();
  in.src = &source_;
  progress_.progress_monitor = [](j_common_ptr c) {
    JpegSession& s = of(c);
    if (s.in.input_scan_number <= kMostScans) return;
    std::snprintf(s.message_, sizeof s.message_, "more than %d scans", kMostScans);
    longjmp(s.jump_, 1);
  };
  in.progress = &progress_;
}

JpegSession::~JpegSession() {
  if (out.mem) jpeg_destroy_compress(&out);
  jpeg_destroy_decompress(&in);
}

}  // namespace penstock
