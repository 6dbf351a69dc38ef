// SPDX-License-Identifier: Apache-2.0
// Teams that transform and convolve parts of signals.
#pragma once
#include "families/team/kernels/team.h"
#include "numerics/convolution_stages.h"
