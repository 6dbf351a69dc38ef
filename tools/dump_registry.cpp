// SPDX-License-Identifier: Apache-2.0
// Prints every operator, every setting and every format of the library as JSON: what tools/generate.py makes stubs,
// fn.h and pages from.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/settings.h"
#include "codecs/file_formats.h"
#include "codecs/image_format.h"
#include "operator/bound_op.h"
#include "docstring.h"
#include "operator/named_numbers.h"

namespace {

using nlohmann::ordered_json;

ordered_json to_json(const penstock::Value& v) {
  return std::visit(
      [](const auto& x) -> ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::monostate>) return nullptr;
        else return x;
      },
      v);
}

// "'linear'" for the numbers of interp_type and its kin, and these numbers.
std::pair<std::vector<std::string>, std::vector<int64_t>> names_of_numbers(penstock::ArgInfo a) {
  std::pair<std::vector<std::string>, std::vector<int64_t>> found;
  for (int64_t k = 0; k < 32 && a.type == penstock::ArgType::integer; ++k) {
    a.default_value = k;
    if (const std::string text = penstock::default_text(a); text.starts_with('\''))
      found.first.push_back(text), found.second.push_back(k);
  }
  return found;
}

ordered_json to_json(const penstock::ArgInfo& a) {
  ordered_json j{{"name", a.name},
                 {"type", penstock::name_of(a.type)},
                 {"per_sample", a.per_sample},
                 {"per_frame", a.per_frame},
                 {"required", a.required},
                 {"default", to_json(a.default_value)},
                 {"default_text", penstock::default_text(a)},
                 {"doc", a.doc}};
  if (const auto [names, numbers] = names_of_numbers(a); !names.empty()) j["names"] = names, j["numbers"] = numbers;
  if (a.range.lo > -1e300) j["min"] = a.range.lo, j["min_excluded"] = a.range.open_lo;
  if (a.range.hi < 1e300) j["max"] = a.range.hi;
  return j;
}

ordered_json to_json(const penstock::OpInfo& o) {
  constexpr const char* families[] = {"stage", "whole", "source"};
  ordered_json args = ordered_json::array();
  for (const auto& a : o.args) args.push_back(to_json(a));
  ordered_json parameters = ordered_json::array();  // by position
  for (const auto& p : penstock::python::input_parameters(o))
    parameters.push_back({{"name", p.name}, {"optional", p.optional}});
  return {{"name", o.name},
          {"doc", penstock::python::description(o)},
          {"docstring", penstock::python::docstring(o)},
          {"parameters", parameters},
          {"takes_batch_size", penstock::python::takes_batch_size(o)},
          {"varying_outputs", o.count_outputs != nullptr || !o.size_output.empty()},
          {"family", families[static_cast<int>(o.family)]},
          {"min_inputs", o.min_inputs},
          {"max_inputs", o.max_inputs},
          {"input_names", o.input_names},
          {"argument_inputs", o.argument_inputs},
          {"outputs", o.outputs},
          {"size_output", o.size_output},
          {"random", o.random},
          {"hidden", o.hidden},
          {"both_devices", penstock::runs_on_both_devices(o)},
          {"host_only", o.host_only},
          {"oracle", o.oracle},
          {"arguments", args}};
}

ordered_json to_json(const penstock::SettingInfo& s) {
  constexpr const char* uses[] = {"daily", "library", "check", "internal"};
  return {{"name", s.name},     {"use", uses[static_cast<int>(s.use)]},
          {"values", s.values}, {"otherwise", s.otherwise},
          {"when", s.when},     {"meaning", s.meaning}};
}

ordered_json to_json(const penstock::ImageFormat& f) {
  return {{"title", f.title}, {"taken", f.taken}, {"window_reads", f.window_reads}, {"library", f.library}};
}

ordered_json to_json(const penstock::FileFormat& f) {
  return {{"kind", f.kind == penstock::FileFormat::picture ? "picture" : "sound"}, {"suffixes", f.suffixes}};
}

}  // namespace

int main() {
  ordered_json all{{"operators", ordered_json::array()}, {"settings", ordered_json::array()}};
  ordered_json images = ordered_json::array(), files = ordered_json::array();
  for (const penstock::ImageFormat* f : penstock::image_formats()) images.push_back(to_json(*f));
  for (const penstock::FileFormat& f : penstock::file_formats()) files.push_back(to_json(f));
  all["formats"] = {{"images", images}, {"files", files}};
  for (const penstock::OpInfo* o : penstock::all_ops()) all["operators"].push_back(to_json(*o));
  for (const penstock::SettingInfo& s : penstock::kSettings) all["settings"].push_back(to_json(s));
  std::puts(all.dump(1).c_str());
}
