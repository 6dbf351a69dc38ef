// SPDX-License-Identifier: Apache-2.0
#include "exec/steps/kinds.h"
#include "exec/steps/one_value.h"

namespace penstock {

static MakeStep& maker_of_flow(Step::Flow flow) {
  switch (flow) {
    case Step::Flow::begin_branch: return make_begin_branch;
    case Step::Flow::begin_else: return make_begin_else;
    case Step::Flow::end_branch: return make_end_branch;
    case Step::Flow::begin_loop: return make_begin_loop;
    case Step::Flow::test_loop: return make_test_loop;
    case Step::Flow::repeat_loop: return make_repeat_loop;
    case Step::Flow::end_loop: return make_end_loop;
    case Step::Flow::change: return make_change;
    case Step::Flow::unset: break;
  }
  return make_unset;
}

static MakeStep& maker_of(const Plan& plan, const Step& s) {
  switch (s.kind) {
    case Step::Kind::source: return make_source_step;
    case Step::Kind::read: return make_read_step;
    case Step::Kind::stage: return s.gpu ? make_gpu_stage_step : make_stage_step;
    case Step::Kind::transfer: return make_transfer_step;
    case Step::Kind::decode: return make_decode_step;
    case Step::Kind::control: return maker_of_flow(s.flow);
    case Step::Kind::call: return make_call_step;
    case Step::Kind::whole: break;
  }
  return makes_one_value(plan, s) ? make_one_value_step : make_whole_step;
}

std::vector<std::unique_ptr<StepRunner>> make_steps(StepContext& context) {
  std::vector<std::unique_ptr<StepRunner>> steps;
  steps.reserve(context.plan.steps.size());
  for (size_t i = 0; i < context.plan.steps.size(); ++i)
    steps.push_back(maker_of(context.plan, context.plan.steps[i])(context, i));
  return steps;
}

}  // namespace penstock
