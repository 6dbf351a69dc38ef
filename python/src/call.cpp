// SPDX-License-Identifier: Apache-2.0
// fn.name(...): one C function per operator, called without a Python frame in between.
#include "base/gpu_library.h"
#include "base/plugin.h"
#include "exec/call.h"
#include "data/hash.h"

#include <atomic>
#include <nanobind/stl/optional.h>
#include <optional>
#include <random>

#include "bindings.h"
#include "docstring.h"
#include "integer_argument.h"
#include "interop.h"
#include "operator/forms.h"
#include "operator/named_numbers.h"
#include "operator/point_map_adaptor.h"
#include "operator/value_forms.h"
#include "targets.h"
#include "torch_layout.h"
#include "warning.h"

namespace penstock::python {
namespace {

// Keyword arguments that every operator takes.
enum class Common : uint8_t { device, name, seed, bytes_per_sample_hint, preserve, batch_size, out, stream, count };
constexpr const char* kCommonNames[] = {"device",   "name",       "seed", "bytes_per_sample_hint",
                                        "preserve", "batch_size", "out",  "stream"};
PyObject* common_names[static_cast<int>(Common::count)];

struct Operator {
  const OpInfo* info;
  std::string name, text;  // of the Python function
  PyMethodDef method;
  std::vector<PyObject*> arguments;  // interned names
  bool takes_long;                   // whatever the size of its inputs: it decodes or reads files
  bool images;                       // the layout of its inputs decides what it does
  mutable bool told = false;         // whether a warning said that the CPU works in place of a GPU; guarded by the GIL
};

thread_local bool building = false;  // in a pipeline's function: calls make nodes
PyObject* add_node = nullptr;        // Python: (name, inputs, arguments) -> node
PyObject* warn_device = nullptr;     // Python: (device)
PyObject* argument_hint = nullptr;   // Python: (operator, argument) -> what follows "there is no argument"; "": nothing
PyTypeObject* sample_type = nullptr;  // penstock.sample.Sample, once that is imported
PyObject* move_sample = nullptr;      // Python: (name, inputs, arguments) -> Sample

// Random numbers of calls without a seed: from a seed of the process, or one from torch's generator per call
// (penstock/_base/unseeded.py).
std::atomic<uint64_t> immediate_seed{0}, immediate_calls{0}, pipelines_made{0};
std::atomic<bool> seed_given{false};
uint64_t forks = 0, fork_path = 0;  // forks since the seed, and the path of forks to this process; guarded by the GIL
PyObject* torch_hook = nullptr;     // Python: a number, or None
PyObject* torch_name = nullptr;

uint64_t random_word() { return (uint64_t{std::random_device{}()} << 32) | std::random_device{}(); }

std::optional<uint64_t> drawn_by_torch() {
  if (seed_given || !torch_hook || !PyDict_GetItem(PyImport_GetModuleDict(), torch_name)) return std::nullopt;
  const nb::object number = nb::handle{torch_hook}();
  return number.is_none() ? std::nullopt : std::optional(nb::cast<uint64_t>(number));
}

SampleContext unseeded_context() {
  SampleContext context;
  if (const auto drawn = drawn_by_torch()) {
    context.seed = *drawn;
  } else {
    context.seed = immediate_seed;
    context.epoch = immediate_calls.fetch_add(1, std::memory_order_relaxed);
  }
  return context;
}

uint64_t unseeded_pipeline() {
  if (const auto drawn = drawn_by_torch()) return *drawn;
  return mix64(immediate_seed ^ mix64(~pipelines_made.fetch_add(1)));
}

void begin_numbers(uint64_t seed) { immediate_seed = seed, immediate_calls = 0, pipelines_made = 0, forks = 0; }

uint64_t after_fork() {
  fork_path = mix64(fork_path ^ mix64(forks));
  begin_numbers(mix64(immediate_seed ^ mix64(forks)));
  return fork_path;
}

// What Python passes to a function: n values, then those of the names.
struct Given {
  PyObject* const* args;
  Py_ssize_t n;
  PyObject* names;  // a tuple, or null
  Py_ssize_t keywords;
};

// Calls a function of Python with what a function of an operator got.
PyObject* call_python(PyObject* function, const Operator& op, const Given& given) {
  nb::object inputs = nb::steal(PyTuple_New(given.n));
  for (Py_ssize_t i = 0; i < given.n; ++i) {
    Py_IncRef(given.args[i]);
    PyTuple_SetItem(inputs.ptr(), i, given.args[i]);
  }
  nb::dict keywords;
  for (Py_ssize_t i = 0; i < given.keywords; ++i)
    keywords[nb::handle(PyTuple_GetItem(given.names, i))] = nb::handle(given.args[given.n + i]);
  return nb::handle(function)(op.info->name, inputs, keywords).release().ptr();
}

PyObject* record(const Operator& op, const Given& given) {
  if (!add_node) bad_type("a DataNode is not data but a value of a pipeline");
  return call_python(add_node, op, given);
}

int find_name(const std::vector<PyObject*>& known, PyObject* key) {
  for (size_t i = 0; i < known.size(); ++i)
    if (known[i] == key) return static_cast<int>(i);
  for (size_t i = 0; i < known.size(); ++i)  // a key that is not interned
    if (PyUnicode_Compare(known[i], key) == 0) return static_cast<int>(i);
  return -1;
}

[[noreturn]] void unknown_keyword(const Operator& op, PyObject* key) {
  const auto name = nb::cast<std::string>(nb::handle(key));
  std::vector<std::string> known;
  for (const auto& a : op.info->args) known.push_back(a.name);
  for (const char* c : kCommonNames) known.push_back(c);
  std::string hint;
  if (argument_hint) hint = nb::cast<std::string>(nb::handle(argument_hint)(op.info->name, name));
  if (hint.empty()) hint = did_you_mean(name, known);
  Error e(ErrorKind::key, fmt::format("there is no argument '{}'{}", name, hint));
  e.op = op.info->name;
  throw e;
}

// The GPU that "gpu", "gpu:1" and "mixed" request; -1: "cpu". If there is no GPU, a warning (or an error) and the CPU.
int gpu_of(PyObject* value) {
  if (!PyUnicode_Check(value))
    bad_type("device must be 'cpu', 'gpu', 'gpu:N' or 'mixed', got {}", nb::repr(value).c_str());
  const auto text = nb::cast<std::string>(nb::handle(value));
  if (text == "cpu") return -1;
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  int number = 0;
  if (colon != std::string::npos) {
    const std::string digits = text.substr(colon + 1);
    if (kind != "gpu" || digits.empty() || digits.size() > 4 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      bad_argument("device must be 'cpu', 'gpu', 'gpu:N' or 'mixed', got '{}'", text);
    number = std::stoi(digits);
  } else if (kind != "gpu" && kind != "mixed") {
    bad_argument("device must be 'cpu', 'gpu', 'gpu:N' or 'mixed', got '{}'", text);
  }
  if (gpu_library().why_not().empty()) return runtime_of(number), number;
  if (warn_device) nb::handle{warn_device}(nb::cast(kind));
  return -1;
}

// A framework's arrays are processed on the stream that the framework is using; other arrays on one of our streams.
StreamHandle stream_for(Kind like, const Batch* inputs, Py_ssize_t n, int gpu) {
  const bool there = n > 0 && inputs[0].device() == Device{DeviceKind::gpu, static_cast<int16_t>(gpu)};
  if (like == Kind::torch && there) return inputs[0].stream;  // asked of torch when the tensor was imported
  if (const StreamHandle current = current_stream(like, gpu)) return current;
  const bool torchs =
      like == Kind::batch && there && is_torchs_stream(inputs[0].stream, gpu);  // a batch of its tensors
  return there && (like == Kind::sequence || torchs) ? inputs[0].stream : nullptr;
}

void tell_host_work(const Operator& op) {
  if (op.told) return;
  op.told = true;
  const std::string text =
      fmt::format("{} has no GPU kernel: it runs on the CPU, and the call waits for the copies", op.info->name);
  warn(text, errors().device_warning.ptr());
}

bool is_batch(PyObject* o, Kind kind) { return kind == Kind::batch || (kind == Kind::sequence && !is_number_list(o)); }

// Smaller calls keep the GIL: releasing and reacquiring it costs as much as they do.
constexpr size_t kReleaseBytes = size_t{1} << 16;

// If the axes are given by number, no layout is needed.
bool gives_axes(const Operator& op, const Given& given) {
  static PyObject* axes = PyUnicode_InternFromString("axes");
  for (Py_ssize_t i = 0; i < given.keywords; ++i)
    if (PyUnicode_Compare(PyTuple_GetItem(given.names, i), axes) == 0) return op.info->arg("axes") != nullptr;
  return false;
}

void settle_layout(const Operator& op, Tensor& t, const Given& given) {
  const int ndim = t.view.shape.size();
  if (t.view.layout.empty() && (ndim == 3 || ndim == 4))
    t.view.layout = layout_by_extents(std::span(&t.view.shape, 1), op.images && !gives_axes(op, given));
}

// For a list of torch tensors: all of them together determine the layout.
void settle_layout(const Operator& op, PyObject* list, Batch& b, const Given& given) {
  if (!b.layout().empty() || b.ndim() != 3 || b.size() == 0) return;
  const nb::object first = item_of(list, 0);
  if (kind_of(first.ptr()) != Kind::torch) return;
  std::vector<Shape> shapes;
  for (int i = 0; i < b.size(); ++i) shapes.push_back(b.shape(i));
  b.set_layout(layout_by_extents(shapes, op.images && !gives_axes(op, given)));
}

// A list of batches is several inputs; one call draws the same numbers for them.
bool holds_batches(PyObject* o) {
  if (!PyList_Check(o) || PyList_Size(o) == 0) return false;
  return kind_of(PyList_GetItem(o, 0)) == Kind::batch;
}

PyObject* run_sets(const Operator& op, const Given& given);

// What the arguments make of a call.
enum class CallForm { computes, makes_node, computes_sets };

// A call that computes now: its arguments, taken one after another, and its result.
class ImmediateCall {
 public:
  ImmediateCall(const Operator& op, const Given& given) : op_(op), given_(given) {
    if (given.n > 4) many_.resize(given.n), inputs_ = many_.data();
  }
  ImmediateCall(const ImmediateCall&) = delete;  // inputs_ points into it

  CallForm take_arguments() {
    const CallForm form = take_inputs();
    return form == CallForm::computes ? take_keywords() : form;
  }

  // drawn: see run().
  PyObject* compute(std::optional<SampleContext>* drawn) {
    settle_samples();
    if (op_.info->random && !seeded_) {
      if (drawn && !*drawn) *drawn = unseeded_context();
      context_ = drawn ? **drawn : unseeded_context();
    }
    std::vector<Batch> out;
    const std::span<const Batch> in(inputs_, static_cast<size_t>(given_.n));
    std::span<const Batch* const> into;
    if (targets_) into = targets_->places(outputs_of(*op_.info, values_), batched_);
    if (place_.gpu >= 0)
      place_.stream =
          stream_ ? stream_ : stream_for(targets_ ? targets_->kind() : like_, inputs_, given_.n, place_.gpu);
    if (bytes_ >= kReleaseBytes || op_.takes_long || place_.gpu >= 0) {
      ReleaseGil release;
      out = call_op(*op_.info, in, values_, context_, default_memory(), batch_size_, into, &place_);
    } else {
      out = call_op(*op_.info, in, values_, context_, default_memory(), batch_size_, into);
    }
    if (place_.on_host && given_.n > 0) tell_host_work(op_);
    tell_notices();
    if (targets_) targets_->order(out);
    if (out.size() == 1) return result(out, 0);
    nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(out.size())));
    for (size_t i = 0; i < out.size(); ++i) PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), result(out, i));
    return tuple.release().ptr();
  }

 private:
  CallForm take_inputs() {
    for (Py_ssize_t i = 0; i < given_.n; ++i) {
      const Kind kind = kind_of(given_.args[i]);
      if (kind == Kind::node) return CallForm::makes_node;
      if (kind == Kind::sequence && holds_batches(given_.args[i])) return CallForm::computes_sets;
      if (i == 0) like_ = kind;
      if (is_batch(given_.args[i], kind)) take_batch(i, kind);
      else take_sample(i, kind);
      bytes_ += inputs_[i].bytes();
      if (place_.gpu < 0 && inputs_[i].device().kind == DeviceKind::gpu && op_.info->follows.empty())
        place_.gpu = inputs_[i].device().id;
    }
    return CallForm::computes;
  }
  void take_batch(Py_ssize_t i, Kind kind) {
    inputs_[i] = batch_from(given_.args[i], Where::anywhere);
    if (kind == Kind::sequence) settle_layout(op_, given_.args[i], inputs_[i], given_);
    join_batch_size(inputs_[i]);
  }
  void take_sample(Py_ssize_t i, Kind kind) {
    Tensor t = tensor_from(given_.args[i], Where::anywhere);
    if (kind == Kind::torch) settle_layout(op_, t, given_);
    if (kind == Kind::torch && op_.images && !t.view.layout.empty() && t.view.layout[0] == 'N') {  // its samples
      inputs_[i] = split_samples(t);
      const bool first = !batched_;
      join_batch_size(inputs_[i]);
      stacked_ = stacked_ || first;
      return;
    }
    Batch b(t.view.dtype, t.view.shape.size(), t.view.layout, 1);
    Batch::Sample& s = b.sample(0);
    s.data = t.view.data, s.shape = t.view.shape;
    if (!t.view.dense()) s.strides = t.view.strides;
    s.owner = std::move(t.owner), s.source = std::move(t.source);
    b.set_device(t.device), b.stream = t.stream, b.ready = std::move(t.ready);
    inputs_[i] = std::move(b);
  }
  void join_batch_size(const Batch& input) {
    if (batched_ && input.size() != batch_size_)
      bad_argument("the inputs differ in their number of samples: {} and {}", batch_size_, input.size());
    batched_ = true, batch_size_ = input.size();
  }

  CallForm take_keywords() {
    values_.resize(op_.info->args.size());
    for (Py_ssize_t i = 0; i < given_.keywords; ++i) {
      PyObject* key = PyTuple_GetItem(given_.names, i);
      PyObject* value = given_.args[given_.n + i];
      if (value == Py_None) continue;
      if (const int index = find_name(op_.arguments, key); index < 0) {
        take_common(key, value);
      } else {
        const Kind kind = kind_of(value);
        if (kind == Kind::node) return CallForm::makes_node;
        take_value(index, kind, value);
      }
    }
    return CallForm::computes;
  }
  void take_value(int index, Kind kind, PyObject* value) {
    Argument& to = values_[index];
    if (kind == Kind::batch) {
      to.batch = nb::inst_ptr<Batch>(nb::handle(value));
      if (given_.n == 0 && !batched_) batched_ = true, batch_size_ = to.batch->size();
    } else if (kind == Kind::tensor && op_.info->args[index].per_frame &&
               nb::inst_ptr<Tensor>(nb::handle(value))->view.layout.has('F')) {  // one value per frame
      const Tensor here = copied_to_host(tensor_from(value, Where::anywhere));
      owned_.push_back(std::make_unique<Batch>(Batch::from_tensors(std::vector<Tensor>(batch_size_, here))));
      to.batch = owned_.back().get();
    } else {
      to.value = value_from(value, op_.info->args[index]);
    }
  }
  void take_common(PyObject* key, PyObject* value) {
    int which = 0;
    while (which < static_cast<int>(Common::count) && PyUnicode_Compare(common_names[which], key) != 0) ++which;
    switch (static_cast<Common>(which)) {
      case Common::device:
        if (const int gpu = gpu_of(value); gpu >= 0) place_.gpu = gpu;
        else to_host_ = true;
        break;
      case Common::seed: {
        const long long s = integer_of("seed", value);
        if (s != -1) context_.seed = static_cast<uint64_t>(s), context_.draws.node = kSeeded, seeded_ = true;
        break;
      }
      case Common::batch_size:
        batch_size_ = static_cast<int>(std::clamp<long long>(integer_of("batch_size", value), -1, INT_MAX));
        if (given_.n > 0 || batch_size_ < 1)
          bad_argument("batch_size must be positive, and only operators without inputs accept it");
        batched_ = sized_ = true;
        break;
      case Common::out: targets_.emplace(value); break;
      case Common::stream: stream_ = stream_of_user(value); break;
      case Common::count: unknown_keyword(op_, key);
      default: break;  // accepted without effect
    }
  }

  // All arguments are known: checks their numbers of samples, and makes those of the inputs equal.
  void settle_samples() {
    if (sized_ || given_.n == 0)
      for (const auto& v : values_)
        if (v.batch && v.batch->size() != batch_size_)
          bad_argument("a per-sample argument has {} values for {} samples", v.batch->size(), batch_size_);
    if (to_host_ && place_.gpu >= 0) {
      for (Py_ssize_t i = 0; i < given_.n; ++i) inputs_[i] = copied_to_host(inputs_[i]);
      place_.gpu = -1;
    }
    if (!batched_) return;
    for (Py_ssize_t i = 0; i < given_.n;
         ++i)  // single samples in a call with a batch are the same for all of its samples
      if (inputs_[i].size() == 1 && batch_size_ > 1) {
        std::vector<Tensor> same(batch_size_, inputs_[i].tensor(0));
        inputs_[i] = Batch::from_tensors(std::move(same));
      }
  }

  PyObject* result(std::vector<Batch>& results, size_t k) const {
    Batch& b = results[k];
    if (PyObject* theirs = targets_ ? targets_->object(k) : nullptr) return nb::handle(theirs).inc_ref().ptr();
    if (stacked_ && b.has_uniform_shapes()) return torch_from_tensor(b.as_tensor());
    if (batched_) return nb::cast(std::move(b)).release().ptr();
    const StreamHandle torchs = like_ == Kind::torch && place_.gpu >= 0 ? place_.stream : nullptr;
    return torchs ? torch_from_tensor(b.tensor(0), torchs) : to_python(b.tensor(0), like_);
  }

  const Operator& op_;
  const Given& given_;
  Batch few_[4];
  std::vector<Batch> many_;
  Batch* inputs_ = few_;
  size_t bytes_ = 0;  // of the inputs
  Kind like_ = Kind::numpy;
  bool batched_ = false, stacked_ = false;  // stacked: one torch tensor contains the batch
  int batch_size_ = 1;
  CallPlace place_;
  StreamHandle stream_ = nullptr;  // the program's
  bool to_host_ = false;
  SampleContext context_;
  bool seeded_ = false, sized_ = false;
  std::vector<Argument> values_;
  std::vector<std::unique_ptr<Batch>> owned_;
  std::optional<CallTargets> targets_;
};

