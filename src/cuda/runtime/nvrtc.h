// SPDX-License-Identifier: Apache-2.0
// NVIDIA's compiler of kernel texts, a library that is loaded if it is installed. It needs no GPU.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace penstock {

struct KernelImage {
  std::string bytes;  // a cubin; or text in PTX, which the driver translates
  bool ptx = false;
};

class Nvrtc {
 public:
  // The one of this process; null if there is none: `why` then says why.
  static const Nvrtc* find(std::string& why);

  const std::string& path() const { return path_; }
  std::string version() const;  // "13.0"
  // The options of compile() for a GPU of compute capability architecture / 10: exactly its code, else PTX for the
  // newest older architecture that this compiler knows. If it knows none, empty with the reason in `why`.
  std::vector<std::string> options(int architecture, std::string& why) const;
  static bool makes_ptx(const std::vector<std::string>& options);
  // Why there is none that fits the driver, and where it was looked for; why this one does not: empty if it does.
  static std::string not_installed(int driver, const std::string& tried);
  static std::string why_unfit(int major, int minor, int driver);
  // Throws ErrorKind::internal with the compiler's message. Thread-safe.
  KernelImage compile(const std::string& text, const std::string& entry, const std::vector<std::string>& options) const;

 private:
  struct Calls;
  Nvrtc() = default;
  static const Nvrtc* load(std::string& why);
  std::shared_ptr<const Calls> calls_;
  std::string path_;
  int major_ = 0, minor_ = 0;
  std::vector<int> architectures_;  // ascending
};

}  // namespace penstock
