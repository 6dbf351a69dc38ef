// SPDX-License-Identifier: Apache-2.0
// What an operator says about itself besides its functions: name, documentation, arguments, and what planner and
// executor ask of it by name (OpInfo).
#pragma once
#include <array>
#include <concepts>
#include <type_traits>

#include "operator/families.h"

namespace penstock {

template <class Op> class Schema {
 public:
  Schema(std::string name, std::string doc) {
    info_.name = std::move(name);
    info_.doc = std::move(doc);
  }
  template <class T, class Owner>
    requires std::derived_from<Op, Owner>
  Schema&& arg(const char* name, T Owner::* member, const char* doc, Range range = {}) && {
    ArgInfo a;
    a.name = name;
    a.doc = doc;
    a.type = ArgTraits<T>::type;
    a.per_sample = ArgTraits<T>::per_sample;
    a.per_frame = requires { ArgTraits<T>::per_frame; };
    a.default_value = ArgTraits<T>::default_value(prototype_.*member);
    a.range = range;
    a.offset =
        static_cast<size_t>(reinterpret_cast<char*>(&(prototype_.*member)) - reinterpret_cast<char*>(&prototype_));
    a.set = &ArgTraits<T>::set;
    info_.args.push_back(std::move(a));
    return std::move(*this);
  }
  // An array of arguments named prefix0, prefix1, ...
  template <class T, size_t N>
  Schema&& args(const std::string& prefix, std::array<T, N> Op::* member, const char* doc) && {
    for (size_t i = 0; i < N; ++i) {
      ArgInfo a;
      a.name = prefix + std::to_string(i);
      a.doc = doc;
      a.type = ArgTraits<T>::type;
      a.per_sample = ArgTraits<T>::per_sample;
      a.default_value = {};
      a.offset =
          static_cast<size_t>(reinterpret_cast<char*>(&(prototype_.*member)[i]) - reinterpret_cast<char*>(&prototype_));
      a.set = &ArgTraits<T>::set;
      info_.args.push_back(std::move(a));
    }
    return std::move(*this);
  }
  template <class T, class Owner>
    requires std::derived_from<Op, Owner>
  Schema&& required(const char* name, T Owner::* member, const char* doc, Range range = {}) && {
    Schema&& s = std::move(*this).arg(name, member, doc, range);
    s.info_.args.back().required = true;
    s.info_.args.back().default_value = {};
    return std::move(s);
  }
  // Arguments that several operators share: f takes the schema and returns it with them.
  template <class F> Schema&& with(F&& f) && { return f(std::move(*this)); }
  Schema&& inputs(int min, int max = 0) && {
    info_.min_inputs = min, info_.max_inputs = max ? max : min;
    return std::move(*this);
  }
  Schema&& input_names(std::vector<std::string> n) && {
    info_.input_names = std::move(n);
    return std::move(*this);
  }
  Schema&& argument_inputs(std::vector<std::string> n) && {
    info_.argument_inputs = std::move(n);
    return std::move(*this);
  }
  Schema&& gpu_arguments(std::vector<std::string> n) && {
    info_.gpu_arguments = std::move(n);
    return std::move(*this);
  }
  Schema&& outputs(int n) && {
    info_.outputs = n;
    return std::move(*this);
  }
  Schema&& size_output(const char* arg) && {
    info_.size_output = arg;
    return std::move(*this);
  }
  Schema&& oracle(const char* o) && {
    info_.oracle = o;
    return std::move(*this);
  }
  // Why float32 and integers do not give what the operator promises: a sentence of its page without the period.
  Schema&& float64(const std::string& why) && {
    info_.float64 = why;
    info_.doc += "\n\nComputes in float64: " + why + ".";
    return std::move(*this);
  }
  // Why the operator has no form for a GPU: a sentence of its page without the period.
  Schema&& host_only(const std::string& why) && {
    info_.host_only = why;
    info_.doc += "\n\nRuns on the CPU alone: " + why + ".";
    return std::move(*this);
  }
  Schema&& random() && {
    info_.random = true;
    return std::move(*this);
  }
  Schema&& hidden() && {
    info_.hidden = true;
    return std::move(*this);
  }
  Schema&& loads_samples() && {
    info_.loads_samples = true;
    return std::move(*this);
  }
  Schema&& lazy_files() && {
    info_.lazy_files = true;
    return std::move(*this);
  }
  Schema&& fed(Fed what) && {
    info_.fed = what;
    return std::move(*this);
  }
  Schema&& calls_compiled() && {
    info_.calls_compiled = true;
    return std::move(*this);
  }
  Schema&& fits_all() && {
    info_.fits_all = true;
    return std::move(*this);
  }
  Schema&& reads_shapes() && {
    info_.reads_shapes = true;
    return std::move(*this);
  }
  Schema&& read_on_host(std::vector<std::string> inputs) && {
    std::string names;
    for (size_t k = 0; k < inputs.size(); ++k) names += (k == 0 ? "" : " and ") + inputs[k];
    info_.doc += "\n\nThe host reads " + names + ": on a GPU the results are written there, and values of " + names +
                 " that are on it come back first, once for a batch.";
    info_.read_on_host = std::move(inputs);
    return std::move(*this);
  }
  Schema&& batch_wide() && {
    info_.batch_wide = true;
    return std::move(*this);
  }
  Schema&& in_place() && {
    info_.in_place = true;
    return std::move(*this);
  }
  Schema&& keeps_positions() && {
    info_.keeps_positions = true;
    return std::move(*this);
  }
  Schema&& takes_bfloat16() && {
    info_.takes_bfloat16 = true;
    return std::move(*this);
  }
  Schema&& reads_images() && {
    info_.reads_images = true;
    return std::move(*this);
  }
  Schema&& decodes_to_device() && {
    info_.decodes_to_device = true;
    return std::move(*this);
  }
  OpInfo take() && { return std::move(info_); }

 private:
  static_assert(std::derived_from<Op, Operator>,
                "an operator derives from its family: PixelOperator, MapOperator, WholeOperator or another one of "
                "operator/families.h");
  static_assert(!std::is_abstract_v<Op>,
                "an operator overrides each pure function of its family, as operator/families.h declares it: the "
                "compiler names the missing ones below");
  OpInfo info_;
  Op prototype_;
};

}  // namespace penstock
