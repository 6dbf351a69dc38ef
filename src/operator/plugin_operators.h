// SPDX-License-Identifier: Apache-2.0
// Which operators came with plug-ins (base/plugin.h): kernels that were compiled with the library do not have them.
#pragma once
#include "operator/bound_op.h"

namespace penstock {

std::vector<const OpInfo*> built_in_ops();  // by name; without maps of points
std::vector<const OpInfo*> plugin_ops();    // in the order in which they were loaded: it grows at its end
size_t plugin_op_count();

}  // namespace penstock
