// SPDX-License-Identifier: Apache-2.0
// Arguments of operators, and calls by name, for C++17 and later. penstock/penstock.hpp includes it.
#pragma once
#include <optional>

#include "penstock/batch.hpp"

namespace penstock {
inline namespace api {

// A result in a Graph.
struct Value {
  int node = 0;
  int output = 0;
  std::shared_ptr<penstock_graph> graph{};
  penstock_value handle() const { return {node, output}; }
};

namespace detail {
// The values of an enumeration that arguments take. penstock/fn/choices.h has the enumerations, and names_of() of each.
struct ChoiceName {
  int value;
  const char* name;
};
struct ChoiceNames {
  const ChoiceName* begin_;
  int count;
  bool are_numbers;  // the operator takes the number, else the name
  const ChoiceName* begin() const { return begin_; }
  const ChoiceName* end() const { return begin_ + count; }
};
template <class E, class = void> struct IsChoice : std::false_type {};
template <class E> struct IsChoice<E, std::void_t<decltype(names_of(E{}))>> : std::is_enum<E> {};
inline const char* name_in(ChoiceNames names, int value) {
  for (const ChoiceName& known : names)
    if (known.value == value) return known.name;
  return "";
}
inline int value_in(ChoiceNames names, const std::string& text) {
  std::string all;
  for (const ChoiceName& known : names) {
    if (text == known.name) return known.value;
    all += (all.empty() ? "" : ", ") + std::string(known.name);
  }
  throw Error(PENSTOCK_ERROR_ARGUMENT, "'" + text + "' is none of " + all);
}
}  // namespace detail
// The name of a choice: "reflect_101" of BorderMode::reflect_101.
template <class E, std::enable_if_t<detail::IsChoice<E>::value, int> = 0> const char* text_of(E choice) {
  return detail::name_in(names_of(choice), static_cast<int>(choice));
}
// The choice that a text names, as in a configuration: parse<BorderMode>("reflect_101").
template <class E> E parse(const std::string& text) {
  static_assert(detail::IsChoice<E>::value, "parse is for the enumerations of penstock/fn/choices.h");
  return static_cast<E>(detail::value_in(names_of(E{}), text));
}

namespace detail {
template <class T> struct is_list : std::false_type {};
template <class E> struct is_list<std::vector<E>> : std::true_type {};
template <class T> struct element {
  using type = T;
};
template <class E> struct element<std::vector<E>> {
  using type = E;
};
// What a field of type T accepts: no integers from floating-point numbers.
template <class U, class T>
constexpr bool takes =
    !is_list<T>::value && std::is_convertible_v<U, T> &&
    (!std::is_integral_v<T> || std::is_integral_v<std::decay_t<U>> || std::is_enum_v<std::decay_t<U>>);
template <class U, class T>
constexpr bool element_of =
    is_list<T>::value && std::is_arithmetic_v<U> && std::is_arithmetic_v<typename element<T>::type> &&
    (std::is_integral_v<U> || !std::is_integral_v<typename element<T>::type>);
// The element type of std::vector, std::array, std::span, an array or a list in braces; void if R is none of these.
template <class R, class = void> struct item {
  using type = void;
};
template <class R>
struct item<
    R, std::void_t<decltype(*std::begin(std::declval<const R&>())), decltype(std::end(std::declval<const R&>()))>> {
  using type = std::decay_t<decltype(*std::begin(std::declval<const R&>()))>;
};
template <class R> using item_t = typename item<R>::type;
template <class R, class T>
constexpr bool range_of = !std::is_same_v<R, T> && !std::is_convertible_v<R, std::string> &&
                          (element_of<item_t<R>, T> || (std::is_same_v<T, std::vector<std::string>> &&
                                                        std::is_constructible_v<std::string, item_t<R>>));
template <class T, class R> T list_of(const R& range) {
  T list;
  for (const auto& value : range) list.push_back(static_cast<typename element<T>::type>(value));
  return list;
}
// The list that an Arguments takes for elements of type U: of integers, of floats, or of strings.
template <class U>
using list_for =
    std::conditional_t<!std::is_arithmetic_v<U>, std::vector<std::string>,
                       std::conditional_t<std::is_integral_v<U>, std::vector<int64_t>, std::vector<double>>>;
}  // namespace detail

// Arguments by their names, for operators that are called by name.
class Arguments {
 public:
  Arguments() {
    penstock_arguments* handle = nullptr;
    check(penstock_arguments_create(&handle));
    handle_ = detail::owned(handle, [](void* h) { penstock_arguments_destroy(static_cast<penstock_arguments*>(h)); });
  }
  void set(const char* name, bool v) { check(penstock_set_bool(handle(), name, v)); }
  void set(const char* name, int v) { check(penstock_set_int(handle(), name, v)); }
  void set(const char* name, int64_t v) { check(penstock_set_int(handle(), name, v)); }
  void set(const char* name, double v) { check(penstock_set_float(handle(), name, v)); }
  void set(const char* name, const char* v) { check(penstock_set_string(handle(), name, v)); }
  void set(const char* name, const std::string& v) { check(penstock_set_string(handle(), name, v.c_str())); }
  void set(const char* name, DType v) { check(penstock_set_dtype(handle(), name, static_cast<penstock_dtype>(v))); }
  void set(const char* name, const std::vector<int64_t>& v) {
    check(penstock_set_ints(handle(), name, v.data(), v.size()));
  }
  void set(const char* name, const std::vector<double>& v) {
    check(penstock_set_floats(handle(), name, v.data(), v.size()));
  }
  void set(const char* name, const std::vector<std::string>& v) {
    const detail::Row<const char*> texts(v.size());
    for (size_t i = 0; i < v.size(); ++i) texts[i] = v[i].c_str();
    check(penstock_set_strings(handle(), name, texts.data(), texts.size()));
  }
  // Any other range of numbers or strings: std::vector<float>, std::array, {224, 224}.
  template <class R, std::enable_if_t<detail::range_of<R, detail::list_for<detail::item_t<R>>>, int> = 0>
  void set(const char* name, const R& values) {
    set(name, detail::list_of<detail::list_for<detail::item_t<R>>>(values));
  }
  template <class U> void set(const char* name, std::initializer_list<U> values) {
    set(name, detail::list_of<detail::list_for<U>>(values));
  }
  // A choice of penstock/fn/choices.h.
  template <class E, std::enable_if_t<detail::IsChoice<E>::value, int> = 0> void set(const char* name, E choice) {
    set_choice(name, static_cast<int>(choice), names_of(choice));
  }
  void set_choice(const char* name, int value, detail::ChoiceNames names) {
    if (names.are_numbers) set(name, value);
    else set(name, detail::name_in(names, value));
  }
  void set(const char* name, const Batch& per_sample) {
    check(penstock_set_per_sample(handle(), name, per_sample.handle()));
  }
  void set(const char* name, const Value& value) { check(penstock_set_value(handle(), name, value.handle())); }
  penstock_arguments* handle() const { return static_cast<penstock_arguments*>(handle_.get()); }

 private:
  std::shared_ptr<void> handle_;
};

// Where a call works and where its results go.
struct CallOptions {
  Allocator allocator{};                           // for the results
  int batch_size = 1;                              // for operators without inputs
  uint64_t seed = 0, epoch = 0, first_sample = 0;  // the key of random operators
  uint32_t node = 0;  // 0: the numbers of an operator with this seed in a pipeline; other values: other numbers
  Device device{};    // where it runs; CPU: where its inputs are. The stream applies in both cases
  // Memory for the results, in any strides; empty, or one per result (an empty Batch: new memory).
  std::vector<Batch> into{};
  // If set, a sample that cannot be computed does not end the call: the others are, it has no elements, and the status
  // of each sample is put here and into Batch::status of the results. On the CPU.
  std::vector<SampleStatus>* statuses = nullptr;
};

namespace detail {
// Of this thread's last call.
inline std::vector<SampleStatus> statuses_of(const Row<penstock_status>& statuses) {
  std::vector<SampleStatus> all(statuses.size());
  for (size_t i = 0; i < statuses.size(); ++i) all[i] = {statuses[i], penstock_sample_message(i)};
  return all;
}
inline std::vector<Batch> run(const char* op, const Row<const penstock_batch*>& in, int num_samples,
                              const Arguments& arguments, const CallOptions& options) {
  size_t num_outputs = 0;
  check(penstock_count_outputs(op, arguments.handle(), &num_outputs));
  if (!options.into.empty() && options.into.size() != num_outputs)
    throw Error(PENSTOCK_ERROR_ARGUMENT, "options.into needs one batch for each output");
  const Row<const penstock_batch*> into(options.into.size());
  for (size_t i = 0; i < into.size(); ++i) {
    if (options.into[i].read_only())
      throw Error(PENSTOCK_ERROR_ARGUMENT, "options.into holds a batch over const memory");
    into[i] = options.into[i].handle();
  }
  penstock_call_options o{};
  o.struct_size = sizeof o;
  o.allocator = options.allocator.handle();
  o.batch_size = options.batch_size;
  o.seed = options.seed, o.epoch = options.epoch, o.first_sample = options.first_sample, o.node = options.node;
  o.device_kind = options.device.kind, o.device_id = options.device.id, o.stream = options.device.stream;
  o.into = into.data();
  std::vector<Batch> results(num_outputs);
  const Row<penstock_batch*> out(num_outputs);
  const Row<penstock_status> statuses(options.statuses && num_samples > 0 ? static_cast<size_t>(num_samples) : 0);
  o.statuses = statuses.data(), o.num_statuses = statuses.size();
  check(penstock_call(op, in.data(), in.size(), arguments.handle(), &o, out.data(), out.size()));
  for (size_t i = 0; i < num_outputs; ++i) results[i] = Batch(out[i]);
  if (!options.statuses) return results;
  *options.statuses = statuses_of(statuses);
  const std::shared_ptr<const std::vector<SampleStatus>> kept(new std::vector<SampleStatus>(*options.statuses));
  for (Batch& b : results) b.set_statuses(kept);
  return results;
}
// What the calls of fn.h are made of.
inline std::vector<Batch> call_all(const char* op, std::initializer_list<const Batch*> inputs,
                                   const Arguments& arguments, const CallOptions& options) {
  const Row<const penstock_batch*> in(inputs.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = inputs.begin()[i]->handle();
  return run(op, in, inputs.size() ? (*inputs.begin())->size() : options.batch_size, arguments, options);
}
inline Batch call_one(const char* op, std::initializer_list<const Batch*> inputs, const Arguments& arguments,
                      const CallOptions& options) {
  return std::move(call_all(op, inputs, arguments, options)[0]);
}
}  // namespace detail

// Calls any operator by its name.
inline std::vector<Batch> call(const char* op, const std::vector<Batch>& inputs, const Arguments& arguments = {},
                               const CallOptions& options = {}) {
  const detail::Row<const penstock_batch*> in(inputs.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = inputs[i].handle();
  return detail::run(op, in, inputs.empty() ? options.batch_size : inputs[0].size(), arguments, options);
}

inline std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (size_t i = 0; i < penstock_num_operators(); ++i) names.emplace_back(penstock_operator_name(i));
  return names;
}

// ---- Fields of the argument structs in fn.h ----

// A value or nothing; nothing means the operator's default. Lists are written {224, 224}, or 224 for a list of one.
template <class T> class Optional {
 public:
  using Element = typename detail::element<T>::type;
  Optional() = default;
  Optional(const T& value) : value_(value), given_(true) {}
  template <class U, std::enable_if_t<detail::takes<U, T>, int> = 0>
  Optional(U&& value) : value_(static_cast<T>(std::forward<U>(value))), given_(true) {}
  template <class U, std::enable_if_t<detail::element_of<U, T>, int> = 0>
  Optional(U value) : value_{static_cast<Element>(value)}, given_(true) {}
  // std::vector<float>, std::array, std::span and other ranges.
  template <class R, std::enable_if_t<detail::range_of<R, T>, int> = 0>
  Optional(const R& values) : value_(detail::list_of<T>(values)), given_(true) {}
  template <class U, std::enable_if_t<detail::element_of<U, T>, int> = 0>
  Optional(std::initializer_list<U> values) : value_(values.begin(), values.end()), given_(true) {}
  template <class E = Element, std::enable_if_t<detail::is_list<T>::value && std::is_same_v<E, Element>, int> = 0>
  Optional(std::initializer_list<Element> values, E* = nullptr) : value_(values), given_(true) {}

  void add_to(Arguments& arguments, const char* name) const {
    if (given_) arguments.set(name, value_);
  }

 private:
  T value_{};
  bool given_ = false;
};

// A value of an enumeration of penstock/fn/choices.h, or nothing.
template <class E> class Choice {
 public:
  Choice() = default;
  Choice(E value) : value_(static_cast<int>(value)) {}
  template <class U, std::enable_if_t<std::is_arithmetic_v<U> || std::is_convertible_v<U, std::string>, int> = 0>
  Choice(const U&) = delete;  // write the enumerator, or parse<E>(text) for text that comes at run time
  void add_to(Arguments& arguments, const char* name) const {
    if (value_ >= 0) arguments.set_choice(name, value_, names_of(E{}));
  }

 private:
  int value_ = -1;
};

namespace detail {
// One value per sample: a Batch in a call, a Value in a Graph.
class Values {
 public:
  Values() = default;
  Values(Batch values) : batch_(std::move(values)) {}
  Values(Value value) : value_(std::move(value)), is_value_(true) {}
  // False if there are none.
  bool add_to(Arguments& arguments, const char* name) const {
    if (batch_) arguments.set(name, batch_);
    else if (is_value_) arguments.set(name, value_);
    return batch_ || is_value_;
  }

 private:
  Batch batch_;
  Value value_;
  bool is_value_ = false;
};
}  // namespace detail

// A value, or one per sample.
template <class T> class PerSample : public Optional<T> {
 public:
  using Optional<T>::Optional;
  PerSample() = default;
  PerSample(Batch values) : values_(std::move(values)) {}
  PerSample(Value value) : values_(std::move(value)) {}
  void add_to(Arguments& arguments, const char* name) const {
    if (!values_.add_to(arguments, name)) Optional<T>::add_to(arguments, name);
  }

 private:
  detail::Values values_;
};

// The same of an enumeration; samples of a Batch hold its numbers.
template <class E> class PerSampleChoice : public Choice<E> {
 public:
  using Choice<E>::Choice;
  PerSampleChoice() = default;
  PerSampleChoice(Batch values) : values_(std::move(values)) {}
  PerSampleChoice(Value value) : values_(std::move(value)) {}
  void add_to(Arguments& arguments, const char* name) const {
    if (!values_.add_to(arguments, name)) Choice<E>::add_to(arguments, name);
  }

 private:
  detail::Values values_;
};

}  // namespace api
}  // namespace penstock
