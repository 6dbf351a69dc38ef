// SPDX-License-Identifier: Apache-2.0
#include "data/container_formats.h"

#include <map>

namespace penstock {
namespace {

std::map<std::string, ContainerFormat, std::less<>>& registered() {
  static std::map<std::string, ContainerFormat, std::less<>> formats;
  return formats;
}

}  // namespace

std::vector<ContainerFormat> container_formats() {
  std::vector<ContainerFormat> out;
  for (const auto& [name, format] : registered()) out.push_back(format);
  return out;
}

ContainerFormat container_format(std::string_view name) {
  const auto found = registered().find(name);
  if (found == registered().end()) fail(ErrorKind::internal, "no container format is called {}", name);
  return found->second;
}

bool register_container_format(ContainerFormat format) {
  const std::string name = format.name;
  if (!registered().emplace(name, std::move(format)).second)
    fail(ErrorKind::internal, "two container formats are called {}", name);
  return true;
}

}  // namespace penstock
