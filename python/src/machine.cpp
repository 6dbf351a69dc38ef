// SPDX-License-Identifier: Apache-2.0
// What the library found on this machine, for `penstock doctor` and the log.
#include "base/target.h"
#include "base/thread_pool.h"
#include "bindings.h"
#include "codecs/runtime_library.h"
#include "gil.h"

namespace penstock::python {

void bind_machine(nb::module_& m) {
  m.def("usable_cores", [] { return usable_cores(); }, "Cores that the process may use.");
  m.def(
      "cpu_target",
      [] {
        const char* names[kTargets] = {"scalar", "avx2", "avx512"};
        return names[static_cast<int>(best_target())];
      },
      "The instruction set that loops are chosen for.");
  m.def(
      "runtime_codecs",
      [] {
        std::vector<RuntimeCodec> found;
        {
          ReleaseGil release;
          found = runtime_codecs();
        }
        nb::list all;
        for (const RuntimeCodec& c : found) all.append(nb::make_tuple(c.name, c.found, c.why_not));
        return all;
      },
      "(name, version, why it cannot be used) of each codec that is loaded at run time.");
}

}  // namespace penstock::python
