// SPDX-License-Identifier: Apache-2.0
// An operator's struct as a BoundOp: what the adaptors of all families share, and those of whole operators and sources.
// Calls on `op` are direct, for its type is known: a virtual function of a family costs nothing here.
#pragma once
#include "operator/dense_inputs.h"
#include "operator/pixel_contract.h"
#include "operator/sample_work.h"

namespace penstock {

template <class Op> class Adaptor : public BoundOp {
 public:
  Op op;
  void* members() final { return &op; }
  void ready() final { op.ready(); }
  Layout input_layout(const ValueType& in) const override { return op.input_layout(in); }
};

template <class Op> class WholeAdaptor final : public Adaptor<Op> {
  static constexpr bool kWorks = overrides(&Op::work, &WholeOperator::work);
  static constexpr bool kMeasures = overrides(&Op::measure, &WholeOperator::measure);
  static constexpr bool kOwnState = overrides(&Op::batch_state, &WholeOperator::batch_state);
  static_assert(
      kWorks != overrides(&Op::run, &WholeOperator::run),
      "a WholeOperator overrides either work(), whose steps run on both devices, or run(), for the CPU alone");

 public:
  using Adaptor<Op>::op;

  void infer(std::span<const ValueType> in, std::span<ValueType> out) override {
    op.check(in);
    op.infer(in, out);
    check_bfloat16(*this->info, in, out);
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    if constexpr (kMeasures) {
      if (s.batch_state) {
        if constexpr (kOwnState) {
          return with_measured(s, {}, [&](const SampleContext& c) { op.shapes(c, in, types, out); });
        }
        const DenseInputs dense(*static_cast<const std::span<const Batch>*>(s.batch_state), s.index);
        return with_measured(s, dense.views, [&](const SampleContext& c) { op.shapes(c, in, types, out); });
      }
    }
    op.shapes(s, in, types, out);
  }
  StageTraits traits() const override { return {.own_shapes = true}; }
  void run(const SampleContext& s, std::span<const View> in, std::span<const View> out) const override {
    if constexpr (kMeasures) with_measured(s, in, [&](const SampleContext& c) { op.work(c, in, out, host_work()); });
    else if constexpr (kWorks) op.work(s, in, out, host_work());
    else op.run(s, in, out);
  }
  bool measures() const override { return kMeasures; }
  void measure(const SampleContext& s, std::span<const View> in, SampleWork& to, int64_t* numbers) const override {
    op.measure(s, in, to, numbers);
  }
  void measured_shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
                       std::span<Shape> out) const override {
    op.shapes(s, in, types, out);
  }
  bool has_work() const override { return kWorks; }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    op.work(s, in, out, to);
  }
  void decode_to_device(const SampleContext& s, std::span<const View> in, const View& out,
                        const DevicePlace& place) const override {
    op.decode_to_device(s, in, out, place);
  }
  std::shared_ptr<const void> batch_state(std::span<const Batch> in, std::span<const ValueType> types) const override {
    return op.batch_state(in, types);
  }
  void batch_shapes(std::span<const Batch> in, std::span<const ValueType> types, std::span<Batch> out) const override {
    op.batch_shapes(in, types, out);
  }
  bool draws_scalars() const override { return op.draws_scalars(); }
  void draw_scalars(std::span<const SampleContext> s, DType t, void* out) const override { op.draw_scalars(s, t, out); }

 private:
  template <class F> void with_measured(const SampleContext& s, std::span<const View> in, const F& f) const {
    int64_t numbers[kMostMeasured] = {};
    op.measure(s, in, host_work(), numbers);
    SampleContext c = s;
    c.batch_state = numbers;
    f(c);
  }
};

template <class Op> class SourceAdaptor final : public Adaptor<Op> {
 public:
  using Adaptor<Op>::op;
  void infer(std::span<const ValueType> in, std::span<ValueType> out) override {
    op.check(in);
    op.infer(in, out);
  }
  void shapes(const SampleContext&, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape>) const override {}
};

}  // namespace penstock
