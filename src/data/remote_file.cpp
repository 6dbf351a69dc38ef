// SPDX-License-Identifier: Apache-2.0
#include "data/remote_file.h"

#include <cstring>

namespace penstock {

const RemoteStamp& RemoteFile::stamp() const {
  if (whole_) return whole_->stamp;
  std::lock_guard lock(mutex_);
  if (!stamp_) stamp_ = RemoteStorage::instance().head(url_);
  return *stamp_;
}

void RemoteFile::read(int64_t offset, int64_t length, uint8_t* out) const {
  const RemoteStamp& s = stamp();
  if (offset < 0 || length < 0 || offset > s.bytes || length > s.bytes - offset)
    fail_on(url_, ErrorKind::data, "{} bytes at {} do not lie inside the object of {} bytes", length, offset, s.bytes);
  if (!whole_) return RemoteStorage::instance().read(url_, s, offset, length, out);
  if (length) std::memcpy(out, whole_->body.data() + offset, static_cast<size_t>(length));
}

}  // namespace penstock
