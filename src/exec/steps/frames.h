// SPDX-License-Identifier: Apache-2.0
// Which samples a body of control flow runs on, as the steps of branches and loops see it. A split is an index list;
// samples share their memory with the batch that they come from. Inside a body an iteration looks as if it had no other
// samples.
#pragma once
#include "exec/step_context.h"

namespace penstock {

// The body sees only the chosen samples, of which there are some.
void enter_body(const Plan& plan, Iteration& it, const Step& s, std::vector<int> chosen);
void leave_body(Iteration& it);

// While a step runs, its iteration looks as if it had only the samples of the step's domain.
void use_domain(Iteration& it, int domain);
// Which of the samples that the sources gave sample i of the current step was made of.
int given_sample(const Plan& plan, const Iteration& it, int i);
void find_trips_key(Iteration& it, const Graph& g);

// A batch without samples, of a type that is known before data flow, as far as it is.
Batch empty_of(const ValueType& t);
// Error (type): variable k of the node has other types at two places.
void check_alike(const Node& n, size_t k, const Batch& a, const char* where_a, const Batch& b, const char* where_b);
// The layout that the graph promises.
void use_layout(Batch& b, const ValueType& t);

}  // namespace penstock
