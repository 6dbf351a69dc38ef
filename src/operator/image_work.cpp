// SPDX-License-Identifier: Apache-2.0
#include "operator/image_work.h"

#include "operator/host_work.h"
#include "operator/kernel_step.h"

namespace penstock {
void HostWork::groups(const View&, GroupStep step) { step.host(); }
void HostWork::kernel(KernelStep step) { step.host(); }
void* HostWork::scratch(size_t bytes) {
  thread_local std::vector<int64_t> memory;
  memory.resize((bytes + 7) / 8);
  return memory.data();
}

int image_border(const char* argument, const std::string& name) {
  if (name == "constant") return kBorderConstant;
  if (name == "replicate" || name == "clamp" || name == "edge") return kBorderClamp;
  if (name == "reflect_101" || name == "101") return kBorderReflect101;
  if (name == "reflect" || name == "reflect_1001" || name == "1001") return kBorderReflect1001;
  if (name == "wrap") return kBorderWrap;
  bad_argument(
      "{} must be \"constant\", \"replicate\" (or \"clamp\"), \"reflect\" (or \"reflect_1001\"), \"reflect_101\" or "
      "\"wrap\", got \"{}\"",
      argument, name);
}

}  // namespace penstock