// drawn: what the sets of one call draw from without a seed, made by the first that draws; null: new numbers.
PyObject* run(const Operator& op, const Given& given, std::optional<SampleContext>* drawn = nullptr) {
  ImmediateCall now(op, given);
  switch (now.take_arguments()) {
    case CallForm::makes_node: return record(op, given);
    case CallForm::computes_sets: return run_sets(op, given);
    case CallForm::computes: break;
  }
  return now.compute(drawn);
}

PyObject* run_sets(const Operator& op, const Given& given) {
  for (Py_ssize_t i = 0; i < given.keywords; ++i)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(given.names, i), "out") == 0)
      bad_argument("out is not possible with a list of batches: call once for each of them");
  Py_ssize_t sets = -1;
  for (Py_ssize_t i = 0; i < given.n; ++i) {
    if (!holds_batches(given.args[i])) continue;
    const Py_ssize_t size = PyList_Size(given.args[i]);
    if (sets >= 0 && size != sets) bad_argument("lists of inputs must have one length, got {} and {}", sets, size);
    sets = size;
  }
  std::optional<SampleContext> drawn;
  std::vector<PyObject*> own(given.args, given.args + given.n + given.keywords);
  nb::list results;
  for (Py_ssize_t k = 0; k < sets; ++k) {
    for (Py_ssize_t i = 0; i < given.n; ++i)
      if (holds_batches(given.args[i])) own[i] = PyList_GetItem(given.args[i], k);
    results.append(nb::steal(run(op, {own.data(), given.n, given.names, given.keywords}, &drawn)));
  }
  if (!nb::isinstance<nb::tuple>(results[0])) return results.release().ptr();
  nb::list outputs;  // a list of sets for each output, as in a pipeline
  for (size_t o = 0; o < nb::len(nb::object(results[0])); ++o) {
    nb::list of_output;
    for (nb::handle r : results) of_output.append(r[o]);
    outputs.append(of_output);
  }
  return outputs.release().ptr();
}

