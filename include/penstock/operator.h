// SPDX-License-Identifier: Apache-2.0
// Operators of a plug-in: docs/how_to/add_an_operator.md explains operators, add_a_plugin_library.md plug-ins. Those
// that need the neighbors of each element include penstock/plugin/families/window/stencil.h too.
#pragma once
#include "operator/operator.h"
#include "penstock/plugin.h"
