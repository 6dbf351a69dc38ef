// SPDX-License-Identifier: Apache-2.0
#include "exec/callback.h"

#include "operator/operator.h"

namespace penstock {
namespace {

template <class List, class Set> void each(const List& list, std::span<ValueType> out, bool repeat, Set&& set) {
  for (size_t i = 0; i < out.size() && (repeat || i < list.size()); ++i)
    set(out[i], list[std::min(i, list.size() - 1)]);
}

struct PythonFunctionNode : SourceOperator {
  std::string function;
  int64_t num_outputs = 1, num_workers = 1;
  bool batch_processing = false, processes = false;
  std::vector<std::string> output_layouts;
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    each(output_layouts, out, false,
         [](ValueType& t, const std::string& l) { t.layout = l, t.ndim = l.empty() ? -1 : t.layout.size(); });
  }
  static Schema<PythonFunctionNode> schema() {
    using Op = PythonFunctionNode;
    return Schema<Op>("python_function",
                      "Calls a function of the program with each sample, or with the whole batch.\n\nThe function "
                      "gets NumPy arrays that share the pipeline's memory and must not be changed; on a GPU, arrays "
                      "of CuPy or tensors of torch. It returns arrays of any kind that NumPy or DLPack supports; "
                      "samples may differ in shape, but not in type or number of dimensions. It runs in its own "
                      "thread: the pipeline's threads never wait for it, and it gets batches in their order. An "
                      "exception ends the batch with FunctionError.\n\nExample:\n@pipeline_def(batch_size=8)\ndef "
                      "pipe(folder):\n    jpegs, labels = fn.readers.file(file_root=folder)\n    images = "
                      "fn.decoders.image(jpegs)\n    return fn.python_function(images, function=lambda image: "
                      "image[::-1].copy()), labels")
        .inputs(0, 255)
        .required("function", &Op::function,
                  "The function: it takes as many arrays as there are inputs; with batch_processing=True, lists of "
                  "them.")
        .arg("num_outputs", &Op::num_outputs,
             "Number of outputs; for several, the function returns a tuple; for 0, nothing.", at_least(0))
        .arg("batch_processing", &Op::batch_processing,
             "One call for a batch, with lists of samples, instead of one for each sample.")
        .arg("output_layouts", &Op::output_layouts,
             "Layout of the outputs: a list for the first outputs, or text for the first one.")
        .arg("num_workers", &Op::num_workers,
             "Threads, or processes, that call the function at the same time: for samples of a batch, or with "
             "batch_processing=True for batches.",
             at_least(1))
        .arg("processes", &Op::processes,
             "Worker processes instead of threads, started as the pipeline's py_start_method says; samples are sent "
             "through pipes.");
  }
};
PENSTOCK_OPERATOR(PythonFunctionNode);

struct NumbaFunctionNode : SourceOperator {
  std::string run_fn, setup_fn;
  std::vector<int64_t> out_types, in_types, outs_ndim, ins_ndim, blocks, threads_per_block;
  bool batch_processing = false;
  int count_outputs() const override { return static_cast<int>(out_types.size()); }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    each(out_types, out, false, [](ValueType& t, int64_t d) { t.dtype = value_as<DType>(Value{d}); });
    each(outs_ndim, out, false, [](ValueType& t, int64_t n) { t.ndim = static_cast<int>(n); });
  }
  static Schema<NumbaFunctionNode> schema() {
    using Op = NumbaFunctionNode;
    return Schema<Op>(
               "numba_function",
               "Calls a function that Numba compiles.\n\n"
               "run_fn(*outputs, *inputs) fills the outputs. The pipeline's threads run it for several samples at "
               "once, without Python's lock.\n\n"
               "Example:\n"
               "def invert(result, image):\n"
               "    result[:] = 255 - image\n"
               "@pipeline_def(batch_size=8)\n"
               "def pipe(folder):\n"
               "    jpegs, labels = fn.readers.file(file_root=folder)\n"
               "    images = fn.decoders.image(jpegs)\n"
               "    return fn.numba_function(images, run_fn=invert, out_types=types.UINT8, in_types=types.UINT8,\n"
               "                             outs_ndim=3, ins_ndim=3), labels")
        .inputs(1, 6)
        .calls_compiled()
        .outputs(1)
        .required("run_fn", &Op::run_fn,
                  "The function: it gets the arrays of a sample, first those of the outputs; with "
                  "batch_processing=True, lists of them.")
        .required("out_types", &Op::out_types, "Types of the outputs.")
        .required("in_types", &Op::in_types, "Types of the inputs; checked.")
        .required("outs_ndim", &Op::outs_ndim, "Numbers of dimensions of the outputs.")
        .required("ins_ndim", &Op::ins_ndim, "Numbers of dimensions of the inputs; checked.")
        .arg("setup_fn", &Op::setup_fn,
             "setup_fn(outs, ins) sets the extents of all samples, once per batch: outs[output][sample][axis]. "
             "Without it, output k has the shapes of input k.")
        .arg("batch_processing", &Op::batch_processing, "One call for a batch instead of one for each sample.")
        .arg("blocks", &Op::blocks, "On a GPU: the grid, three numbers.")
        .arg("threads_per_block", &Op::threads_per_block, "On a GPU: threads of a block, three numbers.");
  }
};
PENSTOCK_OPERATOR(NumbaFunctionNode);

}  // namespace
}  // namespace penstock