// The function's object, a module: so pickle writes the function's name.
struct OperatorModule {
  const Operator* op;
};

PyObject* call(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  const auto& op = *static_cast<OperatorModule*>(PyModule_GetState(self))->op;
  try {
    try {
      const Given given{args, n, names, names ? PyTuple_Size(names) : 0};
      if (sample_type && n > 0 && Py_TYPE(args[0]) == sample_type) return call_python(move_sample, op, given);
      return building ? record(op, given) : run(op, given);
    } catch (Error& e) {
      if (e.op.empty()) e.op = op.info->name;
      throw;
    }
  } catch (abi::__forced_unwind&) {
    stand_still();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

// The function of one operator; created once and kept for the life of the process.
nb::object make_function(const std::string& full_name) {
  const OpInfo& info = get_op(full_name);
  const bool takes_long = full_name.starts_with("decoders.") || full_name.starts_with("io.");
  auto* op = new Operator{&info, {}, {}, {}, {}, takes_long, reads_images(info)};
  const size_t dot = full_name.rfind('.');
  op->name = dot == std::string::npos ? full_name : full_name.substr(dot + 1);
  op->text = text_signature(info, op->name) + docstring(info);
  for (const auto& a : info.args) op->arguments.push_back(PyUnicode_InternFromString(a.name.c_str()));
  op->method = {op->name.c_str(), reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&call)),
                METH_FASTCALL | METH_KEYWORDS, op->text.c_str()};
  static PyModuleDef kind{PyModuleDef_HEAD_INIT,
                          "penstock.operator",
                          nullptr,
                          sizeof(OperatorModule),
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};
  nb::object self = nb::steal(PyModule_Create(&kind));
  if (!self) throw nb::python_error();
  static_cast<OperatorModule*>(PyModule_GetState(self.ptr()))->op = op;
  const std::string module = "penstock.fn" + (dot == std::string::npos ? "" : "." + full_name.substr(0, dot));
  nb::str module_name(module.c_str());
  PyObject* f = PyCFunction_NewEx(&op->method, self.ptr(), module_name.ptr());
  if (!f) throw nb::python_error();
  return nb::steal(f);
}

