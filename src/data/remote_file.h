// SPDX-License-Identifier: Apache-2.0
// A remote object that is read in parts, all of the same version.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "data/remote.h"

namespace penstock {

class RemoteFile {
 public:
  // Sends no request yet; uses the whole object if it was announced.
  explicit RemoteFile(std::string url) : url_(std::move(url)), whole_(RemoteStorage::instance().announced(url_)) {}
  const RemoteStamp& stamp() const;  // the first call sends a request
  void read(int64_t offset, int64_t length, uint8_t* out) const;

 private:
  std::string url_;
  std::shared_ptr<const RemoteObject> whole_;
  mutable std::mutex mutex_;  // guards the members below
  mutable std::optional<RemoteStamp> stamp_;
};

}  // namespace penstock
