// SPDX-License-Identifier: Apache-2.0
// What an operator's file includes. An operator is a struct with the members below; all but schema() are optional, and
// they make it a pixel, map, decoder or whole operator. Inside a stage the order is decode, map, pixel: an operator
// that has both parts maps first. How to write one, step by step: docs/how_to/add_an_operator.md.
//
//   struct Name {
//     // Arguments. The initializer is the default.
//     PerSample<float> brightness = 1.0f;
//     DType dtype = DType::none;
//     static Schema<Name> schema() { return Schema<Name>("name", "doc").arg("brightness", &Name::brightness, "doc"); }
//
//     // ---- pixel part: one value in, one out; or Rgb<V> in, Rgb<V> out; or `operands` values in, one out.
//     // The macro compiles what is inside and keeps it as text for the GPU; it may use only what src/pixel offers.
//     PENSTOCK_PIXEL(
//     template <class V> struct Coef { V mul, add; };
//     template <class V> PENSTOCK_HD static V pixel(V in, Coef<V> c) { ... });
//     // A base class keeps its own parts of that text with PENSTOCK_TEXT, under the names rules_text, refuses_text and
//     // apply_text; kernels get them in this order, before the operator's own text.
//
//     // The coefficients of a sample. Also: coef<V>(sample); coef(sample, channel) where each channel has its own;
//     // coef(SampleFrame) where arguments are PerFrame.
//     Coef<float> coef(int sample) const;
//     bool coefs_vary() const;  // false: all samples have the same ones
//     // With `operands = 2` an operator may get one input only; then Coef has the members `constant`, the other
//     // operand, and `constant_left`. `fault` is the message for operands that refuses() names.
//     static constexpr const char* fault = "...";
//     static bool refuses(V a, V b, Coef<V>);
//     // Instead of coef(), where coefficients follow from numbers alone. Then these may be in a GPU's memory, and
//     // gpu_arguments() may name them. Known is what all samples share: know() fills it, after check().
//     PENSTOCK_TEXT(fold_text,
//     struct Values { float brightness, ...; };
//     struct Known { ... };
//     template <class V> PENSTOCK_HD static Coef<V> fold(const Values& v, const Known& k) { ... });
//     static constexpr auto folded = std::tuple{&Name::brightness, ...};  // the members of Values: PerFrame<float>
//     void know(Known&) const;
//     int fused_multiply_adds(const Coef<float>&, float* mul_adds) const;  // where pixel() is one or two of them
//
//     // ---- map part: which input position each output position shows.
//     void map(const SampleContext&, Placement&) const;
//     static constexpr bool filters = true;        // map() calls Placement::filter; or: bool filters() const
//     static constexpr bool warps = true;          // map() calls Placement::affine
//     static constexpr bool maps_channels = true;  // map() may cut the dimension C
//     bool fills() const;                          // whether map() may read outside the input
//     int64_t out_extent(const SampleContext&, char axis, int64_t in) const;  // what of the size is known early
//     // Where map() is nothing but convolutions: their windows.
//     static constexpr bool convolves = true;
//     void windows(const SampleContext&, const Layout&, int ndim, AxisWindows&) const;
//     // The same for all samples at once, where that is less work (BoundOp says when). Both must agree with map() and
//     // windows().
//     bool image_windows(std::span<const SampleContext>, std::span<const ImageExtent>, std::span<ImageWindow>) const;
//     bool all_windows(std::span<const SampleContext>, const Layout&, int ndim, AxisWindows&) const;
//
//     // ---- decoder part
//     DecodeParams decode_params() const;
//
//     // ---- for all of these. Defaults: the output has the dtype `dtype`, or the input's, and the input's layout.
//     DType output_dtype(std::span<const ValueType> in) const;
//     Layout output_layout(const Layout& in) const;
//     int channels(int in) const;                   // with keeps_channels: returns `in`, or throws
//     void check(std::span<const ValueType> in);    // throws on layouts and dtypes it cannot take; may keep the types
//     Layout input_layout(const ValueType&) const;  // the layout that an input without one is taken to have
//     void ready();                                 // called once, after all arguments are set
//     int count_outputs() const;                    // where arguments decide how many there are
//
//     // ---- whole part, instead of pixel and map
//     void infer(std::span<const ValueType> in, std::span<ValueType> out) const;
//     void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
//                 std::span<Shape> out) const;
//     void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork&) const;
//     // Or, for the CPU alone:
//     void run(const SampleContext&, std::span<const View> in, std::span<const View> out) const;
//   };
//   PENSTOCK_OPERATOR(Name);
#pragma once
#include <array>
#include <tuple>

