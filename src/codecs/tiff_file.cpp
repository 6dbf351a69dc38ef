// SPDX-License-Identifier: Apache-2.0
#include "codecs/tiff_file.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>

#include "codecs/decode_errors.h"

namespace penstock {

tmsize_t TiffFile::read(thandle_t self, void* to, tmsize_t bytes) {
  auto& f = *static_cast<TiffFile*>(self);
  if (bytes <= 0) return 0;
  const uint64_t left = f.at_ < f.file_.size() ? f.file_.size() - f.at_ : 0, count = std::min<uint64_t>(bytes, left);
  f.is_short_ |= count < static_cast<uint64_t>(bytes);
  if (count == 0) return 0;
  std::memcpy(to, f.file_.data() + f.at_, count);
  f.at_ += count;
  return static_cast<tmsize_t>(count);
}

toff_t TiffFile::seek(thandle_t self, toff_t offset, int from) {
  auto& f = *static_cast<TiffFile*>(self);
  f.at_ = (from == SEEK_CUR ? f.at_ : from == SEEK_END ? f.file_.size() : 0) + offset;
  return f.at_;
}

int TiffFile::on_error(TIFF*, void* self, const char*, const char* format, va_list values) {
  char text[200];
  std::vsnprintf(text, sizeof text, format, values);
  std::string& message = static_cast<TiffFile*>(self)->message_ = text;
  // Strips and tiles have no row: libtiff then prints -1 as an unsigned number.
  for (const char* words : {" at scanline 4294967295", " at row 4294967295"})
    if (const size_t at = message.find(words); at != message.npos) message.erase(at, std::strlen(words));
  return 1;  // not for libtiff's own handler
}

TiffFile::TiffFile(Bytes file, int64_t largest) : file_(file) {
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
  if (!options) throw std::bad_alloc();
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), largest);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(
      options.get(), [](TIFF*, void*, const char*, const char*, va_list) { return 1; }, nullptr);
  tiff_ = TIFFClientOpenExt(
      "", "rm", this, read, [](thandle_t, void*, tmsize_t) -> tmsize_t { return 0; }, seek, [](thandle_t) { return 0; },
      [](thandle_t self) -> toff_t { return static_cast<TiffFile*>(self)->file_.size(); },
      [](thandle_t, void**, toff_t*) { return 0; }, [](thandle_t, void*, toff_t) {}, options.get());
  if (!tiff_) refuse("the file cannot be read");
}

void TiffFile::refuse(const std::string& otherwise, const std::string& where) const {
  if (is_short_) ends_early("TIFF: premature end of file{}", where);
  bad_data("TIFF: {}{}", message_.empty() ? otherwise : message_, where);
}

TiffFile::~TiffFile() {
  if (tiff_) TIFFClose(tiff_);
}

}  // namespace penstock
