// SPDX-License-Identifier: Apache-2.0
// Compiled kernels on disk, in the user's cache folder.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cuda/runtime/nvrtc.h"

namespace penstock {

// A file a kernel. Processes share the folder without locks: files are written aside and renamed. Whatever is wrong
// with the folder or a file, kernels are compiled again: no call here fails. Thread-safe.
class KernelCache {
 public:
  static constexpr int64_t kLimit = int64_t{256} << 20;
  // `folder` must be the user's and closed to others' writing; it is made when it is needed. "": nothing is kept.
  explicit KernelCache(std::string folder, int64_t limit = kLimit) : folder_(std::move(folder)), limit_(limit) {}
  // $PENSTOCK_CACHE/kernels, see cache_folder().
  static KernelCache of_user();

  // `key` says all that decides about the image; it is kept whole and compared.
  std::optional<std::string> find(const std::string& key) const noexcept;
  // The images that were not used for longest make room.
  void keep(const std::string& key, const std::string& image) const noexcept;
  std::string file_of(const std::string& key) const;

 private:
  void make_room(const std::string& keeping) const;
  std::string folder_;
  int64_t limit_;
};

// From the cache, else compiled and kept. `anew` passes over what the cache has.
KernelImage kernel_image(const Nvrtc& nvrtc, const KernelCache& cache, const std::string& text,
                         const std::string& entry, const std::vector<std::string>& options, bool anew = false);

}  // namespace penstock
