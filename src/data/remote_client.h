// SPDX-License-Identifier: Apache-2.0
// What a client of remote storage has to do: one request at a time, without trying again.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

// "scheme://...", of a scheme of letters, digits, "+", "-" and ".".
bool is_url(std::string_view path);

// A version of an object.
struct RemoteStamp {
  int64_t bytes = -1;
  int64_t modified_ns = 0;  // since 1970; 0: the server does not say
  std::string tag;          // ETag; "": none
  bool names_a_version() const { return !tag.empty() || modified_ns != 0; }
  bool operator==(const RemoteStamp&) const = default;
};

struct RemoteObject {
  RemoteStamp stamp;
  std::vector<uint8_t> body;
};

struct RemoteEntry {
  std::string name;  // behind the prefix that was listed
  RemoteStamp stamp;
};

// How a request ended that brought nothing. Thrown by clients.
struct RemoteFailure {
  enum class Kind {
    missing,    // there is no such object
    refused,    // it will be refused again: no right, no ranges, no such bucket
    passing,    // another try may go well: 5xx, 429, a connection that broke or stood still
    unchanged,  // the object is still the version that the request named
    unusable,   // this client cannot be used: a package is missing, a setting is wrong
  };
  Kind kind;
  std::string text;
};

// Called by many threads at once; calls may wait for the network.
class RemoteClient {
 public:
  virtual ~RemoteClient() = default;
  virtual RemoteStamp head(const std::string& url) = 0;
  // `length` bytes at `offset`, or the whole object for length -1, which is refused where it has more than `limit`
  // bytes; stamp.bytes is the size of the whole. With `known`, the object only if it is another version than that.
  virtual RemoteObject get(const std::string& url, int64_t offset, int64_t length, int64_t limit,
                           const RemoteStamp* known) = 0;
  // All objects whose URLs begin with `url`, which ends in "/", sorted by bytes.
  virtual std::vector<RemoteEntry> list(const std::string& url) = 0;
  // By a thread that is not the library's own, every 50 ms while it waits; may throw.
  virtual void poll() {}
  virtual void warn(const std::string& /*text*/) {}
};

}  // namespace penstock