#include "operator/fold_samples.h"
#include "operator/pixel_tiles.h"
#include "operator/sample_work.h"
#include "pixel/philox.h"

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
  Schema&& batch_wide() && {
    info_.batch_wide = true;
    return std::move(*this);
  }
  OpInfo take() && { return std::move(info_); }

 private:
  OpInfo info_;
  Op prototype_;
};

template <class Op>
concept HasWork =
    requires(const Op o, const SampleContext& s, std::span<const View> v, SampleWork& w) { o.work(s, v, v, w); };
template <class Op>
concept WholeOp =
    HasWork<Op> || requires(const Op o, const SampleContext& s, std::span<const View> v) { o.run(s, v, v); };
template <class Op> concept HasMap = requires(const Op o, const SampleContext& s, Placement& p) { o.map(s, p); };
template <class Op> concept HasPixel = requires { typename Op::template Coef<float>; };
template <class Op> concept Folds = requires { typename Op::Values; };
template <class Op> concept Decodes = requires(const Op o) { o.decode_params(); };

template <class Op>
class OpAdaptor final : public BoundOp {
 public:
  Op op;
  void* members() override { return &op; }
  void ready() override {
    if constexpr (requires { op.ready(); }) op.ready();
  }

  Layout input_layout(const ValueType& in) const override {
    if constexpr (Decodes<Op>) return "HWC";
    else if constexpr (requires { op.input_layout(in); }) return op.input_layout(in);
    else return in.layout;
  }

