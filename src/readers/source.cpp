// SPDX-License-Identifier: Apache-2.0
#include "readers/source.h"

namespace penstock {

std::unique_ptr<Source> make_source(const OpInfo& op, SourceArguments& arguments) {
  // A Maker is converted only here. OpInfo does not say whose maker it holds, so the conversion checks: add_source()
  // gave a SourceMaker to every operator that makes samples, and operators of other families have none. Nor have those
  // that call a function of the program (exec/callback.cpp): the executor runs them without a source.
  const auto* maker = dynamic_cast<const SourceMaker*>(op.maker);
  if (!maker) fail(ErrorKind::internal, "no source for {}", op.name);
  return maker->make(arguments);
}

}  // namespace penstock
