// SPDX-License-Identifier: Apache-2.0
// What the text of an operator's rule may use.
#pragma once
#include "base/half.h"
#include "pixel/affine.h"
#include "pixel/convert.h"
#include "pixel/far_angles.h"
#include "pixel/math.h"
#include "pixel/philox.h"
#include "pixel/stored.h"
#include "pixel/taps.h"
#include "pixel/transcendental.h"
#include "pixel/wrap.h"
