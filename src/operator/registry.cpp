// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/plugin.h"
#include "base/registration.h"
#include "operator/bound_op.h"
#include "operator/named_numbers.h"
#include "operator/plugin_operators.h"

namespace penstock {

namespace {

struct Registry {
  std::map<std::string, const OpInfo*> all;
  std::vector<const OpInfo*> of_plugins;  // in the order in which they were loaded
};

SharedList<Registry>& registry() {
  static auto* r = new SharedList<Registry>;
  return *r;
}

// The operators, with those of the plug-ins that the user's setting names.
const Registry& complete() {
  if (!plugin_is_loading()) load_plugins_of_setting();
  return registry().get();
}

}  // namespace

const ArgInfo* OpInfo::arg(const std::string& arg_name) const {
  for (const auto& a : args)
    if (a.name == arg_name) return &a;
  return nullptr;
}

bool OpInfo::reads_on_host(size_t input) const {
  return input < input_names.size() &&
         std::find(read_on_host.begin(), read_on_host.end(), input_names[input]) != read_on_host.end();
}

// Pages say "Types: all" of the types that operators compute with: bfloat16 is a type of storage.
static void say_types(OpInfo& info) {
  if (info.family != Family::whole || info.takes_bfloat16 || info.reads_shapes) return;
  for (size_t at = 0; (at = info.doc.find("Types: all", at)) != std::string::npos; ++at)
    info.doc.insert(at + std::string_view("Types: all").size(), " but bfloat16");
}

void register_op(OpInfo info) {
  say_types(info);
  const auto* kept = new OpInfo(std::move(info));  // as long as the process
  if (!plugin_is_loading()) {
    registry().fill([&](Registry& r) {
      if (!r.all.emplace(kept->name, kept).second) std::abort();  // two files claim one name: a build fault
    });
    return;
  }
  const auto why_refused = [kept] {
    return registry().get().all.contains(kept->name) ? fmt::format("there is an operator '{}' already", kept->name)
                                                     : "";
  };
  wait_for_checks({fmt::format("an operator '{}'", kept->name), why_refused, [kept] {
                     registry().extend([&](Registry& r) {
                       r.all.emplace(kept->name, kept);
                       r.of_plugins.push_back(kept);
                     });
                   }});
}

const OpInfo* find_op(const std::string& name) {
  const auto& all = complete().all;
  auto it = all.find(name);
  return it == all.end() ? nullptr : it->second;
}

const OpInfo& get_op(const std::string& name) {
  if (const OpInfo* o = find_op(name)) return *o;
  std::vector<std::string> names;
  for (const auto& [n, o] : complete().all)
    if (!o->hidden) names.push_back(n);
  fail(ErrorKind::key, "there is no operator '{}'{}", name, did_you_mean(name, names));
}

std::vector<const OpInfo*> all_ops() {
  std::vector<const OpInfo*> v;
  for (const auto& [n, o] : complete().all)
    if (o->follows.empty()) v.push_back(o);
  return v;
}

std::vector<const OpInfo*> plugin_ops() { return registry().get().of_plugins; }

size_t plugin_op_count() { return registry().get().of_plugins.size(); }

std::vector<const OpInfo*> built_in_ops() {
  const std::vector<const OpInfo*> others = plugin_ops();
  std::vector<const OpInfo*> v = all_ops();
  std::erase_if(v, [&](const OpInfo* o) { return std::ranges::find(others, o) != others.end(); });
  return v;
}

// What to write for a value that was given in place of an input.
static std::string naming(const OpInfo& info) {
  if (info.args.empty()) return "";
  const ArgInfo* first = info.arg("size");  // the most likely one
  for (const auto& a : info.args)
    if (a.required) {
      first = &a;
      break;
    }
  return fmt::format("; arguments are given by name, such as {}=...", (first ? first : &info.args[0])->name);
}

std::vector<int> argument_inputs(const OpInfo& info, int n_inputs, std::span<const Argument> args) {
  const int most = info.max_inputs + static_cast<int>(info.argument_inputs.size());
  if (n_inputs < info.min_inputs || n_inputs > most)
    bad_argument("takes {} input{}{}, got {}{}", info.min_inputs, info.min_inputs == 1 ? "" : "s",
                 most > info.min_inputs ? fmt::format(" to {}", most) : "", n_inputs,
                 n_inputs > most ? naming(info) : "");
  std::vector<int> places;
  for (int k = info.max_inputs; k < n_inputs; ++k) {
    const std::string& name = info.argument_inputs[k - info.max_inputs];
    const int at = static_cast<int>(info.arg(name) - info.args.data());
    if (args[at].given()) bad_argument("the argument '{}' is given by name and as an input", name);
    places.push_back(at);
  }
  return places;
}

// What makes a part of an operator of a value; an error names the argument.
template <class Make> static void naming(const ArgInfo& a, Make&& make) {
  try {
    make();
  } catch (const Error& e) {
    if (std::string_view(e.what()).starts_with(fmt::format("{} must ", a.name))) throw;
    throw Error(e.kind(), fmt::format("{}: {}", a.name, e.what()));
  }
}

int outputs_of(const OpInfo& info, std::span<const Argument> args) {
  if (info.count_outputs) return info.count_outputs(*bind_op(info, args));
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].value.index() == 0) continue;
    std::optional<int> count;
    naming(info.args[i], [&] {
      if (info.args[i].name == info.size_output) count = info.outputs + value_as<bool>(args[i].value);
      if (info.args[i].name == "num_outputs") count = value_as<int>(args[i].value);  // of an external source
    });
    if (count) return *count;
  }
  return info.outputs;
}

