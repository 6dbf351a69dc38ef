// SPDX-License-Identifier: Apache-2.0
// The interface of a client of remote storage: one request per call, without retries.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

// "scheme://..."; the scheme has letters, digits, "+", "-" and ".".
bool is_url(std::string_view path);

// A version of an object.
struct RemoteStamp {
  int64_t bytes = -1;
  int64_t modified_ns = 0;  // since 1970; 0: unknown
  std::string tag;          // ETag; "": none
  bool names_a_version() const { return !tag.empty() || modified_ns != 0; }
  bool operator==(const RemoteStamp&) const = default;
};

struct RemoteObject {
  RemoteStamp stamp;
  std::vector<uint8_t> body;
};

struct RemoteEntry {
  std::string name;  // the part after the listed prefix
  RemoteStamp stamp;
};

// Why a request failed. Thrown by clients.
struct RemoteFailure {
  enum class Kind {
    missing,    // the object does not exist
    refused,    // permanent: no permission, no ranges, no such bucket
    passing,    // a retry may succeed: 5xx, 429, a connection that broke or stalled
    unchanged,  // the object still has the version that the request named
    unusable,   // this client cannot be used: a package is missing, a setting is wrong
  };
  Kind kind;
  std::string text;
};

// Many threads call it at once; calls may wait for the network.
class RemoteClient {
 public:
  virtual ~RemoteClient() = default;
  virtual RemoteStamp head(const std::string& url) = 0;
  // `length` bytes at `offset`, or the whole object for length -1, which is refused if it has more than `limit`
  // bytes; stamp.bytes is the size of the whole. With `known`, the object only if its version differs.
  virtual RemoteObject get(const std::string& url, int64_t offset, int64_t length, int64_t limit,
                           const RemoteStamp* known) = 0;
  // All objects whose URLs begin with `url`, which ends in "/", sorted by bytes.
  virtual std::vector<RemoteEntry> list(const std::string& url) = 0;
  // Called every 50 ms by a waiting thread that is not the library's own; may throw.
  virtual void poll() {}
  virtual void warn(const std::string& /*text*/) {}
};

}  // namespace penstock
