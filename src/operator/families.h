// SPDX-License-Identifier: Apache-2.0
// The families of operators. An operator is a struct that derives from its family; what it says about itself, it says
// by overriding functions of the family. How to write one, step by step: docs/how_to/add_an_operator.md.
//
//   struct Name : PixelOperator {
//     PerSample<float> brightness = 1.0f;  // arguments: the initializer is the default
//     DType dtype = DType::none;
//     static Schema<Name> schema() { return Schema<Name>("name", "doc").arg("brightness", &Name::brightness, "doc"); }
//     DType output_dtype(std::span<const ValueType>) const override { return dtype; }
//     ...
//   };
//   PENSTOCK_OPERATOR(Name);
//
// With `override`, a name or a type that is not the family's does not compile. Without it, tools/lint.py refuses names
// that are like those here (tools/operator_hooks.py).
#pragma once
#include <span>

#include "operator/bound_op.h"
#include "operator/point_map.h"

namespace penstock {

struct Operator {
  // Called once, when all arguments are set. Throws for invalid combinations.
  virtual void ready() {}
  // Throws for layouts and types that the operator cannot take; may keep the types. Called before the functions below.
  virtual void check(std::span<const ValueType>) {}
  // The layout that an input without one is taken to have.
  virtual Layout input_layout(const ValueType& in) const { return in.layout; }
  // Only where the arguments decide how many outputs there are.
  virtual int count_outputs() const { return 1; }

 protected:
  ~Operator() = default;  // nobody owns an operator by its family
};

// ---- Operators that run in a stage, where neighbors are fused. Inside a stage the order is decode, map, pixel.

struct StageOperator : Operator {
  // none: the type of the input.
  virtual DType output_dtype(std::span<const ValueType>) const { return DType::none; }
  virtual Layout output_layout(const Layout& in) const { return in; }
};

// The pixel part: one value in, one out; or Rgb<V> in, Rgb<V> out; or `operands` values in, one out. It is hot, so
// these are templates instead of virtual functions; pixel_contract.h demands them, each with a sentence:
//
//     // The macro compiles what is inside and keeps it as text for the GPU; it may use only what src/pixel offers.
//     PENSTOCK_PIXEL(
//     template <class V> struct Coef { V mul, add; };
//     template <class V> PENSTOCK_HD static V pixel(V in, Coef<V> c) { ... });
//     using Lanes = LaneList<float, double>;  // the types that V may be, if float is not the only one: see lane()
//
//     // The coefficients of a sample. Also: `template <class V> Coef<V> coef(...)`, which more Lanes need;
//     // coef(sample, channel), where each channel has its own; coef(SampleFrame), where arguments are PerFrame.
//     Coef<float> coef(int sample) const;
//
//     // Or, instead of coef(), if the coefficients follow from numbers alone. Then these may be in a GPU's memory, and
//     // gpu_arguments() of the schema may name them. Known is what all samples share: know() fills it, after check().
//     PENSTOCK_TEXT(fold_text,
//     struct Values { float brightness, ...; };
//     struct Known { ... };
//     template <class V> PENSTOCK_HD static Coef<V> fold(const Values& v, const Known& k) { ... });
//     static constexpr auto folded = std::tuple{&Name::brightness, ...};  // the members of Values: PerFrame<float>
//     void know(Known&) const;
//
//     // Where pixel() is one or two fused multiply-adds: their number, and the factor and summand of each.
//     int fused_multiply_adds(const Coef<float>&, float* mul_adds) const;
//     // Where some operands are refused: the message, and, inside PENSTOCK_PIXEL, the test.
//     static constexpr const char* fault = "...";
//     template <class V> PENSTOCK_HD static bool refuses(V a, V b, const Coef<V>&);
//
//     // Where operands of one type need no conversion on the CPU: these types, the type of the result in memory, the
//     // coefficients for pixel() in the operands' type, and whether these operands may be so computed
//     // (ops/shared/arithmetic.h).
//     using Dense = LaneList<uint8_t, ...>;
//     template <class V> using DenseResult = ...;
//     template <class V> static Coef<V> in_own_type(const Coef<DenseNumber<Name, V>>&);
//     bool dense(DType operands) const;
//
// With two operands an operator may have one input only; then Coef has the members `constant`, the other operand, and
// `constant_left`.
template <class Base, int kOperands = 1> struct WithPixel : Base {
  using PixelFamily = WithPixel;
  static constexpr int operands = kOperands;
  // The compute type, one of Lanes, that the types of the operands and of the output need.
  virtual Lane lane(std::span<const DType>, DType) const { return Lane::f32; }
  // False: all samples have the same coefficients, although they differ in arguments.
  virtual bool coefs_vary() const { return true; }
  // Throws if the operator does not take so many channels.
  virtual void check_channels(int) const {}
  virtual int channels(int in) const { return in; }
  // Device text of a base class that pixel() needs; kernels get it before the operator's own.
  virtual std::string base_text() const { return ""; }
};

struct PixelOperator : WithPixel<StageOperator> {};

// Several operands, each with its own shape: infer() and shapes() say how they go together.
template <int kOperands> struct ElementwiseOperator : WithPixel<StageOperator, kOperands> {
  virtual void infer(std::span<const ValueType> in, std::span<ValueType> out) const = 0;
  virtual void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
                      std::span<Shape> out) const = 0;
};

