// SPDX-License-Identifier: Apache-2.0
#include "readers/source.h"

#include <map>

namespace penstock {

static std::map<std::string, MakeSource>& makers() {
  static auto* m = new std::map<std::string, MakeSource>;
  return *m;
}

void register_source(const std::string& op, MakeSource make) { makers()[op] = make; }

std::unique_ptr<Source> make_source(const OpInfo& op, SourceArguments& arguments) {
  const auto make = makers().find(op.name);
  if (make == makers().end()) fail(ErrorKind::internal, "no source for {}", op.name);
  return make->second(arguments);
}

}  // namespace penstock
