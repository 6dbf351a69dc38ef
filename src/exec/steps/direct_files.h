// SPDX-License-Identifier: Apache-2.0
// Files that nothing but a GPU reads: past the host's memory, where cuFile is.
#pragma once
#include "exec/gpu_work.h"
#include "exec/pipeline_sources.h"
#include "readers/direct_memory.h"

namespace penstock {

// Whether the program asked for a reader on the GPU, and nothing reads this value of it but the copy to there.
bool only_uploaded(const Plan& plan, ValueRef value);
// Null: there is no cuFile.
std::shared_ptr<DirectMemory> direct_memory(GpuWork& gpu, bool registers);
// Readers that can, read their files straight into the GPU's memory.
void read_directly(PipelineSources& sources, const Plan& plan, GpuWork& gpu);

}  // namespace penstock
