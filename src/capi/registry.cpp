// SPDX-License-Identifier: Apache-2.0
// Queries about the operators.
#include <map>
#include <mutex>

#include "capi/edge.h"
#include "operator/bound_op.h"

namespace penstock {
namespace {

// Never freed, because the caller has pointers to it.
const char* default_text(const ArgInfo& a) {
  static std::mutex mutex;
  static auto* texts = new std::map<const ArgInfo*, std::string>;
  std::lock_guard lock(mutex);
  auto it = texts->find(&a);
  if (it == texts->end()) it = texts->emplace(&a, to_text(a.default_value)).first;
  return it->second.c_str();
}

}  // namespace
}  // namespace penstock

using namespace penstock;

size_t penstock_num_operators(void) {
  size_t n = 0;
  guarded([&] { n = all_ops().size(); });
  return n;
}

const char* penstock_operator_name(size_t index) {
  const char* name = nullptr;
  guarded([&] {
    const auto ops = all_ops();
    if (index < ops.size()) name = ops[index]->name.c_str();
  });
  return name;
}

penstock_status penstock_get_operator_info(const char* op, penstock_operator_info* info) {
  return guarded([&] {
    const OpInfo& o = get_op(&required(op, "the name of the operator"));
    penstock_operator_info i{};
    i.name = o.name.c_str();
    i.doc = o.doc.c_str();
    i.min_inputs = o.min_inputs, i.max_inputs = o.max_inputs, i.num_outputs = o.outputs;
    i.num_arguments = static_cast<int>(o.args.size());
    i.is_source = o.family == Family::source;
    i.is_random = o.random;
    write_struct(info, i, "info");
  });
}

penstock_status penstock_get_argument_info(const char* op, size_t index, penstock_argument_info* info) {
  return guarded([&] {
    const OpInfo& o = get_op(&required(op, "the name of the operator"));
    const size_t count = o.args.size();
    if (index >= count) bad_argument("{} has {} arguments, but no argument {}", o.name, count, index);
    const ArgInfo& a = o.args[index];
    penstock_argument_info i{};
    i.name = a.name.c_str();
    i.doc = a.doc.c_str();
    i.type = static_cast<penstock_argument_type>(a.type);
    i.per_sample = a.per_sample;
    i.required = a.required;
    i.default_value = default_text(a);
    write_struct(info, i, "info");
  });
}
