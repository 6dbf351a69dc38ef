// SPDX-License-Identifier: Apache-2.0
// A TIFF file in memory, opened with libtiff.
#pragma once
#include <tiffio.h>

#include <string>

#include "codecs/image_decoder.h"

namespace penstock {

class TiffFile {
 public:
  // Throws Error (data) if it is not a TIFF file. libtiff allocates no block of memory above `largest` bytes.
  TiffFile(Bytes file, int64_t largest);
  TiffFile(const TiffFile&) = delete;
  ~TiffFile();

  TIFF* get() const { return tiff_; }
  Bytes bytes() const { return file_; }
  // Throws Error (data) with libtiff's last message, or `otherwise`, and with `where`; EndsEarly if libtiff asked for
  // bytes after the last one.
  [[noreturn]] void refuse(const std::string& otherwise, const std::string& where = "") const;

  template <class T>
  T tag(uint32_t name, T otherwise) const {
    T v = otherwise;
    return TIFFGetFieldDefaulted(tiff_, name, &v) ? v : otherwise;
  }

 private:
  static tmsize_t read(thandle_t self, void* to, tmsize_t bytes);
  static toff_t seek(thandle_t self, toff_t offset, int from);
  static int on_error(TIFF*, void* self, const char* where, const char* format, va_list values);

  Bytes file_;
  uint64_t at_ = 0;
  bool is_short_ = false;  // libtiff asked for bytes after the last one
  std::string message_;
  TIFF* tiff_ = nullptr;
};

}  // namespace penstock
