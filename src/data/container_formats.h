// SPDX-License-Identifier: Apache-2.0
// The formats of containers by name. A format that registers itself here needs no header for its reader, and the fuzzer
// of containers (tests/fuzz/container_fuzzer.cpp) reads files as it.
#pragma once
#include "data/container.h"

namespace penstock {

std::vector<ContainerFormat> container_formats();  // sorted by name
// Error (internal) where none has this name.
ContainerFormat container_format(std::string_view name);
bool register_container_format(ContainerFormat format);

// PENSTOCK_CONTAINER_FORMAT(tfrecord, scan, parse, text_of);  // its name, then the other members of ContainerFormat
#define PENSTOCK_CONTAINER_FORMAT(name, ...)         \
  [[maybe_unused]] const bool registered_##name##_ = \
      ::penstock::register_container_format(::penstock::ContainerFormat{#name, __VA_ARGS__})

}  // namespace penstock
