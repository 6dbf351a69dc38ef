// SPDX-License-Identifier: Apache-2.0
// Plug-ins: libraries with operators and formats that were built against the installed headers (penstock/plugin.h).
#pragma once
#include <string>

namespace penstock {

// Loads a plug-in and enters what it registers. Loading one a second time does nothing. Error (file_missing); Error
// (argument) if the file is not a plug-in, if it was built for another version, if the loader refuses it, or if it
// registers a name that exists: then nothing of it is entered.
void load_plugin(const std::string& path);

// Loads those that PENSTOCK_PLUGINS names, at the first call. Each call throws the same error if one cannot be loaded.
void load_plugins_of_setting();

}  // namespace penstock
