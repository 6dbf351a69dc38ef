// SPDX-License-Identifier: Apache-2.0
// An operator with its arguments bound, seen without its type: what planners, executors and the C API work with.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/target.h"
#include "batch/batch.h"
#include "codecs/image_decoder.h"
#include "operator/argument.h"
#include "operator/placement.h"

namespace penstock {

// What is known about a graph's edge before data flow.
struct ValueType {
  DType dtype = DType::none;
  int ndim = -1;  // -1 = not known
  Layout layout;
};

// Which random numbers a node of a graph or a call draws. Nodes with an explicit seed have the number kSeeded: their
// draws depend only on the seed and the sample, so that equal seeds draw equal numbers.
constexpr uint32_t kSeeded = UINT32_MAX;
struct DrawKey {
  uint64_t seed = 0;  // is combined with SampleContext::seed by XOR
  uint32_t node = 0;  // number among the nodes that share the seed
  friend bool operator==(const DrawKey&, const DrawKey&) = default;
};

constexpr int kMostMeasured = 4;

// Identifies the sample, for all random numbers and all messages.
struct SampleContext {
  int index = 0;      // in its batch: selects per-sample arguments
  uint64_t seed = 0;  // of a call; in a graph: what loops and fn.expand change in the seeds of all nodes
  uint64_t epoch = 0;
  uint64_t sample = 0;  // position in the global order of the primary source
  DrawKey draws;
  const void* batch_state = nullptr;  // what BoundOp::batch_state made of the whole batch; in shapes() of batch-wide
                                      // operators a std::span<const Batch>, the inputs
  int64_t frame = 0;                  // selects among the values of arguments that have one value for each frame

  SampleFrame values() const { return {index, frame}; }
};

// Number type of the registers of a tile. f32 holds integers of up to 16 bits and halves exactly.
enum class Lane : uint8_t { f32, f64, i32, i64, u64 };
constexpr int kLanes = 5;
constexpr size_t lane_size(Lane l) { return l == Lane::f32 || l == Lane::i32 ? 4 : 8; }

// One call over a tile: `planes` planes (channels) of n elements each.
constexpr int kMaxOperands = 3;
struct TileCall {
  const void* const* in[kMaxOperands] = {};  // in[k][plane]
  void* const* out = nullptr;                // out[plane]; may be the same memory as an input plane
  int planes = 1;                            // planes of the output
  int in_planes = 1;
  int64_t n = 0;
  const std::byte* coef = nullptr;
  size_t coef_stride = 0;                  // bytes from one plane's coefficients to the next; 0: shared
  int64_t x = 0, y = 0, z = 0, frame = 0;  // position of element 0
  bool* fault = nullptr;                   // set if pixel() refuses an operand (BoundOp::fault)
};
using TileFn = void (*)(const TileCall&);

// The parts of an operator that run in a stage: optionally a decoder, a map, a pixel function.
struct StageTraits {
  bool decodes = false;
  bool maps = false;
  bool filters = false;        // the map may resample or convolve
  bool warps = false;          // the map may be affine
  bool fills = false;          // the map may read outside and fill
  bool convolves = false;      // the map consists of convolutions only: BoundOp::windows
  bool maps_channels = false;  // the map may cut the channels
  bool own_shapes = false;     // the output's shape follows its own rule: neither map nor input alone give it
  bool pixels = false;
  bool mixes_channels = false;  // pixel() sees all channels of a position
  bool per_channel = false;     // coefficients differ between channels
  bool positional = false;      // pixel() depends on the position or on random numbers
  bool faults = false;          // pixel() refuses some operands
  bool keeps_values = false;    // pixel() returns its operand: only the type changes
  int operands = 1;
};

// The windows of convolutions along consecutive dimensions.
struct AxisWindows {
  int first = 0;               // of these dimensions
  FixedVector<int, 3> sizes;   // of the window of each
  bool same = false;           // all equal the first one
  std::vector<float> weights;  // of all windows, contiguous; only of the first one if they are equal
  void clear() { first = 0, same = false, sizes.clear(), weights.clear(); }
};

// An image that is resampled: its extents, and what its height and width pass to Placement::filter.
struct ImageExtent {
  int64_t height, width;
};
struct AxisWindow {
  double lo, hi;  // becomes `out` samples
  int64_t out;
  FilterKind kind;
  bool antialias;
};
struct ImageWindow {
  AxisWindow y, x;
};

// The arguments whose numbers determine the coefficients (docs/decisions/0016).
struct FoldedArguments {
  size_t bytes = 0;                        // of FoldedNumbers; 0: the operator has none
  FixedVector<const Batch*, 8> arguments;  // the meaning of the floats of Values; null: one value for all samples
};
template <class Values, class Known> struct FoldedNumbers {
  Values values;
  Known known;
};

enum class Family : uint8_t { stage, whole, source };
enum class Fed : uint8_t { no, batches, video };
constexpr const char* name_of(Fed f) { return f == Fed::batches ? "batches" : f == Fed::video ? "video" : ""; }

struct OpInfo;
struct DevicePlace;
class SampleWork;
class BoundOp {
 public:
  virtual ~BoundOp() = default;
  const OpInfo* info = nullptr;
  // The arguments whose samples hold one value for each frame; usually none.
  std::vector<std::pair<const ArgInfo*, const Batch*>> frame_arguments;
  // The arguments that have one value for each sample.
  std::vector<std::pair<const ArgInfo*, const Batch*>> sample_arguments;
  bool per_sample() const { return !sample_arguments.empty(); }