// The map part: which input position each output position shows.
struct MapOperator : StageOperator {
  // Calls Placement::window, once or more. The families below resample, convolve or warp.
  virtual void map(const SampleContext&, Placement&) const = 0;
  // What of the output's size is known before the input's: the extent of an axis, -1 where it is not known.
  virtual int64_t out_extent(const SampleContext&, char axis, int64_t in) const { return axis == 'C' ? in : -1; }
  virtual bool fills() const { return false; }          // map() may read outside the input
  virtual bool filters() const { return false; }        // map() may call Placement::filter
  virtual bool maps_channels() const { return false; }  // map() may cut the dimension C
};

// map() calls Placement::filter.
struct ResampleOperator : MapOperator {
  bool filters() const override { return true; }
  // All samples at once, where map() only filters height and width (BoundOp::image_windows). Must agree with map().
  virtual bool image_windows(std::span<const SampleContext>, std::span<const ImageExtent>,
                             std::span<ImageWindow>) const {
    return false;
  }
};

// map() is nothing but convolutions with these windows.
struct ConvolutionOperator : MapOperator {
  bool filters() const override { return true; }
  virtual void windows(const SampleContext&, const Layout&, int ndim, AxisWindows&) const = 0;
  // All samples at once (BoundOp::all_windows). Must agree with windows().
  virtual bool all_windows(std::span<const SampleContext>, const Layout&, int /*ndim*/, AxisWindows&) const {
    return false;
  }
};

// map() calls Placement::affine.
struct WarpOperator : MapOperator {};

// Both parts: the map comes first.
struct MapPixelOperator : WithPixel<MapOperator> {};

// The decoder part.
template <class Base> struct WithDecoder : Base {
  using DecodeFamily = WithDecoder;
  virtual DecodeParams decode_params() const = 0;
  Layout input_layout(const ValueType&) const override { return "HWC"; }
};

struct DecodeOperator : WithDecoder<StageOperator> {};
struct DecodeMapOperator : WithDecoder<MapOperator> {};  // decodes only what map() shows

// ---- Operators that compute a sample as a whole.

struct WholeOperator : Operator {
  // Types of the outputs; those of inputs may be partly unknown (dtype none, ndim -1).
  virtual void infer(std::span<const ValueType> in, std::span<ValueType> out) const = 0;
  // Extents of the outputs of one sample. Unknown extents of an input are -1, and may give -1.
  virtual void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
                      std::span<Shape> out) const = 0;
  // One of these two: steps, which run on both devices; or anything, on the CPU alone. Views are dense.
  virtual void work(const SampleContext&, std::span<const View> /*in*/, std::span<const View> /*out*/,
                    SampleWork&) const {}
  virtual void run(const SampleContext&, std::span<const View> /*in*/, std::span<const View> /*out*/) const {}

  // Where it moves the positions of an image: their map (point_map.h), which MapOperators have by map().
  virtual PointMap point_map(const SampleContext&, const Shape& /*image*/, const Layout&) const { return {}; }

  // With batch_wide() in the schema: what shapes(), run() and work() need of all samples, as
  // SampleContext::batch_state; and shapes that depend on all samples, where `out` holds the result of shapes().
  virtual std::shared_ptr<const void> batch_state(std::span<const Batch>, std::span<const ValueType>) const {
    return nullptr;
  }
  virtual void batch_shapes(std::span<const Batch>, std::span<const ValueType>, std::span<Batch>) const {}
  // If each sample is one number that is drawn from constants: all samples at once (BoundOp::draw_scalars).
  virtual bool draws_scalars() const { return false; }
  virtual void draw_scalars(std::span<const SampleContext>, DType, void* /*out*/) const {}
  // With decodes_to_device() in the schema: run() for one sample, with the first output on a GPU.
  virtual void decode_to_device(const SampleContext&, std::span<const View> /*in*/, const View& /*out*/,
                                const DevicePlace&) const {}
  // With batch_wide() in the schema, where shapes() needs values of inputs: steps that write up to kMostMeasured
  // numbers, which shapes() and work() get by measured(); null in shapes() where values are not known yet. The host
  // reads the numbers before it allocates: a batch waits for the GPU. An operator with batch_state() too has measured
  // the batch there, on the host: measure() gets that state and no inputs.
  virtual void measure(const SampleContext&, std::span<const View> /*in*/, SampleWork&, int64_t* /*numbers*/) const {}
  static const int64_t* measured(const SampleContext& s) { return static_cast<const int64_t*>(s.batch_state); }
};

// ---- Operators that make samples: readers and what the program supplies. Their Source does the work.

struct SourceOperator : Operator {
  virtual void infer(std::span<const ValueType> in, std::span<ValueType> out) const = 0;
};

}  // namespace penstock
