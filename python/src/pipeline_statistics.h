// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include "exec/statistics.h"

namespace penstock::python {

nanobind::dict numbers_of(const PipelineStatistics& s);  // what Pipeline.stats() has

}  // namespace penstock::python
