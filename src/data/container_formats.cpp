// SPDX-License-Identifier: Apache-2.0
#include "data/container_formats.h"

#include <map>

#include "base/registration.h"

namespace penstock {
namespace {

using Formats = std::map<std::string, ContainerFormat, std::less<>>;

SharedList<Formats>& registered_formats() {
  static auto* formats = new SharedList<Formats>;
  return *formats;
}

}  // namespace

std::vector<ContainerFormat> container_formats() {
  std::vector<ContainerFormat> out;
  for (const auto& [name, format] : registered_formats().get()) out.push_back(format);
  return out;
}

ContainerFormat container_format(std::string_view name) {
  const Formats& formats = registered_formats().get();
  const auto found = formats.find(name);
  if (found == formats.end()) fail(ErrorKind::internal, "no container format is called {}", name);
  return found->second;
}

bool register_container_format(ContainerFormat format) {
  const std::string name = format.name;
  if (plugin_is_loading()) {
    const auto why_refused = [name] {
      return registered_formats().get().contains(name) ? fmt::format("there is a container format '{}' already", name)
                                                       : "";
    };
    wait_for_checks({fmt::format("a container format '{}'", name), why_refused, [name, format] {
                       registered_formats().extend([&](Formats& formats) { formats.emplace(name, format); });
                     }});
    return true;
  }
  registered_formats().fill([&](Formats& formats) {
    if (!formats.emplace(name, std::move(format)).second)
      fail(ErrorKind::internal, "two container formats are called {}", name);
  });
  return true;
}

}  // namespace penstock
