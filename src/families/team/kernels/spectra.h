// SPDX-License-Identifier: Apache-2.0
// Teams that transform windows of a signal and what they become.
#pragma once
#include "families/team/kernels/team.h"
#include "numerics/fourier_stages.h"
#include "numerics/mirrored.h"
