// SPDX-License-Identifier: Apache-2.0
// An image format of a plug-in: docs/how_to/add_an_image_format.md explains formats, add_a_plugin_library.md plug-ins.
#pragma once
#include "codecs/byte_order.h"
#include "codecs/decode_errors.h"
#include "codecs/image_format.h"
#include "codecs/pixel_rows.h"
#include "penstock/plugin.h"
