// SPDX-License-Identifier: Apache-2.0
// The formats of one kind (codecs/format_list.h), which plug-ins extend while other threads decode.
#pragma once
#include <memory>
#include <string>

#include "base/error.h"
#include "base/registration.h"
#include "codecs/format_list.h"

namespace penstock {

template <class Format>
class PluginFormats {
 public:
  explicit PluginFormats(const char* kind) : kind_(kind), formats_(kind) {}

  void add(Format format) {
    if (!plugin_is_loading()) return formats_.fill([&](FormatList<Format>& list) { list.add(std::move(format)); });
    auto kept = std::make_shared<Format>(std::move(format));
    wait_for_checks({fmt::format("the format '{}'", kept->id), [this, kept] { return why_refused(*kept); },
                     [this, kept] { extend(*kept); }});
  }
  std::span<const Format* const> all() const { return formats_.get().all(); }

 private:
  std::string why_refused(const Format& format) const {
    for (const Format* other : all()) {
      if (format.id == other->id) return fmt::format("there is the {} format '{}' already", kind_, format.id);
      for (const std::string_view suffix : format.suffixes)
        if (std::ranges::find(other->suffixes, suffix) != other->suffixes.end())
          return fmt::format("the suffix {} of its {} format '{}' is that of '{}'", suffix, kind_, format.id,
                             other->id);
    }
    return "";
  }
  // Authors of plug-ins do not know each other: the next place that is free.
  void extend(Format format) {
    const auto taken = [&] {
      return std::ranges::any_of(all(), [&](const Format* f) { return f->place == format.place; });
    };
    while (taken()) ++format.place;
    formats_.extend([&](FormatList<Format>& list) { list.add(std::move(format)); });
  }

  const char* kind_;
  SharedList<FormatList<Format>> formats_;
};

}  // namespace penstock