std::unique_ptr<BoundOp> bind_op(const OpInfo& info, std::span<const Argument> args) {
  auto op = info.make();
  op->info = &info;
  try {
    for (size_t i = 0; i < info.args.size(); ++i)
      if (!std::holds_alternative<std::string>(args[i].value))
        naming(info.args[i], [&] { check_range(info.args[i], args[i]); });
    for (size_t i = 0; i < info.args.size(); ++i) {
      const ArgInfo& a = info.args[i];
      if (!args[i].given()) {
        if (a.required) bad_argument("the argument '{}' is required", a.name);
        continue;
      }
      Argument named;  // a number that was given by its name
      const Argument* given = &args[i];
      if (!given->batch && std::holds_alternative<std::string>(given->value))
        naming(a, [&] { named.value = without_name(a, given->value), given = &named, check_range(a, named); });
      if (args[i].batch && !a.per_sample) bad_type("the argument '{}' must be the same for all samples", a.name);
      if (args[i].batch) op->sample_arguments.emplace_back(&a, args[i].batch);
      if (args[i].batch && a.per_frame && has_frames(*args[i].batch))
        op->frame_arguments.emplace_back(&a, args[i].batch);
      naming(a, [&] { a.set(static_cast<char*>(op->members()) + a.offset, *given); });
    }
    op->ready();
  } catch (Error& e) {
    e.op = info.name;
    throw;
  }
  return op;
}

bool runs_on_both_devices(const OpInfo& info) {
  if (info.family != Family::whole) return info.family == Family::stage;
  const auto op = info.make();
  return op->has_work() || op->draws_scalars() || info.decodes_to_device;
}

void check_bfloat16(const OpInfo& info, std::span<const ValueType> in, std::span<const ValueType> out) {
  if (info.takes_bfloat16) return;
  const auto is_one = [](const ValueType& v) { return v.dtype == DType::bfloat16; };
  if (!info.reads_shapes && std::ranges::any_of(in, is_one))
    bad_type("does not compute with bfloat16: cast to float32 or float16 first");
  if (std::ranges::any_of(out, is_one)) bad_type("does not write bfloat16: cast its result");
}

bool keeps_positions(const OpInfo& info) {
  if (info.family != Family::stage || info.max_inputs != 1) return info.keeps_positions;
  const StageTraits t = info.make()->traits();
  return !t.decodes && (!t.maps || t.convolves);
}

bool reads_images(const OpInfo& info) {
  if (info.reads_images) return true;
  if (info.family == Family::source || info.max_inputs == 0) return false;
  const auto op = info.make();
  return !op->traits().decodes && op->input_layout({DType::uint8, 3, {}}).has('H');
}

}  // namespace penstock
