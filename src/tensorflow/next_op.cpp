// SPDX-License-Identifier: Apache-2.0
//
// The operator PenstockNext of TensorFlow: the batch of a saved pipeline that begins at sample `position` of its run.
// The batch is a function of the inputs, so that data sets can be saved, sharded and sent to other processes.
// penstock/plugin/tf makes data sets of it.
#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "tensorflow/cursors.h"
#include "tensorflow/feeds.h"
#include "tensorflow/results.h"

namespace penstock::tensorflow {

namespace {

constexpr const char* kName = "PenstockNext";

// Reads the attributes of a node.
class Attributes {
 public:
  explicit Attributes(TF_OpKernelConstruction* node) : node_(node) {}

  std::string text(const char* name) {
    std::string read(bytes(name), '\0');
    TF_OpKernelConstruction_GetAttrString(node_, name, read.data(), read.size(), status_);
    status_.check();
    return read;
  }

  std::vector<std::string> texts(const char* name) {
    std::string room(bytes(name), '\0');
    std::vector<char*> begins(count_);
    std::vector<size_t> lengths(count_);
    if (count_)
      TF_OpKernelConstruction_GetAttrStringList(node_, name, begins.data(), lengths.data(), static_cast<int>(count_),
                                                room.data(), room.size(), status_);
    status_.check();
    std::vector<std::string> read;
    for (size_t i = 0; i < count_; ++i) read.emplace_back(begins[i], lengths[i]);
    return read;
  }

  std::vector<unsigned char> flags(const char* name) {
    bytes(name);
    std::vector<unsigned char> read(count_);
    if (count_) TF_OpKernelConstruction_GetAttrBoolList(node_, name, read.data(), static_cast<int>(count_), status_);
    status_.check();
    return read;
  }

  int64_t number(const char* name) {
    int64_t read = 0;
    TF_OpKernelConstruction_GetAttrInt64(node_, name, &read, status_);
    status_.check();
    return read;
  }

 private:
  size_t bytes(const char* name) {
    int32_t count = 0, bytes = 0;
    TF_OpKernelConstruction_GetAttrSize(node_, name, &count, &bytes, status_);
    status_.check();
    count_ = count < 0 ? 0 : static_cast<size_t>(count);
    return bytes < 0 ? 0 : static_cast<size_t>(bytes);
  }

  TF_OpKernelConstruction* node_;
  Status status_;
  size_t count_ = 0;
};

class Kernel {
 public:
  explicit Kernel(Attributes node)
      : saved_(node.text("pipeline")),
        cursors_(saved_, node.number("stride")),
        input_names_(node.texts("input_names")),
        input_layouts_(node.texts("input_layouts")),
        ragged_inputs_(node.flags("ragged_inputs")),
        output_names_(node.texts("output_names")),
        ragged_outputs_(node.flags("ragged_outputs")) {
    batch_size_ = input_names_.empty() ? cursors_.batch_size() : 0;
    if (input_names_.empty()) {
      for (const penstock_output_spec& spec : cursors_.outputs()) ranks_.push_back(spec.ndim);
    } else {
      penstock_function* function = nullptr;
      check(penstock_function_load(saved_.c_str(), nullptr, &function));
      function_.reset(function);
      ranks_.assign(output_names_.size(), -1);
    }
    if (ranks_.size() != output_names_.size() || ranks_.size() != ragged_outputs_.size())
      invalid("the pipeline has " + std::to_string(ranks_.size()) + " outputs, and the operator names " +
              std::to_string(output_names_.size()));
  }

  void compute(TF_OpKernelContext* context) {
    const TensorHandle given = input(context, 0);
    const int64_t position = *static_cast<const int64_t*>(TF_TensorData(given.get()));
    std::vector<BatchHandle> made = function_ ? called(context, position) : cursors_.batch(number_at(position));
    set_flag(context, !made.empty());
    int index = 1;
    for (size_t k = 0; k < output_names_.size(); ++k) {
      if (made.empty()) {
        set_nothing(context, index, k);
        continue;
      }
      auto tensors = ragged_outputs_[k] ? ragged(std::move(made[k]), ranks_[k])
                                        : dense(std::move(made[k]), ranks_[k], "output " + output_names_[k]);
      for (const TensorHandle& tensor : tensors) set(context, index++, tensor.get());
    }
  }

 private:
  int64_t number_at(int64_t position) const {
    if (position % batch_size_ != 0)
      invalid("sample " + std::to_string(position) + " is not the first one of a batch of " +
              std::to_string(batch_size_) + ": this position was saved with another batch_size");
    return position / batch_size_;
  }

  static TensorHandle input(TF_OpKernelContext* context, int index) {
    const Status status;
    TF_Tensor* tensor = nullptr;
    TF_GetInput(context, index, &tensor, status);
    status.check();
    return TensorHandle(tensor);
  }

  static void set(TF_OpKernelContext* context, int index, const TF_Tensor* tensor) {
    const Status status;
    TF_SetOutput(context, index, tensor, status);
    status.check();
  }

