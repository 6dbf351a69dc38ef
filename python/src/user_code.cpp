// SPDX-License-Identifier: Apache-2.0
#include "user_code.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/clock.h"
#include "base/thread_times.h"
#include "exec/compiled_function.h"
#include "interop.h"

namespace penstock::python {

thread_local int InsideUserCode::depth = 0;

void RaisedErrors::keep(nb::python_error& e) {
  std::string text = e.what();
  if (raised_.size() >= kMostRaised) raised_.pop_front();
  raised_.emplace_back(text, std::make_unique<nb::python_error>(std::move(e)));
  fail(ErrorKind::internal, "{}", text);
}

std::unique_ptr<nb::python_error> RaisedErrors::take(const std::string& text) {
  for (auto it = raised_.begin(); it != raised_.end(); ++it)
    if (it->first == text) {
      auto found = std::move(it->second);
      raised_.erase(it);
      return found;
    }
  return nullptr;
}

namespace {

// A Python object that C++ threads call.
class UserCode {
 public:
  UserCode(nb::object object, std::shared_ptr<RaisedErrors> errors)
      : object_(std::move(object)), errors_(std::move(errors)) {}
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;
  ~UserCode() {
    if (!Py_IsInitialized()) {  // leaks both: releasing them would need the GIL
      object_.release();
      new std::shared_ptr<RaisedErrors>(std::move(errors_));
      return;
    }
    HoldGil gil;
    object_.reset();
    errors_->clear();
  }
  // For sources and functions that wait for processes; from any thread.
  void cancel() {
    if (!Py_IsInitialized()) return;
    HoldGil gil;
    try {
      if (nb::hasattr(object_, "cancel")) called(object_.attr("cancel"), nb::make_tuple());
    } catch (nb::python_error&) {  // nobody could handle it
    }
  }
  template <class F> auto run(F&& f) -> decltype(f(std::declval<nb::object&>())) {
    const int64_t begin = clock_ns();
    HoldGil gil;
    add_lock_wait(clock_ns() - begin);
    InsideUserCode inside;
    try {
      return f(object_);
    } catch (nb::python_error& e) {
      if (e.matches(PyExc_StopIteration)) fail(ErrorKind::stopped, "the source is exhausted");
      errors_->keep(e);
    }
  }

 private:
  nb::object object_;
  std::shared_ptr<RaisedErrors> errors_;
};

class PythonFeed final : public ExternalFeed {
 public:
  PythonFeed(nb::object source, std::shared_ptr<RaisedErrors> errors)
      : resumable_(nb::cast<bool>(source.attr("resumable"))),
        numbered_(static_cast<Numbered>(nb::cast<int>(source.attr("numbered")))),
        source_(std::move(source), std::move(errors)) {}
  std::vector<Batch> next(const BatchRequest& r) override {
    return source_.run([&](nb::object& o) {
      const nb::object given = called(o.attr("next"), nb::make_tuple(r.iteration, r.in_epoch, r.epoch, r.batch_size));
      std::vector<Batch> batches;
      for (nb::handle b : given) batches.push_back(*nb::inst_ptr<Batch>(b));
      return batches;
    });
  }
  void reset() override {
    source_.run([&](nb::object& o) { return called(o.attr("reset"), nb::make_tuple()), 0; });
  }
  void cancel() override { source_.cancel(); }
  bool resumable() const override { return resumable_; }
  Numbered numbered() const override { return numbered_; }
  std::string state() const override {
    return source_.run([&](nb::object& o) { return nb::cast<std::string>(called(o.attr("state"), nb::make_tuple())); });
  }
  void restore(const std::string& s) override {
    source_.run([&](nb::object& o) { return called(o.attr("restore"), nb::make_tuple(s)), 0; });
  }

 private:
  bool resumable_ = false;
  Numbered numbered_ = Numbered::no;
  mutable UserCode source_;
};

class PythonCallback final : public Callback {
 public:
  PythonCallback(nb::object function, std::shared_ptr<RaisedErrors> errors)
      : function_(std::move(function), std::move(errors)) {}
  std::vector<Batch> call(const CallRequest& r, std::vector<SampleError>& bad) override {
    return function_.run([&](nb::object& o) {
      nb::list inputs, origins;
      for (const Batch& b : r.inputs) inputs.append(nb::cast(Batch(b)));
      for (size_t i = 0; i < r.origin.size(); ++i) {
        const auto [epoch, position] = r.origin[i].draws();
        origins.append(nb::make_tuple(epoch, position, r.places[i], r.trips_key ^ r.origin[i].child));
      }
      nb::tuple given = nb::cast<nb::tuple>(called(o.attr("call"), nb::make_tuple(inputs, origins)));
      std::vector<Batch> batches;
      for (nb::handle b : given[0]) batches.push_back(*nb::inst_ptr<Batch>(b));
      for (nb::handle e : given[1])
        bad.push_back({nb::cast<int>(e[0]), Error(ErrorKind::data, nb::cast<std::string>(e[1]))});
      return batches;
    });
  }
  void cancel() override { function_.cancel(); }

 private:
  UserCode function_;
};

}  // namespace

std::shared_ptr<ExternalFeed> python_feed(nb::object source, std::shared_ptr<RaisedErrors> errors) {
  return std::make_shared<PythonFeed>(std::move(source), std::move(errors));
}

std::shared_ptr<Callback> python_callback(nb::object function, std::shared_ptr<RaisedErrors> errors) {
  return std::make_shared<PythonCallback>(std::move(function), std::move(errors));
}

std::shared_ptr<Callback> compiled_callback(nb::handle code) {
  CompiledCode c;
  c.run = reinterpret_cast<CompiledCode::Run>(nb::cast<uintptr_t>(code.attr("run_address")));
  c.setup = reinterpret_cast<CompiledCode::Setup>(nb::cast<uintptr_t>(code.attr("setup_address")));
  c.batches = nb::cast<bool>(code.attr("batch_processing"));
  for (nb::handle t : code.attr("out_types")) c.out_types.push_back(dtype_from(t.ptr()));
  for (nb::handle t : code.attr("in_types")) c.in_types.push_back(dtype_from(t.ptr()));
  c.outs_ndim = nb::cast<std::vector<int>>(code.attr("outs_ndim"));
  c.ins_ndim = nb::cast<std::vector<int>>(code.attr("ins_ndim"));
  if (!c.run) bad_argument("the compiled function has no address");
  c.owner = keep(code.ptr());
  return std::make_shared<CompiledFunction>(std::move(c));
}

}  // namespace penstock::python