  virtual void* members() = 0;  // the operator's struct
  // Called when all arguments are set. Throws for invalid combinations.
  virtual void ready() {}

  // Types of the outputs; inputs may be partly unknown (dtype none, ndim -1). Called once, before all functions below:
  // the operator may keep what it needs of the types.
  virtual void infer(std::span<const ValueType> in, std::span<ValueType> out) = 0;
  // The layout that is assumed for an input without one.
  virtual Layout input_layout(const ValueType& in) const { return in.layout; }
  // Extents of the outputs of one sample. Unknown extents of an input are -1, and may give -1.
  virtual void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
                      std::span<Shape> out) const = 0;

  // For operators that run in a stage.
  virtual StageTraits traits() const { return {}; }
  virtual DecodeParams decode_params() const { return {}; }
  virtual void map(const SampleContext&, Placement&) const {}
  virtual void windows(const SampleContext&, const Layout&, int /*ndim*/, AxisWindows&) const {}
  // The same for all samples, contiguous in `weights`. False: their sizes may differ, or windows() has to report
  // something about a sample.
  virtual bool all_windows(std::span<const SampleContext>, const Layout&, int /*ndim*/, AxisWindows&) const {
    return false;
  }
  // All samples of a map() that only filters height and width. False: the map does something else.
  virtual bool image_windows(std::span<const SampleContext>, std::span<const ImageExtent>,
                             std::span<ImageWindow>) const {
    return false;
  }
  virtual int channels(int in) const { return in; }
  // The compute type that the arithmetic needs, given the types of the operands and of the output.
  virtual Lane lane(std::span<const DType>, DType) const { return Lane::f32; }
  virtual size_t coef_bytes(Lane) const { return 0; }  // of one plane
  // `planes` blocks of coef_bytes if per_channel, else one.
  virtual void coef(const SampleContext&, Lane, int /*planes*/, std::byte* /*out*/) const {}
  // The same for many samples; each sample is `stride` bytes after the one before.
  virtual void coefs(std::span<const SampleContext> samples, Lane lane, int planes, std::byte* out,
                     size_t stride) const {
    for (const SampleContext& s : samples) coef(s, lane, planes, out), out += stride;
  }
  // Whether samples differ in their coefficients.
  virtual bool coefs_vary() const { return true; }
  // The numbers that coef() folds: FoldedNumbers, with 0 for those that are on a GPU. `text`: members of a struct that
  // also holds device_text(): Values, Known and `template <class V> static Coef<V> fold(const Values&, const Known&)`.
  virtual FoldedArguments folded() const { return {}; }
  virtual void values(const SampleContext&, std::byte* /*out*/) const {}
  virtual std::string fold_text() const { return ""; }
  virtual TileFn tile(Target, Lane) const { return nullptr; }
  // The same over memory: operands and result are dense arrays of their own types, all operands of this one. It takes
  // the coefficients of the compute type. nullptr: there is none.
  virtual TileFn dense_loop(Target, DType /*operands*/) const { return nullptr; }
  // Members of a struct that holds Coef<V> and pixel(), and refuses() if traits().faults, as CUDA C++ that uses only
  // cuda/kernels/vocabulary.h: the operator's own source. "" without a pixel part.
  virtual std::string device_text() const { return ""; }
  virtual const char* fault() const { return ""; }  // message for TileCall::fault
  // For an operator that in f32 is out = fma(in, mul, add), or two of these in turn: their number. Writes the two
  // floats of each to mul_adds, for the coefficient block of a plane. 0: the operator does something else.
  virtual int fused_multiply_adds(const std::byte* /*coef*/, float* /*mul_adds*/) const { return 0; }
  // Whether pixel() with this coefficient block only moves channels: output channel c < 3 is input channel from[c].
  virtual bool moves_channels(Lane, const std::byte* /*coef*/, int* /*from*/) const { return false; }
  // For an operator whose pixel() in f32 is a matrix: channel r is fma(blue, m[3 * r + 2], fma(green, m[3 * r + 1],
  // fma(red, m[3 * r], m[9 + r]))). Writes the twelve floats of m.
  virtual bool color_matrix(const std::byte* /*coef*/, float* /*m*/) const { return false; }