  // Whether there was a batch: the end of the data is not an error, which TensorFlow would report as one.
  static void set_flag(TF_OpKernelContext* context, bool flag) {
    const TensorHandle tensor(TF_AllocateTensor(TF_BOOL, nullptr, 0, 1));
    *static_cast<bool*>(TF_TensorData(tensor.get())) = flag;
    set(context, 0, tensor.get());
  }

  // An output of a batch that there is not.
  void set_nothing(TF_OpKernelContext* context, int& index, size_t output) {
    const auto spec = cursors_.outputs()[output];
    const std::vector<int64_t> extents(static_cast<size_t>(ragged_outputs_[output] ? 1 : 1 + std::max(spec.ndim, 0)),
                                       0);
    const TF_DataType type = type_of(spec.dtype == PENSTOCK_NONE ? PENSTOCK_UINT8 : spec.dtype);
    const TensorHandle empty(TF_AllocateTensor(type, extents.data(), static_cast<int>(extents.size()), 0));
    set(context, index++, empty.get());
    if (!ragged_outputs_[output]) return;
    const int64_t none[] = {0, std::max(spec.ndim, 0)};
    const TensorHandle shapes(TF_AllocateTensor(TF_INT64, none, 2, 0));
    set(context, index++, shapes.get());
  }

  // The graph as a function of the inputs; several threads may be here at once.
  std::vector<BatchHandle> called(TF_OpKernelContext* context, int64_t position) const {
    std::vector<BatchHandle> batches;
    std::vector<const penstock_batch*> inputs;
    int index = 1;
    for (size_t k = 0; k < input_names_.size(); ++k) {
      TensorHandle values = input(context, index++);
      const TensorHandle shapes = ragged_inputs_[k] ? input(context, index++) : TensorHandle();
      batches.push_back(fed(std::move(values), shapes.get(), input_names_[k], input_layouts_[k]));
      inputs.push_back(batches.back().get());
    }
    penstock_function_call_options options{};
    options.struct_size = sizeof options;
    options.first_sample = static_cast<uint64_t>(position);
    std::vector<penstock_batch*> made(output_names_.size());
    check(penstock_function_call(function_.get(), inputs.data(), inputs.size(), &options, made.data(), made.size()));
    return {made.begin(), made.end()};
  }

  std::string saved_;
  Cursors cursors_;
  FunctionHandle function_;  // with inputs
  std::vector<std::string> input_names_, input_layouts_;
  std::vector<unsigned char> ragged_inputs_;
  std::vector<std::string> output_names_;
  std::vector<unsigned char> ragged_outputs_;
  std::vector<int> ranks_;
  int64_t batch_size_ = 0;
};

// Calls `body`, and gives what it throws to `fail`: nothing may be thrown into TensorFlow.
template <typename Body, typename Fail>
void guarded(Body body, Fail fail) {
  const Status status;
  try {
    return body();
  } catch (const Fault& fault) {
    status.set(fault);
  } catch (const std::bad_alloc&) {
    status.set({TF_RESOURCE_EXHAUSTED, "there is no memory for a batch"});
  } catch (const std::exception& error) {
    status.set({TF_INTERNAL, error.what()});
  }
  fail(static_cast<TF_Status*>(status));
}

void* create(TF_OpKernelConstruction* node) {
  Kernel* made = nullptr;
  guarded([&] { made = new Kernel(Attributes(node)); },
          [&](TF_Status* status) { TF_OpKernelConstruction_Failure(node, status); });
  return made;
}

void compute(void* kernel, TF_OpKernelContext* context) {
  guarded([&] { static_cast<Kernel*>(kernel)->compute(context); },
          [&](TF_Status* status) { TF_OpKernelContext_Failure(context, status); });
}

void destroy(void* kernel) { delete static_cast<Kernel*>(kernel); }

void no_shapes(TF_ShapeInferenceContext* context, TF_Status* status) {
  TF_ShapeInferenceContextSetUnknownShape(context, status);
}

// It is not marked as stateful: data sets with such operators cannot be saved. An operator without inputs would be
// folded into a constant.
void define() {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(kName);
  for (const char* attribute :
       {"pipeline: string", "stride: int = 1", "input_names: list(string)", "input_layouts: list(string)",
        "ragged_inputs: list(bool)", "output_names: list(string)", "ragged_outputs: list(bool)", "Tin: list(type) >= 0",
        "Tout: list(type) >= 1"})
    TF_OpDefinitionBuilderAddAttr(op, attribute);
  TF_OpDefinitionBuilderAddInput(op, "position: int64");
  TF_OpDefinitionBuilderAddInput(op, "inputs: Tin");
  TF_OpDefinitionBuilderAddOutput(op, "more: bool");
  TF_OpDefinitionBuilderAddOutput(op, "outputs: Tout");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, no_shapes);
  const Status status;
  TF_RegisterOpDefinition(op, status);
  TF_RegisterKernelBuilder(kName, TF_NewKernelBuilder(kName, "CPU", create, compute, destroy), status);
}

const bool defined = (define(), true);

}  // namespace

}  // namespace penstock::tensorflow