  void infer(std::span<const ValueType> in, std::span<ValueType> out) override {
    if constexpr (requires { op.check(in); }) op.check(in);
    if constexpr (Folds<Op>) op.know(known_);
    if constexpr (requires { op.infer(in, out); }) {
      op.infer(in, out);
    } else if (!in.empty()) {
      ValueType& o = out[0];
      if constexpr (Decodes<Op>) {
        o = {op.decode_params().dtype, 3, "HWC"};
      } else {
        o = in[0];
        o.layout = input_layout(in[0]);
        if constexpr (requires { op.output_dtype(in); }) o.dtype = op.output_dtype(in);
        else if constexpr (requires {
                             { op.dtype } -> std::convertible_to<DType>;
                           }) {
          if (op.dtype != DType::none) o.dtype = op.dtype;
        }
      }
      if constexpr (requires { op.output_layout(o.layout); }) {
        o.layout = op.output_layout(o.layout);
        if (!o.layout.empty()) o.ndim = o.layout.size();
      }
    }
  }

  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    if constexpr (requires { op.shapes(s, in, types, out); }) {
      op.shapes(s, in, types, out);
    } else {
      const Layout layout = input_layout(types[0]);
      Shape shape = in[0];
      if constexpr (HasMap<Op>) {
        if (shape.known()) {
          Placement p(shape, layout);
          op.map(s, p);
          shape = p.shape();
        } else {
          for (int i = 0; i < shape.size(); ++i) {
            if constexpr (requires { op.out_extent(s, 'H', int64_t{}); })
              shape[i] = op.out_extent(s, layout[i], shape[i]);
            else shape[i] = layout[i] == 'C' ? shape[i] : -1;
          }
        }
      }
      if constexpr (requires { op.channels(3); })
        if (const int c = layout.find('C'); c >= 0 && shape[c] >= 0) shape[c] = op.channels(static_cast<int>(shape[c]));
      if constexpr (requires { op.output_layout(layout); }) {
        const Layout to = op.output_layout(layout);
        Shape permuted = shape;
        for (int i = 0; i < to.size() && i < shape.size(); ++i)
          if (const int k = layout.find(to[i]); k >= 0) permuted[i] = shape[k];
        shape = permuted;
      }
      out[0] = shape;
    }
  }

  StageTraits traits() const override {
    StageTraits t;
    t.decodes = Decodes<Op>;
    t.maps = HasMap<Op>;
    if constexpr (requires { op.filters(); }) t.filters = op.filters();
    else if constexpr (requires { Op::filters; }) t.filters = Op::filters;
    if constexpr (requires { Op::warps; }) t.warps = Op::warps;
    if constexpr (requires { op.fills(); }) t.fills = op.fills();
    if constexpr (requires { Op::maps_channels; }) t.maps_channels = Op::maps_channels;
    t.own_shapes = requires(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
                            std::span<Shape> out) { op.shapes(s, in, types, out); } ||
                   (requires { op.channels(3); } && !requires { Op::keeps_channels; });
    t.convolves = requires { Op::convolves; };
    if constexpr (HasPixel<Op>) {
      t.pixels = true;
      t.mixes_channels = mixes_channels<Op, float>;
      t.per_channel = requires { op.coef(0, 0); } || requires { op.template coef<float>(0, 0); };
      t.operands = operands_of<Op>;
    }
    if constexpr (requires { Op::positional; }) t.positional = Op::positional;
    if constexpr (requires { Op::fault; }) t.faults = true;
    return t;
  }
  DecodeParams decode_params() const override {
    if constexpr (Decodes<Op>) return op.decode_params();
    return {};
  }
  void map(const SampleContext& s, Placement& p) const override {
    if constexpr (HasMap<Op>) op.map(s, p);
  }
  void windows(const SampleContext& s, const Layout& layout, int ndim, AxisWindows& to) const override {
    if constexpr (requires { Op::convolves; }) op.windows(s, layout, ndim, to);
  }
  bool all_windows(std::span<const SampleContext> s, const Layout& layout, int ndim, AxisWindows& to) const override {
    if constexpr (requires { op.all_windows(s, layout, ndim, to); }) return op.all_windows(s, layout, ndim, to);
    else return false;
  }
  bool image_windows(std::span<const SampleContext> s, std::span<const ImageExtent> from,
                     std::span<ImageWindow> to) const override {
    if constexpr (requires { op.image_windows(s, from, to); }) return op.image_windows(s, from, to);
    else return false;
  }
  int channels(int in) const override {
    if constexpr (requires { op.channels(3); }) return op.channels(in);
    return in;
  }
  Lane lane(std::span<const DType> in, DType out) const override {
    if constexpr (requires { op.lane(in, out); }) return op.lane(in, out);
    return Lane::f32;
  }
  size_t coef_bytes(Lane lane) const override {
    size_t n = 0;
    if constexpr (HasPixel<Op>)
      with_lane<Op>(lane, [&](auto tag) { n = sizeof(typename Op::template Coef<typename decltype(tag)::type>); });
    return n;
  }
  void coef(const SampleContext& s, Lane lane, int planes, std::byte* out) const override {
    if constexpr (HasPixel<Op>) {
      with_lane<Op>(lane, [&](auto tag) {
        using V = typename decltype(tag)::type;
        using C = typename Op::template Coef<V>;
        auto put = [&](const C& c, int plane) { std::memcpy(out + plane * sizeof(C), &c, sizeof(C)); };
        if constexpr (Folds<Op>) {
          put(Op::template fold<V>(values_of(s.values()), known_), 0);
        } else if constexpr (requires { op.template coef<V>(0, 0); }) {
          for (int p = 0; p < planes; ++p) put(op.template coef<V>(s.values(), p), p);
        } else if constexpr (requires { op.template coef<V>(0); }) {
          put(op.template coef<V>(s.values()), 0);
        } else if constexpr (std::is_same_v<V, float>) {
          [&](const auto& o) {  // generic, for Clang compiles what names Op alone where V is not float too
            if constexpr (requires { o.coef(0, 0); }) {
              for (int p = 0; p < planes; ++p) put(o.coef(s.values(), p), p);
            } else {
              put(o.coef(s.values()), 0);
            }
          }(op);
        }
      });
    }
  }
  void coefs(std::span<const SampleContext> samples, Lane lane, int planes, std::byte* out,
             size_t stride) const override {
    if constexpr (Folds<Op>) {
      with_lane<Op>(lane, [&](auto tag) {
        using V = typename decltype(tag)::type;
        FoldRows<Op> values;
        FoldedRows<Op, V> folded;
        for (size_t first = 0; first < samples.size(); first += kFoldedTogether) {
          const auto part = samples.subspan(first, std::min(kFoldedTogether, samples.size() - first));
          size_t row = 0;
          std::apply([&](auto... m) { (number_row(op.*m, part, values.row[row++]), ...); }, Op::folded);
          fold_samples<Op, V>(values, known_, part.size(), folded);
          for (size_t i = 0; i < part.size(); ++i, out += stride)
            for (size_t k = 0; k < folded.count; ++k) std::memcpy(out + k * sizeof(V), &folded.row[k][i], sizeof(V));
        }
      });
    } else {
      BoundOp::coefs(samples, lane, planes, out, stride);
    }
  }
  bool coefs_vary() const override {
    if constexpr (Folds<Op>) return std::apply([&](auto... m) { return (!(op.*m).constant() || ...); }, Op::folded);
    else if constexpr (requires { op.coefs_vary(); }) return op.coefs_vary();
    else return per_sample() || info->random;
  }
  FoldedArguments folded() const override {
    FoldedArguments f;
    if constexpr (Folds<Op>) {
      f.bytes = sizeof(FoldedNumbers<typename Op::Values, typename Op::Known>);
      std::apply([&](auto... member) { (f.arguments.push_back((op.*member).batch()), ...); }, Op::folded);
    }
    return f;
  }
  void values(const SampleContext& s, std::byte* out) const override {
    if constexpr (Folds<Op>) {
      const FoldedNumbers<typename Op::Values, typename Op::Known> numbers{values_of(s.values()), known_};
      std::memcpy(out, &numbers, sizeof numbers);
    }
  }
  std::string fold_text() const override {
    if constexpr (Folds<Op>) return Op::fold_text;
    else return "";
  }
  TileFn tile(Target t, Lane lane) const override {
    if constexpr (HasPixel<Op>) return tile_of<Op>(t, lane);
    return nullptr;
  }
  std::string device_text() const override {
    std::string text;
    if constexpr (requires { Op::rules_text; }) text += std::string(Op::rules_text) + "\n";
    if constexpr (requires { Op::refuses_text; }) text += std::string(Op::refuses_text) + "\n";
    if constexpr (requires { Op::apply_text; }) text += std::string(Op::apply_text) + "\n";
    if constexpr (HasPixel<Op>) text += std::string(Op::pixel_text) + "\n";
    return text;
  }
  const char* fault() const override {
    if constexpr (requires { Op::fault; }) return Op::fault;
    return "";
  }
  int fused_multiply_adds(const std::byte* coef, float* mul_adds) const override {
    if constexpr (requires(const typename Op::template Coef<float>& c) { op.fused_multiply_adds(c, mul_adds); }) {
      typename Op::template Coef<float> c;
      std::memcpy(&c, coef, sizeof c);
      return op.fused_multiply_adds(c, mul_adds);
    }
    return 0;
  }
  std::shared_ptr<const void> batch_state(std::span<const Batch> in, std::span<const ValueType> types) const override {
    if constexpr (requires { op.batch_state(in, types); }) return op.batch_state(in, types);
    return nullptr;
  }
  void batch_shapes(std::span<const Batch> in, std::span<const ValueType> types, std::span<Batch> out) const override {
    if constexpr (requires { op.batch_shapes(in, types, out); }) op.batch_shapes(in, types, out);
  }
  void run(const SampleContext& s, std::span<const View> in, std::span<const View> out) const override {
    if constexpr (HasWork<Op>) op.work(s, in, out, host_work());
    else if constexpr (WholeOp<Op>) op.run(s, in, out);
  }
  bool draws_scalars() const override {
    if constexpr (requires { op.draws_scalars(); }) return op.draws_scalars();
    else return false;
  }
  void draw_scalars(std::span<const SampleContext> s, DType t, void* out) const override {
    if constexpr (requires { op.draw_scalars(s, t, out); }) op.draw_scalars(s, t, out);
  }
  bool has_work() const override { return HasWork<Op>; }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    if constexpr (HasWork<Op>) op.work(s, in, out, to);
  }

 private:
  // The host does not know the values of a GPU.
  template <class Argument> static bool is_known(const Argument& a) {
    return !a.batch() || a.batch()->device().kind != DeviceKind::gpu;
  }
  template <class Argument>
  static void number_row(const Argument& a, std::span<const SampleContext> samples, float* row) {
    if (!is_known(a)) std::fill_n(row, samples.size(), 0.0f);
    else if (a.constant()) std::fill_n(row, samples.size(), a.one());
    else if (a.frames())
      for (const SampleContext& s : samples) *row++ = a[s.values()];
    else
      for (const SampleContext& s : samples) *row++ = stored_number<float>(*a.batch(), s.index);
  }
  auto values_of(SampleFrame at) const
    requires Folds<Op> {
    const auto number = [&](const auto& argument) { return is_known(argument) ? argument[at] : 0.0f; };
    return std::apply([&](auto... member) { return typename Op::Values{number(op.*member)...}; }, Op::folded);
  }
  template <class T> struct KnownOf {
    struct type {};
  };
  template <class T>
    requires Folds<T> struct KnownOf<T> {
    using type = typename T::Known;
  };
  [[no_unique_address]] typename KnownOf<Op>::type known_{};
};

template <class Op>
bool add_to_registry() {
  OpInfo info = Op::schema().take();
  info.family = WholeOp<Op> ? Family::whole : Family::stage;
  if constexpr (requires { Op::source; }) info.family = Family::source;
  info.make = [] { return std::unique_ptr<BoundOp>(new OpAdaptor<Op>); };
  if constexpr (requires(const Op& op) { op.count_outputs(); })
    info.count_outputs = [](BoundOp& bound) { return static_cast<const Op*>(bound.members())->count_outputs(); };
  register_op(std::move(info));
  return true;
}
#define PENSTOCK_OPERATOR(Op) [[maybe_unused]] static const bool registered_##Op = ::penstock::add_to_registry<Op>()

}  // namespace penstock
