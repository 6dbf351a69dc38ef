// SPDX-License-Identifier: Apache-2.0
// Stands in for the CUDA backend until its library is built and loaded: it can be asked, and says why not.
#include "base/backend.h"
#include "base/error.h"
#include "ops/machine/stage_program.h"

namespace penstock {
namespace {

class NotBuilt final : public Backend {
 public:
  const char* name() const override { return "cuda"; }
  std::string why_not() const override { return "the CUDA backend is not built into this version of Penstock"; }
  std::unique_ptr<StageRunner> make_stage(StageProgram) override { fail(ErrorKind::argument, "{}", why_not()); }
  std::unique_ptr<StageScratch> make_scratch() override { fail(ErrorKind::argument, "{}", why_not()); }
};
const bool registered = (register_backend(DeviceKind::gpu, std::make_unique<NotBuilt>()), true);

}  // namespace
}  // namespace penstock
