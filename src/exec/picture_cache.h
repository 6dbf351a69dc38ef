// SPDX-License-Identifier: Apache-2.0
// Decoded pictures that stay in memory for the next epochs (decoders.image, cache_size), by the name of their file or
// record. A picture that is kept is never removed: an order that does not repeat itself would otherwise remove each one
// before its next use.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/device_runtime.h"
#include "base/shape.h"
#include "exec/step_context.h"
#include "graph/graph.h"

namespace penstock {

struct CachedPicture {
  Shape shape;  // H, W, C
  std::shared_ptr<void> pixels;
  std::shared_ptr<DeviceEvent> ready;  // on a GPU: when the pixels are there
};

// Whether the samples of a value have the names of their files or records.
bool names_pictures(const StepContext& c, ValueRef encoded);

class PictureCache {
 public:
  // What of the pictures is kept.
  struct Rule {
    size_t bytes = 0;      // of all pictures
    size_t threshold = 0;  // of a picture
    bool largest = false;  // the largest pictures of the first epoch, from the second on; else the first ones
  };
  // Null where the node's operator keeps no pictures.
  static std::unique_ptr<PictureCache> of(const Graph& g, const Node& n);
  explicit PictureCache(Rule rule) : rule_(rule) {}

  std::shared_ptr<const CachedPicture> find(const std::string& name);
  // Whether a picture of this size shall be kept. True reserves its bytes: keep() or forget() follows.
  bool wants(const std::string& name, size_t bytes);
  std::shared_ptr<const CachedPicture> keep(const std::string& name, CachedPicture picture);
  void forget(const std::string& name);
  CachedCounts counts() const;

 private:
  void choose_largest();

  const Rule rule_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const CachedPicture>> pictures_;
  std::unordered_map<std::string, size_t> reserved_;  // bytes of pictures that are kept or will be
  std::unordered_map<std::string, size_t> seen_;      // bytes of all pictures, for the largest
  std::unordered_set<std::string> chosen_;
  bool has_chosen_ = false;
  size_t used_ = 0;
  int64_t hits_ = 0, misses_ = 0;
};

}  // namespace penstock