  // For whole operators: one sample; views of inputs and outputs are dense.
  virtual void run(const SampleContext&, std::span<const View>, std::span<const View>) const {}
  // All samples at once, if each is one number that is drawn from constants: out[i] of sample i, in the type of the
  // output.
  virtual bool draws_scalars() const { return false; }
  virtual void draw_scalars(std::span<const SampleContext>, DType, void* /*out*/) const {}
  // The same as steps (operator/sample_work.h), which also run on a GPU; only for operators that have steps.
  virtual bool has_work() const { return false; }
  virtual void work(const SampleContext&, std::span<const View>, std::span<const View>, SampleWork&) const {}
  // Only if info->decodes_to_device: as run(), with the first output on a device. A source writes it by itself.
  virtual void decode_to_device(const SampleContext&, std::span<const View>, const View&, const DevicePlace&) const {}
  // Only if info->batch_wide: shapes of the outputs that depend on all samples; `out` holds the result of shapes().
  virtual void batch_shapes(std::span<const Batch>, std::span<const ValueType>, std::span<Batch>) const {}
  // Only if info->batch_wide: what run() needs of all samples; it gets this as SampleContext::batch_state.
  virtual std::shared_ptr<const void> batch_state(std::span<const Batch>, std::span<const ValueType>) const {
    return nullptr;
  }
  // Whether shapes need values of inputs. Then measure() comes first: steps that write kMostMeasured numbers where the
  // work is done. measured_shapes() and work() get them as SampleContext::batch_state. On the host, shapes() and run()
  // measure by themselves.
  virtual bool measures() const { return false; }
  virtual void measure(const SampleContext&, std::span<const View>, SampleWork&, int64_t* /*numbers*/) const {}
  virtual void measured_shapes(const SampleContext&, std::span<const Shape>, std::span<const ValueType>,
                               std::span<Shape>) const {}
};

// What a room above gives with an operator when it registers it, and takes back from OpInfo::maker: how to make what it
// alone knows. It derives from this.
struct Maker {
  virtual ~Maker() = default;
};