nb::object to_object(const Value& value) {
  return std::visit(
      [](const auto& v) -> nb::object {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nb::none();
        } else if constexpr (requires { typename T::allocator_type; } && !std::is_same_v<T, std::string>) {
          nb::list l;
          for (size_t i = 0; i < v.size(); ++i) l.append(nb::cast(v[i]));
          return l;
        } else {
          return nb::cast(v);
        }
      },
      value);
}

// For the generator of stubs and pages.
nb::dict schema_of(const std::string& name) {
  const OpInfo& info = get_op(name);
  nb::dict d;
  d["name"] = info.name, d["doc"] = description(info), d["oracle"] = info.oracle;
  d["float64"] = info.float64, d["host_only"] = info.host_only, d["both_devices"] = runs_on_both_devices(info);
  d["min_inputs"] = info.min_inputs, d["max_inputs"] = info.max_inputs, d["outputs"] = info.outputs;
  d["random"] = info.random, d["hidden"] = info.hidden, d["images"] = reads_images(info);
  d["moves_points"] = find_op(point_map_name(name)) != nullptr, d["keeps_positions"] = keeps_positions(info);
  d["family"] = info.family == Family::stage ? "stage" : info.family == Family::whole ? "whole" : "source";
  if (const ValueForms* forms = value_forms(name)) d["value_forms"] = nb::make_tuple(forms->names, forms->values);
  d["calls_back"] = info.calls_back(), d["fits_all"] = info.fits_all, d["fed"] = name_of(info.fed);
  d["in_place"] = info.in_place, d["decodes_to_device"] = info.decodes_to_device;
  nb::list inputs, args;
  for (const auto& s : info.input_names) inputs.append(nb::cast(s));
  for (const auto& a : info.args) {
    nb::dict x;
    x["name"] = a.name, x["doc"] = a.doc, x["type"] = name_of(a.type), x["per_sample"] = a.per_sample;
    x["per_frame"] = a.per_frame;
    x["required"] = a.required, x["default"] = to_object(a.default_value), x["default_text"] = default_text(a);
    args.append(x);
  }
  d["input_names"] = inputs, d["args"] = args;
  return d;
}

}  // namespace

