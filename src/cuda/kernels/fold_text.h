// SPDX-License-Identifier: Apache-2.0
// The kernel that folds arguments on the GPU (cuda/stages/fold_arguments.h), for all operators of the registry.
#pragma once
#include <string>

#include "cuda/kernels/fold_rows.h"
#include "operator/bound_op.h"

namespace penstock {

constexpr const char* kFoldEntry = "fold";
constexpr int kFoldThreads = 64;

const std::string& fold_text();  // another one after a plug-in was loaded that has such operators
// The operator's number in the text; -1: the text does not contain it.
int64_t fold_number(const OpInfo* info, Lane lane);

}  // namespace penstock
