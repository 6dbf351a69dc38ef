// SPDX-License-Identifier: Apache-2.0
// A reader of a plug-in: docs/how_to/add_a_reader.md explains readers, add_a_plugin_library.md plug-ins.
#pragma once
#include "data/container_formats.h"
#include "penstock/plugin.h"
#include "readers/container_source.h"