void bind_operators(nb::module_& m) {
  for (int i = 0; i < static_cast<int>(Common::count); ++i)
    common_names[i] = PyUnicode_InternFromString(kCommonNames[i]);
  immediate_seed = random_word();
  torch_name = PyUnicode_InternFromString("torch");
  m.def(
      "operators",
      [](bool hidden) {  // hidden=True: also those that only syntax reaches, such as _add; no forms
        nb::list names;
        for (const OpInfo* o : all_ops())
          if (!o->hidden || (hidden && !is_form(*o))) names.append(nb::cast(o->name));
        return names;
      },
      nb::arg("hidden") = false);
  m.def("load_library", &load_plugin);
  m.def("operator_function", &make_function);
  m.def("operator_schema", &schema_of);
  m.def("set_building", [](bool b) { return std::exchange(building, b); });
  m.def("is_building", [] { return building; });
  m.def("set_hooks", [](nb::object node, nb::object device, nb::object hint) {
    add_node = node.release().ptr(), warn_device = device.release().ptr(), argument_hint = hint.release().ptr();
  });
  m.def("set_sample_type", [](nb::object type, nb::object move) {
    sample_type = reinterpret_cast<PyTypeObject*>(type.release().ptr()), move_sample = move.release().ptr();
  });
  m.def("set_node_type", [](nb::object type) { set_node_type(type); });
  m.def(
      "seed",
      [](std::optional<int64_t> s) {
        seed_given = s.has_value();
        begin_numbers(s ? static_cast<uint64_t>(*s) : random_word());
      },
      nb::arg("seed").none(),
      "Restarts the random numbers of calls outside pipelines, and the seeds of pipelines.\n"
      "\n"
      "It applies to calls and pipelines without their own seed.\n\n"
      "Args:\n"
      "    seed: The seed; None: they follow torch.manual_seed() again, if torch is imported.\n"
      "\n"
      "Example:\n"
      "    >>> penstock.seed(3)\n"
      "    >>> first = fn.random.uniform(range=[0.0, 1.0])\n"
      "    >>> penstock.seed(3)\n"
      "    >>> bool(first == fn.random.uniform(range=[0.0, 1.0]))\n"
      "    True");
  m.def("mixed", &mix64);
  m.def("unseeded", &unseeded_pipeline);
  m.def("set_torch_hook", [](nb::object hook) { torch_hook = hook.release().ptr(); });
  m.def("before_fork", [] { ++forks; });
  m.def("after_fork", &after_fork);
}

}  // namespace penstock::python
