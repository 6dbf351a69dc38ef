// SPDX-License-Identifier: Apache-2.0
// Compiled kernels on disk, in the user's cache folder.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cuda/runtime/nvrtc.h"

namespace penstock {

// One file per kernel. Processes share the folder: files are written under another name and renamed. If
// anything is wrong with the folder or a file, kernels are compiled again: no call here fails. Thread-safe.
class KernelCache {
 public:
  static constexpr int64_t kLimit = int64_t{256} << 20;
  // `folder` must belong to the user and be closed to writing by others; it is created when needed. "": nothing is
  // kept.
  explicit KernelCache(std::string folder, int64_t limit = kLimit) : folder_(std::move(folder)), limit_(limit) {}
  // $PENSTOCK_CACHE/kernels, see cache_folder().
  static KernelCache of_user();

  // `key` includes everything that determines the image; it is stored whole and compared.
  std::optional<std::string> find(const std::string& key) const noexcept;
  // Makes room by deleting the least recently used images.
  void keep(const std::string& key, const std::string& image) const noexcept;
  std::string file_of(const std::string& key) const;
  // When several processes need a kernel at once, as in a training on several GPUs, one compiles it and the others
  // find it, if they look again in their turn. Until the end of the scope, or of the process. Without a folder, or
  // where files cannot be locked, all have their turn at once.
  class Turn {
   public:
    Turn(const KernelCache& cache, const std::string& key) noexcept;
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    int file_ = -1;
  };

 private:
  void make_room(const std::string& keeping) const;
  std::string folder_;
  int64_t limit_;
};

// From the cache, else compiled and kept. `anew` ignores the cached image.
KernelImage kernel_image(const Nvrtc& nvrtc, const KernelCache& cache, const std::string& text,
                         const std::string& entry, const std::vector<std::string>& options, bool anew = false);

}  // namespace penstock
