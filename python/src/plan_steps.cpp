// SPDX-License-Identifier: Apache-2.0
#include "plan_steps.h"

#include <nanobind/stl/vector.h>

namespace penstock::python {

nb::list list_of_steps(const Plan& plan) {
  nb::list made;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& s = plan.steps[i];
    nb::dict d;
    d["text"] = plan.step_text(i);
    d["kind"] = s.kind == Step::Kind::transfer  ? "transfer"
                : s.kind == Step::Kind::control ? "control"
                : s.kind == Step::Kind::stage   ? "stage"
                : s.kind == Step::Kind::decode  ? "decode"
                                                : "step";
    d["nodes"] = s.nodes;
    bool on_gpu = s.gpu;
    for (int id : s.nodes) on_gpu |= plan.graph.node(id).on_gpu;
    d["on_gpu"] = on_gpu;
    if (s.kind == Step::Kind::transfer)
      d["copies"] = nb::make_tuple(s.inputs[0].node, s.inputs[0].output, s.gpu, s.reason);
    made.append(d);
  }
  return made;
}

}  // namespace penstock::python