struct OpInfo {
  std::string name;  // "brightness_contrast", "random.uniform", "decoders.image"
  std::string doc;
  Family family = Family::stage;
  int min_inputs = 1, max_inputs = 1, outputs = 1;
  std::vector<std::string> input_names;
  std::vector<ArgInfo> args;
  // Inputs after the first max_inputs are values of these arguments (the shape of reshape, the matrix of warp_affine).
  std::vector<std::string> argument_inputs;
  // An argument that adds an output if it is true: the extents D, H, W of the first input, int32. For operators that
  // run in a stage.
  std::string size_output;
  std::vector<std::string>
      gpu_arguments;            // per-sample arguments whose values may stay on the GPU that the operator runs on
  std::string float64;          // why its kernels compute in float64 for elements of other types; empty: they do not
  std::string oracle;           // the library that its results are tested against
  bool random = false;          // takes part in the counter-based random numbers
  bool hidden = false;          // no fn.name: called through operators of DataNode
  bool lazy_files = false;      // source: output 0 is a file that is read where it is needed
  bool loads_samples = false;   // source: worker threads load its samples, each on its own, into CPU memory
  Fed fed = Fed::no;            // source: the program supplies the data; batches are requested only where they are read
  bool calls_compiled = false;  // source that calls a function: machine code, which the threads of the pipeline call
  bool fits_all = false;        // the result is the same for all samples if it has no inputs and no per-sample values
  bool reads_shapes = false;    // run() reads only the shapes of its inputs
  bool batch_wide = false;      // shapes() needs all samples (pad to the largest)
  // The output may use the memory of the first input, if nothing else needs that input: assignments to a part. Input
  // and output then have the same address, and the operator does not touch what it does not change.
  bool in_place = false;
  bool keeps_positions = false;  // whole: output (x, y) shows what input (x, y) shows, with other values
  bool reads_images = false;     // works on images, although an input without a layout is not taken as one
  // whole: elements of its inputs and outputs may be bfloat16. Stages convert theirs, and take it without saying so.
  bool takes_bfloat16 = false;
  bool decodes_to_device = false;  // reads on the host, while an engine of a GPU writes the first output
  std::unique_ptr<BoundOp> (*make)() = nullptr;
  int (*count_outputs)(BoundOp&) = nullptr;  // if it depends on the arguments; then `outputs` is the least number
  const Maker* maker = nullptr;              // lives as long as the registry
  std::string host_only;                     // why it has no form for a GPU; empty: it has one
  std::string follows;  // the operator whose map of points this is (point_map_adaptor.h): not one of all_ops()
  // Inputs with a few numbers that the host reads, also for work on a GPU: they stay where they are made, and if that
  // is the GPU, a batch waits until they are here.
  std::vector<std::string> read_on_host;
  const ArgInfo* arg(const std::string& name) const;
  bool reads_on_host(size_t input) const;
  // Whether the operator calls a function of the user's program: it reads values as operators do and makes new ones as
  // sources do.
  bool calls_back() const { return family == Family::source && max_inputs > 0 && !loads_samples; }
};

// Throws if the values of a whole operator are bfloat16 and it does not take that.
void check_bfloat16(const OpInfo& info, std::span<const ValueType> in, std::span<const ValueType> out);

// True for operators that take an input without a layout as an image (BoundOp::input_layout), and for those whose
// schema says that they read images.
bool reads_images(const OpInfo& info);

// Whether a GPU has a form of the operator: as a stage, as steps or drawn numbers, or through an engine of it. Sources
// have none.
bool runs_on_both_devices(const OpInfo& info);

// Whether parts of a sample that are not pixels stay where they are: pixel functions, convolutions, what says so.
bool keeps_positions(const OpInfo& info);

// The only registry.
const OpInfo* find_op(const std::string& name);  // nullptr if there is none
const OpInfo& get_op(const std::string& name);   // throws with "did you mean"
std::vector<const OpInfo*> all_ops();            // by name; without maps of points
void register_op(OpInfo info);

// Separates the inputs that are values of arguments from `n_inputs`: entry k is the index in info.args of input
// n_inputs - size + k. Throws if the number of inputs is wrong, or if such an argument was also given by name.
std::vector<int> argument_inputs(const OpInfo& info, int n_inputs, std::span<const Argument> args);

// The number of outputs that the operator has with these arguments; args[i] belongs to info.args[i].
int outputs_of(const OpInfo& info, std::span<const Argument> args);

// Creates the operator and sets the arguments; args[i] belongs to info.args[i].
std::unique_ptr<BoundOp> bind_op(const OpInfo& info, std::span<const Argument> args);

}  // namespace penstock
